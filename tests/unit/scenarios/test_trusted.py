"""Scenarios in files of the user's own: what is executed, what can be named then, and what is refused."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.main import cli
from engine.errors import UsageError
from engine.preset.load import from_toml
from engine.preset.problems import PresetError
from engine.scenarios import registry, trusted


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """Let no other test know the scenarios of this one."""
    yield
    for name in [name for name in sys.modules if name.startswith(trusted.PREFIX)]:
        del sys.modules[name]


CODE = """
from simtui import Scenario, ScenarioSettings

class {name}Settings(ScenarioSettings, frozen=True, kw_only=True, tag="{tag}"):
    \"\"\"Mine.\"\"\"
    width: int = 3

class {name}(Scenario):
    Settings = {name}Settings
"""


def write(folder: Path, tag: str, more: str = "") -> Path:
    path = folder / f"{tag}.py"
    path.write_text(CODE.format(name=tag.capitalize(), tag=tag) + more, encoding="utf-8")
    return path


def test_a_trusted_file_is_executed_once_and_its_scenario_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, "mine", f"open({str(tmp_path / 'log')!r}, 'a').write('x')\n")
    trusted.load(path)
    trusted.load(path)
    assert (tmp_path / "log").read_text() == "x"
    assert registry.find("mine").__name__ == "Mine"
    assert "mine" in registry.names()
    assert len(trusted.digest("mine") or "") == 64
    assert trusted.digest("guess_average") is None


def test_a_file_cannot_replace_a_built_in_scenario(tmp_path: Path) -> None:
    trusted.load(write(tmp_path, "trust"))
    assert registry.find("trust").__module__ == "engine.scenarios.trust"


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("a.py", "x = 1", "there is no scenario in this file"),
        ("a.py", "import nowhere", "ModuleNotFoundError"),
        ("a.py", "x = 1\nraise SystemExit(3)", "a.py:2"),
        ("a.py", "def f(:", "SyntaxError"),
        ("a.py", "\0", "cannot be executed"),
        ("a.txt", "x = 1", "ends in .py"),
        (trusted.PREFIX + "0" * trusted.DIGITS + ".py", "x = 1", "has been changed"),
    ],
)
def test_a_file_that_is_of_no_use_says_why(tmp_path: Path, file: str, content: str, told: str) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")
    before = set(sys.modules)
    with pytest.raises(UsageError) as caught:
        trusted.load(tmp_path / file)
    assert told in str(caught.value)
    assert {name for name in set(sys.modules) - before if name.startswith(trusted.PREFIX)} == set()


@pytest.mark.parametrize("name", ["none.py", "."])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        trusted.load(tmp_path / name)


def test_what_is_kept_with_a_run_is_what_was_trusted(tmp_path: Path) -> None:
    path = write(tmp_path, "kept")
    trusted.load(path)
    run = tmp_path / "run"
    run.mkdir()
    copy = next(file for file in trusted.keep(run) if "kept" in file.read_text())
    assert copy.read_bytes() == path.read_bytes()
    assert copy.stem.startswith(trusted.PREFIX)


PRESET = """
name = "p"
[scenario]
name = "{name}"
file = "{name}.py"
width = 4
[population]
size = 3
[model]
backend = "dummy"
"""


def test_a_preset_does_not_execute_what_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "named", "raise RuntimeError('executed')\n")
    with pytest.raises(PresetError) as caught:
        from_toml(PRESET.format(name="named").encode(), "p.toml")
    assert "scenario.file" in str(caught.value)
    assert "--trust FILE" in str(caught.value)


def test_a_preset_uses_what_is_trusted(tmp_path: Path) -> None:
    trusted.load(write(tmp_path, "known"))
    assert from_toml(PRESET.format(name="known").encode(), "p.toml").scenario.width == 4  # type: ignore[attr-defined]


# simtui new scenario


def test_a_new_scenario_passes_its_own_test(tmp_path: Path) -> None:
    assert CliRunner().invoke(cli, ["new", "scenario", "my_game", "--into", str(tmp_path)]).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "my_game.py",
        "my_game.toml",
        "test_my_game.py",
    ]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_game.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout


@pytest.mark.parametrize(
    "name", ["Game", "my-game", "../game", "class", "2048", "", "guess_average", "a" * 41]
)
def test_other_names_are_refused(tmp_path: Path, name: str) -> None:
    result = CliRunner().invoke(cli, ["new", "scenario", name, "--into", str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "test_game.py").write_text("mine")
    result = CliRunner().invoke(cli, ["new", "scenario", "game", "--into", str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert [path.name for path in tmp_path.iterdir()] == ["test_game.py"]
