import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from app.narrator import Verbosity
from app.run_cli import Options, run
from engine.cluster.control import Finished, Notice
from engine.errors import ModelError
from engine.journal.lock import Lock
from tests.fakes.client import DONE, FakeClient, Step, round_report, snapshot
from tests.fakes.run_directories import make_run

PRESET = """
name = "tiny"
[scenario]
name = "guess_average"
[population]
size = 4
[model]
backend = "dummy"
"""


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    Path("tiny.toml").write_text(PRESET)


def play(*steps: Step, client: FakeClient | None = None, **options: object) -> tuple[int, FakeClient]:
    client = client or FakeClient(steps)
    given = {"preset": "tiny.toml", "out": "run", **options}
    return run(Options(**given), client.start), client  # type: ignore[arg-type]


def raising(*signals: signal.Signals) -> Callable[[FakeClient], None]:
    def step(_client: FakeClient) -> None:
        for signum in signals:
            signal.raise_signal(signum)

    return step


def test_a_run_ends_with_its_report_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    failures = snapshot(failures={"unparsable": 2})
    code, client = play(snapshot(), round_report(1), round_report(2), failures, DONE)
    assert code == 0
    assert client.directory == Path("run").absolute()
    out, err = capsys.readouterr()
    assert "winners" in out
    assert "Failures: 2 unparsable" in out
    assert out.rstrip().endswith("/run/run.db")
    assert err.count("round 1/3  answered 98") == 1


def test_json_is_one_object_on_stdout_and_the_rest_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    code, client = play(snapshot(), round_report(), DONE, json=True)
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert (code, told["state"], len(told["rounds"]), told["name"]) == (0, "done", 1, "tiny")
    assert told["run_file"] == str(client.directory / "run.db")
    assert told["run_directory"] == str(client.directory)
    assert "Rounds" in err


def test_settings_of_the_command_line_reach_the_run() -> None:
    seen = []
    client = FakeClient([DONE])

    def start(preset: object, toml: str, directory: Path) -> FakeClient:
        seen.append((preset, toml))
        return client

    run(Options("tiny.toml", ("population.size=7", "seed=9"), "run"), start)  # type: ignore[arg-type]
    preset, toml = seen[0]
    assert (preset.population.size, preset.seed) == (7, 9)
    assert "size = 7" in toml


def test_a_failed_run_says_why_after_what_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = play(round_report(), Finished("failed", 1, "worker 2 ended", "worker 2", "look at the log"))
    out, err = capsys.readouterr()
    assert code == 1
    assert "winners" in out
    assert err.endswith("error: worker 2: worker 2 ended\n  look at the log\n")


@pytest.mark.parametrize("as_json", [False, True])
def test_a_bad_preset_starts_nothing(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    code, client = play(DONE, preset="none.toml", json=as_json)
    out, err = capsys.readouterr()
    assert code == 2
    assert client.directory == Path("unset")
    assert "none.toml" in err
    assert (json.loads(out)["exit_code"] == 2) if as_json else out == ""
    assert not Path("run").exists()


def test_an_error_at_the_start_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    def start(*_: object) -> FakeClient:
        raise ModelError("no such file", where="model.gguf", hint="mend model.path")

    assert run(Options("tiny.toml", out="run"), start) == 1
    assert capsys.readouterr().err == "error: model.gguf: no such file\n  mend model.path\n"


def test_two_runs_never_share_a_directory(capsys: pytest.CaptureFixture[str]) -> None:
    play(DONE)
    code, client = play(DONE)
    assert (code, client.directory) == (2, Path("unset"))
    assert "--out" in capsys.readouterr().err


@pytest.mark.parametrize("written", ['"tiny.toml/x"', '"nul\\u0000"', f'"{"x" * 300}"'])
def test_a_directory_that_cannot_be_is_wrong_usage(capsys: pytest.CaptureFixture[str], written: str) -> None:
    for options in ({"out": json.loads(written)}, {"out": None, "sets": (f"journal.directory={written}",)}):
        code, client = play(DONE, **options)
        assert (code, client.directory) == (2, Path("unset"))
        assert "cannot make a run directory" in capsys.readouterr().err


def test_without_out_a_run_goes_where_the_preset_says() -> None:
    for _ in range(2):
        play(DONE, out=None, sets=("journal.directory=runs",))
    assert len(list(Path("runs").absolute().glob("tiny-*"))) == 2


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_asks_the_run_to_stop_and_waits_for_it(
    capsys: pytest.CaptureFixture[str], signum: signal.Signals
) -> None:
    client = FakeClient(
        [raising(signum), snapshot(), pytest.fail],
        on_stop=[snapshot(state="stopping"), round_report(), Finished("interrupted", 130, signum.name)],
    )
    code, _ = play(client=client)
    assert (code, client.stopped, client.killed) == (130, [signum.name], False)
    out, err = capsys.readouterr()
    assert "winners" in out
    assert "Ctrl-C ends the run at once" in err
    assert "interrupted; everything up to here is saved\ngo on with: simtui --resume " in err


def test_a_second_ctrl_c_kills_a_run_that_does_not_stop(capsys: pytest.CaptureFixture[str]) -> None:
    code, client = play(snapshot(), raising(signal.SIGINT, signal.SIGINT), json=True)
    assert (code, client.killed) == (130, True)
    out, err = capsys.readouterr()
    assert json.loads(out)["state"] == "interrupted"
    assert "ended at once; what was written by then is saved\ngo on with: simtui --resume " in err


def test_a_run_that_is_killed_before_it_began_promises_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = play(snapshot(round=0), raising(signal.SIGINT, signal.SIGINT))
    assert code == 130
    err = capsys.readouterr().err
    assert "interrupted before any agent acted" in err
    assert "saved" not in err
    assert "--resume" not in err


def test_a_run_that_another_process_runs_is_not_offered_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped = make_run(tmp_path / "stopped", state="interrupted")
    lock = Lock(stopped.lock)
    assert run(Options(str(stopped.path), resume=True)) == 2
    lock.release()
    err = capsys.readouterr().err
    assert "is running this run" in err
    assert "go on with" not in err


def test_a_run_that_vanishes_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = play(snapshot())
    assert code == 1
    assert "without saying why" in capsys.readouterr().err


def test_quiet_says_nothing_while_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    play(snapshot(), round_report(), Notice("info", "loading"), DONE, verbosity=Verbosity.QUIET)
    out, err = capsys.readouterr()
    assert err == ""
    assert "winners" in out


def test_hostile_text_of_a_run_reaches_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    evil = "[/oops]\x1b]0;title\x07\u202e"
    play(
        snapshot(state=evil, eta_basis=evil, failures={evil: 1}),
        Notice("warning", evil),
        Finished("failed", 1, evil, evil, evil),
    )
    shown = "".join(capsys.readouterr())
    assert "[/oops]" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
