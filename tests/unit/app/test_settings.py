import os
from pathlib import Path

import pytest

from app import settings
from engine.preset.problems import PresetError

MINIMAL = """\
name = "trial"
scenario.name = "guess_average"
population.size = 10
model.backend = "dummy"
"""


@pytest.fixture
def preset(tmp_path: Path) -> Path:
    path = tmp_path / "p.toml"
    path.write_text(MINIMAL)
    return path


@pytest.fixture
def no_config(tmp_path: Path) -> Path:
    return tmp_path / "no" / "config.toml"


def problem_of(name: str, no_config: Path) -> str:
    with pytest.raises(PresetError) as caught:
        settings.load(name, (), environ={}, user_config=no_config)
    (problem,) = caught.value.problems
    return str(problem)


def test_command_line_over_environment_over_preset_over_user_config(preset: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("seed = 1\nengine.workers = 1\nanswers.retries = 1\njournal.max_text_chars = 101\n")
    preset.write_text("seed = 2\nengine.workers = 2\nanswers.retries = 2\n" + MINIMAL)
    environ = {"SIMTUI_SEED": "3", "SIMTUI_ENGINE__WORKERS": "3"}
    loaded = settings.load(str(preset), ["seed=4"], environ=environ, user_config=config)
    made = loaded.preset
    assert (made.seed, made.engine.workers, made.answers.retries) == (4, 3, 2)
    assert (made.journal.max_text_chars, made.engine.window) == (101, 250_000)
    origins = {path: origin.where for path, _, origin in loaded.settings()}
    assert origins["journal", "max_text_chars"] == f"{config}:4"
    assert origins["answers", "retries"] == f"{preset}:3"


def test_the_users_config_is_found(preset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.platformdirs, "user_config_path", lambda app: tmp_path / app)
    (tmp_path / "simtui").mkdir()
    (tmp_path / "simtui" / "config.toml").write_text("seed = 9")
    assert settings.load(str(preset), (), environ={}).preset.seed == 9


@pytest.mark.parametrize("name", [path.stem for path in settings.shipped()])
def test_shipped_presets_load_by_name(name: str, no_config: Path) -> None:
    assert settings.load(name, (), environ={}, user_config=no_config).preset.name == name


def test_a_directory_named_like_a_shipped_preset_is_no_hindrance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "guess_average").mkdir()
    monkeypatch.chdir(tmp_path)
    assert settings.find_preset("guess_average") in settings.shipped()
    (tmp_path / "guess_average_million").write_text(MINIMAL)
    assert settings.find_preset("guess_average_million") == Path("guess_average_million")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("guess_averge", "guess_average"),
        ("elsewhere/guess_averge.toml", "guess_average"),
        ("g", "g.toml"),
        ("my_gmae.toml", "my_game.toml"),
        ("folder/my_game", "folder/my_game.toml"),
    ],
)
def test_a_missing_preset_names_what_was_meant(
    name: str, meant: str, no_config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    for there in ("g.toml", "my_game.toml", "folder/my_game.toml"):
        (tmp_path / there).write_text(MINIMAL)
    monkeypatch.chdir(tmp_path)
    told = problem_of(name, no_config)
    assert told.startswith(f'there is no file "{name}"; did you mean "{meant}"? (allowed: a path, or a name')


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000, "\x1b[2J"])
def test_names_that_no_file_can_have(name: str, no_config: Path) -> None:
    told = problem_of(name, no_config)
    assert told.startswith('there is no file "')
    assert told.isprintable()


def test_what_is_no_file_is_refused(tmp_path: Path, no_config: Path) -> None:
    assert problem_of(str(tmp_path), no_config) == f"{tmp_path}: cannot be read: a directory"
    os.mkfifo(tmp_path / "pipe")
    told = problem_of(str(tmp_path / "pipe"), no_config)
    assert told == f"{tmp_path}/pipe: cannot be read: not a regular file"
    assert problem_of("/dev/zero", no_config) == "/dev/zero: cannot be read: not a regular file"


def test_a_dangling_link_is_refused(tmp_path: Path, no_config: Path) -> None:
    (tmp_path / "link.toml").symlink_to("nowhere")
    told = problem_of(str(tmp_path / "link.toml"), no_config)
    assert told.endswith("link.toml: cannot be read: No such file or directory")


def test_only_so_much_of_a_file_is_read(preset: Path, no_config: Path) -> None:
    with preset.open("ab") as file:
        file.truncate(1 << 34)
    assert problem_of(str(preset), no_config) == f"{preset}: larger than 1048576 bytes: not a preset"


def test_a_broken_user_config_is_told(preset: Path, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[engine\n")
    told = problem_of(str(preset), tmp_path / "config.toml")
    assert told.startswith(f"{tmp_path}/config.toml:1: not TOML: ")
