from typing import Any

import msgspec

from tests.fakes.presets import GOOD, with_line


def test_a_good_preset_has_no_problems(told: Any) -> None:
    assert told(GOOD) == []


def test_defaults_fill_what_is_not_given(load_text: Any) -> None:
    preset = load_text(GOOD).preset
    assert (preset.seed, preset.answers.retries, preset.model.latency_s) == (1, 2, 1.0)


def test_stronger_layers_win(load_text: Any) -> None:
    config = (
        "seed = 1\n[engine]\nworkers = 1\nwindow = 1\n[answers]\nretries = 1\n[journal]\nmax_text_chars = 101"
    )
    text = "seed = 2\n" + GOOD + "[engine]\nworkers = 2\nwindow = 2\n[answers]\nretries = 2\n"
    environ = {"SIMTUI_ENGINE__WORKERS": "3", "SIMTUI_ENGINE__WINDOW": "3"}
    loaded = load_text(text, "engine.workers=4", environ=environ, config=config)
    preset = loaded.preset
    given = (
        preset.engine.workers,
        preset.engine.window,
        preset.answers.retries,
        preset.journal.max_text_chars,
    )
    assert given == (4, 3, 2, 101)
    origins = {".".join(path): (origin.layer, origin.where) for path, _, origin in loaded.settings()}
    assert origins["engine.workers"] == ("command line", "--set engine.workers")
    assert origins["engine.window"] == ("environment", "SIMTUI_ENGINE__WINDOW")
    assert origins["answers.retries"] == ("preset", "p.toml:13")
    assert origins["journal.max_text_chars"] == ("user config", "config.toml:8")
    assert origins["engine.start"] == ("default", "")
    assert origins["name"] == ("preset", "p.toml:2")


def test_the_user_config_is_checked_too(told: Any) -> None:
    (line,) = told(GOOD, config="[engine]\nworkrs = 2")
    assert line.startswith("config.toml:2: engine.workrs: unknown key; did you mean engine.workers?")


def test_a_stronger_layer_can_name_another_backend(load_text: Any) -> None:
    text = GOOD.replace('"dummy"', '"llama_cpp"\npath = "x.gguf"\nmax_tokens = 7')
    loaded = load_text(text, "model.backend=dummy")
    assert loaded.set_aside == ["model.path (p.toml:8)"]
    assert (type(loaded.preset.model).__name__, loaded.preset.model.max_tokens) == ("Dummy", 7)


def test_only_what_the_weaker_backend_knew_is_set_aside(told: Any) -> None:
    text = GOOD.replace('"dummy"', '"llama_cpp"\npth = "x.gguf"')
    (line,) = told(text, "model.backend=dummy")
    assert line.startswith("p.toml:8: model.pth: unknown key")


def test_a_setting_is_replaced_whole_but_can_be_reached_into(load_text: Any) -> None:
    text = with_line("scenario", "weights = { a = 1, b = 2 }")
    assert load_text(text, "scenario.weights={c=3}").preset.scenario.weights == {"c": 3.0}
    loaded = load_text(text, "scenario.weights.a=3")
    assert loaded.preset.scenario.weights == {"a": 3.0, "b": 2.0}
    origins = {path: str(origin) for path, _, origin in loaded.settings()}
    assert origins["scenario", "weights", "a"] == "--set scenario.weights.a"
    assert origins["scenario", "weights", "b"] == "p.toml:3"


def test_a_loaded_preset_is_what_msgspec_makes_of_the_text(load_text: Any) -> None:
    text = with_line("scenario", "shares = [0.5, 1]")
    scenario = load_text(text).preset.scenario
    assert scenario == msgspec.convert({"name": "game", "shares": [0.5, 1.0]}, type(scenario))
