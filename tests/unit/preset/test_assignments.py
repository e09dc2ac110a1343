from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.preset.assignments import command_line, environment, value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4),
        (" 0.5 ", 0.5),
        ("true", True),
        ("[1, 2]", [1, 2]),
        ("{ a = 1 }", {"a": 1}),
        ('"4"', "4"),
        ("dummy", "dummy"),
        ("1 in 10", "1 in 10"),
        ("2/3", "2/3"),
        ("", ""),
        ("1\nseed = 2", "1\nseed = 2"),
        ("C:\\models\\x.gguf", "C:\\models\\x.gguf"),
    ],
)
def test_values_are_toml_or_bare_text(text: str, value: Any) -> None:
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("seed", "--set seed: no equals sign"),
        ("=4", '--set "=4": not a key of the preset'),
        ("a..b=4", '--set "a..b=4": not a key of the preset'),
        ("a b=4", '--set "a b=4": not a key of the preset'),
        ("." * 99 + "=4", "not a key of the preset"),
        ("a." * 40 + "a=4", "not a key of the preset"),
        ('name="x', "--set name: not a TOML value: Unterminated string, at the end"),
        ("stop=[1,", "--set stop: not a TOML value: Invalid value, at the end"),
        (
            "stop=" + "[" * 5000,
            "--set stop: not a TOML value: more than 32 tables or lists inside one another",
        ),
        ("name=\udcff", "--set name: not UTF-8 text"),
        ("\x1b[2J=1", r'--set "\u001b[2J=1": not a key of the preset'),
    ],
)
def test_a_bad_option_names_itself(option: str, expected: str) -> None:
    layer = command_line([option])
    (problem,) = layer.problems
    assert expected in str(problem)
    assert str(problem).endswith("(allowed: KEY=VALUE, for example engine.workers=4)")
    assert layer.settings == ()


def test_a_bad_option_does_not_tell_its_value() -> None:
    (problem,) = command_line(['model.api_key="hush']).problems
    assert "hush" not in str(problem)


def test_options_become_settings_in_order() -> None:
    layer = command_line(["seed=1", "engine={workers = 2}", "seed=2"])
    assert [(s.path, s.value, s.where) for s in layer.settings] == [
        (("seed",), 1, "--set seed"),
        (("engine",), {}, "--set engine"),
        (("engine", "workers"), 2, "--set engine"),
        (("seed",), 2, "--set seed"),
    ]


def test_variables_become_settings() -> None:
    environ = {
        "SIMTUI_ENGINE__WORKERS": "4",
        "SIMTUI_NAME": "x",
        "SIMTUI_SEED": "",
        "HOME": "/",
        "simtui_a": "1",
    }
    assert [(s.path, s.value, s.where) for s in environment(environ).settings] == [
        (("engine", "workers"), 4, "SIMTUI_ENGINE__WORKERS"),
        (("name",), "x", "SIMTUI_NAME"),
    ]


def test_a_bad_variable_names_itself() -> None:
    (problem,) = environment({"SIMTUI_ENGINE__": "4"}).problems
    told = str(problem)
    assert told.startswith(
        "SIMTUI_ENGINE__: not a key of the preset (allowed: a variable such as SIMTUI_SEED=7"
    )


@given(st.text())
def test_any_option_is_read_or_refused(text: str) -> None:
    layer = command_line([text])
    assert bool(layer.settings) != bool(layer.problems)
