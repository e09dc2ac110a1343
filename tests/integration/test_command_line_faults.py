"""`simtui --run` on a real terminal that is interrupted, closed or killed in the middle of a real run."""

import json
import os
import signal
import sys
from pathlib import Path

import pexpect
import psutil
import pytest

from engine.journal.listing import look_at
from engine.journal.run_directory import RunDirectory
from engine.preset.write import to_toml
from tests.fakes.runs import trial
from tests.fakes.waiting import wait_until

pytestmark = pytest.mark.usefixtures("trial_scenario")

MAIN = "from app.main import main; main()"


class Terminal:
    """The command line in a terminal, in the second round of a run that stands still there."""

    def __init__(self, tmp_path: Path, *options: str) -> None:
        preset = tmp_path / "preset.toml"
        preset.write_text(to_toml(trial(8, 2, act="holds", when=2, rounds=3)))
        self.directory = tmp_path / "run"
        sockets = tmp_path / "sockets"
        sockets.mkdir()
        self.sockets = sockets
        self.child = pexpect.spawn(
            sys.executable,
            ["-c", MAIN, "--run", str(preset), "--out", str(self.directory), *options],
            env={**os.environ, "TERM": "xterm-256color", "XDG_RUNTIME_DIR": str(sockets)},
            dimensions=(40, 100),
            timeout=60,
        )
        self.child.expect_exact("round 2/3")
        process = psutil.Process(self.child.pid)
        self.processes = [process, *process.children(recursive=True)]
        assert len(self.processes) >= 5

    def exit_code(self) -> int:
        """Wait for the end of the command and return its exit code."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        assert self.child.exitstatus is not None
        return self.child.exitstatus

    def check_that_nothing_is_left(self, state: str) -> None:
        """All processes and the folder of sockets are gone, and the files are in order."""
        wait_until(lambda: not any(map(_alive, self.processes)), "all processes have ended")
        wait_until(lambda: not list(self.sockets.iterdir()), "the folder of sockets is gone")
        assert json.loads((self.directory / "manifest.json").read_text())["state"] == state


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_ctrl_c(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.child.sendintr()
    assert terminal.exit_code() == 130
    terminal.check_that_nothing_is_left("interrupted")


def test_ctrl_c_again_and_again_on_a_run_that_hangs(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    [coordinator] = psutil.Process(terminal.child.pid).children()
    coordinator.suspend()

    def has_ended() -> bool:
        terminal.child.sendintr()
        return not _alive(coordinator)

    wait_until(has_ended, "the coordinator is killed")
    assert terminal.exit_code() == 130
    terminal.check_that_nothing_is_left("interrupted")
    glance = look_at(RunDirectory(terminal.directory))
    assert (glance.state, glance.resumable) == ("interrupted", True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals(number: signal.Signals, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.child.kill(number)
    assert terminal.exit_code() == 130
    terminal.check_that_nothing_is_left("interrupted")


def test_a_terminal_that_is_closed(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.child.ptyproc.fileobj.close()
    terminal.child.wait()
    assert terminal.child.exitstatus == 130
    terminal.check_that_nothing_is_left("interrupted")


def test_a_command_that_is_killed(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.child.kill(signal.SIGKILL)
    terminal.child.expect(pexpect.EOF)
    terminal.child.close()
    terminal.check_that_nothing_is_left("interrupted")


def test_a_coordinator_that_is_killed(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    [coordinator] = psutil.Process(terminal.child.pid).children()
    coordinator.kill()
    terminal.child.expect_exact("the coordinator was killed by SIGKILL")
    assert terminal.exit_code() == 1
    terminal.check_that_nothing_is_left("running")
