"""The run display on a real terminal device, read back as a screen."""

import os
import signal
import sys
from pathlib import Path

import pexpect
import pyte
import pytest

ROOT = Path(__file__).parents[3]

CHILD = """
import os, signal, sys
from pathlib import Path
from app.run_cli import Options, run
from tests.fakes.client import *

asked, woken = os.pipe()
os.set_blocking(woken, False)
signal.set_wakeup_fd(woken)  # gets a byte a signal, also of one that came before anybody waits

def until_asked(client):
    os.read(asked, 1)

def say(word):
    return lambda client: print(word, file=sys.stderr)

SCRIPTS = {
    "done": [snapshot(n_done=10), snapshot(n_done=99), round_report(2), DONE],
    "stop": [snapshot(n_done=10), until_asked, snapshot(state="stopping")],
    "kill": [snapshot(n_done=10), say("waiting"), until_asked, say("heard"), until_asked],
}
code = run(Options("guess_average", out=sys.argv[2]), FakeClient(SCRIPTS[sys.argv[1]]).start)
Path(sys.argv[2], "code").write_text(str(code))
sys.exit(code)
"""


def start(script: str, directory: Path, columns: int = 80, **environment: str) -> pexpect.spawn:
    variables = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), **environment}
    for name in ("NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR"):
        variables.pop(name, None)
    return pexpect.spawn(
        sys.executable,
        ["-c", CHILD, script, str(directory)],
        env={**variables, **environment},
        dimensions=(40, columns),
        timeout=60,
        # Under nohup this process ignores it, and so would the child, rightly.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )


def rest(child: pexpect.spawn) -> bytes:
    child.expect(pexpect.EOF)
    child.close()
    return bytes(child.before)


def screen(raw: bytes, columns: int = 80) -> list[str]:
    terminal = pyte.Screen(columns, 40)
    pyte.ByteStream(terminal).feed(raw)
    assert not terminal.cursor.hidden
    return [line.rstrip() for line in terminal.display]


@pytest.mark.parametrize("columns", [60, 80, 132])
def test_rows_stay_and_the_live_line_does_not(tmp_path: Path, columns: int) -> None:
    child = start("done", tmp_path / "run", columns)
    shown = "\n".join(screen(rest(child), columns))
    assert child.exitstatus == 0
    assert shown.startswith("round 2/3  answered 98")
    assert "99/100" not in shown
    assert "█" in shown


def test_the_first_ctrl_c_stops_the_run(tmp_path: Path) -> None:
    child = start("stop", tmp_path / "run")
    child.expect_exact("10/100")
    child.sendintr()
    shown = screen(rest(child))
    assert child.exitstatus == 130
    assert "interrupted; everything up to here is saved" in shown


def test_the_second_ctrl_c_kills_it(tmp_path: Path) -> None:
    child = start("kill", tmp_path / "run")
    child.expect_exact("waiting")
    child.sendintr()
    child.expect_exact("heard")
    child.sendintr()
    rest(child)
    assert child.exitstatus == 130


def test_a_terminal_that_goes_away_stops_the_run_and_spoils_nothing(tmp_path: Path) -> None:
    child = start("stop", tmp_path / "run")
    child.expect_exact("10/100")
    child.ptyproc.fileobj.close()  # not the descriptor alone, which would be closed once more
    child.wait()
    assert child.exitstatus == 130
    assert (tmp_path / "run" / "code").read_text() == "130"


def test_a_dumb_terminal_gets_plain_lines(tmp_path: Path) -> None:
    raw = rest(start("done", tmp_path / "run", TERM="dumb"))
    assert b"answered 98" in raw
    assert b"\x1b" not in raw


def test_no_color_leaves_no_colours(tmp_path: Path) -> None:
    assert b"\x1b[3" not in rest(start("done", tmp_path / "run", NO_COLOR="1"))


def test_a_terminal_without_blocks_gets_ascii(tmp_path: Path) -> None:
    assert rest(start("done", tmp_path / "run", PYTHONIOENCODING="ascii")).isascii()
