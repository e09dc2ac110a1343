import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import main, settings
from app.run_cli import Options


def simtui(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["simtui", *arguments])
    with pytest.raises(SystemExit) as exited:
        main.main()
    return int(exited.value.code or 0)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Options]:
    seen: list[Options] = []

    def run(options: Options) -> int:
        seen.append(options)
        return 3

    monkeypatch.setattr("app.run_cli.run", run)
    return seen


def test_run_takes_its_options_and_gives_its_exit_code(
    ran: list[Options], monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = ["--set", "a.b=1", "--set", "c=2", "--seed", "0", "--out", "d"]
    arguments = ["--run", "x.toml", *changes, "--json", "-v", "--no-color"]
    assert simtui(arguments, monkeypatch) == 3
    assert ran == [Options("x.toml", ("a.b=1", "c=2", "seed=0"), "d", json=True, verbosity=2, no_color=True)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--json"], "belong to --run"),
        (["--seed", "0", "check", "x"], "belong to --run"),
        (["--run", "x", "presets"], "exclude each other"),
        (["--run", "x", "-q", "-v"], "exclude each other"),
        (["--run", "x", "--seed", "-1"], "--seed"),
        (["--runn", "x"], "--run"),
        (["chek"], "chek"),
        (["\x1b[2J"], r"\x1b[2J"),
    ],
)
def test_wrong_usage_starts_nothing(
    ran: list[Options],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    assert simtui(arguments, monkeypatch) == 2
    out, err = capsys.readouterr()
    assert (out, ran) == ("", [])
    assert said in err
    assert "\x1b" not in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["resume", "X"], "simtui --resume X"),
        (["run", "x.toml", "--set", "a=b"], "simtui --run x.toml"),
        (["run"], "simtui --run PRESET"),
        (["run", "--set", "a=b", "x.toml"], "simtui --run PRESET"),
        (["guess_average"], "simtui --run guess_average"),
        (["my game.toml", "--json"], "simtui --run 'my game.toml'"),
        (["help"], "simtui --help"),
        (["version"], "simtui --version"),
        (["chek"], "did you mean check?"),
        (["comapre", "a", "b"], "did you mean compare?"),
        (["scenario"], "did you mean scenarios?"),
        (["Runs"], "did you mean runs?"),
        (["list"], "simtui --help"),
        (["--run", "x", "--rounds", "3"], "--set scenario.rounds=..."),
        (["--run", "x", "--size=3"], "--set population.size=..."),
        (["check", "x", "--temperature", "1"], "--set model.temperature=..."),
        (["presets", "--size=3"], "No such option '--size'"),
        (["--sed", "3"], "--seed"),
    ],
)
def test_what_is_nearly_right_is_told_how_it_is_written(
    ran: list[Options],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    assert simtui(arguments, monkeypatch) == 2
    out, err = capsys.readouterr()
    assert (out, ran) == ("", [])
    assert said in err.splitlines()[-1]


def test_without_arguments_the_help_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simtui([], monkeypatch) == 0
    assert capsys.readouterr().out.startswith("Usage: simtui")


def test_the_shipped_presets_are_listed_with_their_descriptions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simtui(["presets"], monkeypatch) == 0
    shown = capsys.readouterr().out
    assert all(path.stem in shown for path in settings.shipped())
    assert "a million dummy players" in " ".join(shown.split())


def test_scenarios_are_listed_with_settings_and_policies(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simtui(["scenarios"], monkeypatch) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "guess_average: " in shown
    assert "rounds = 5 Number of rounds. Allowed: a whole number of at least 1" in shown
    assert "level_k" in shown
    assert '[clock] When rounds happen. clock.start = "08:00" When the first round begins.' in shown
    assert "[[activity.parts]] Patterns of some of the people" in shown


def test_an_unforeseen_error_is_one_line_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(settings, "shipped", lambda: 1 / 0)
    assert simtui(["presets"], monkeypatch) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "ZeroDivisionError" in err
    assert str(tmp_path) in err


def test_ctrl_c_outside_a_run_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(settings, "shipped", interrupted)
    assert simtui(["presets"], monkeypatch) == 130


@pytest.mark.parametrize("arguments", [["schema"], ["--run", "none.toml", "--json"]])
def test_a_reader_that_went_away_is_no_error(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", "from app.main import main; main()", *arguments]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr
    assert done.returncode in (1, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--trust", "mine.py", "check", "x.toml"],
        ["check", "x.toml", "--trust", "mine.py"],
        ["check", "--trust=mine.py", "x.toml"],
    ],
)
def test_a_file_is_trusted_wherever_the_command_line_says_so(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted: list[Path] = []
    monkeypatch.setattr("engine.scenarios.trusted.load", trusted.append)
    assert simtui(arguments, monkeypatch) == 2, "there is no x.toml"
    assert trusted == [Path("mine.py").absolute()]


def test_trust_without_a_file_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simtui(["check", "x.toml", "--trust"], monkeypatch) == 2
    assert "--trust" in capsys.readouterr().err


def test_the_module_is_the_command_too() -> None:
    command = [sys.executable, "-m", "app.main", "check", "no-such.toml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no-such.toml" in done.stderr
