from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.models.settings import Dummy, LlamaCpp, Policy
from engine.preset.load import from_toml
from engine.preset.schema import Answers, Engine, Journal, Population, Preset, Slice
from engine.preset.variants import structs
from engine.preset.write import to_toml
from engine.scenarios.guess_average import GuessAverageSettings

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
DUMMIES = st.builds(
    Dummy,
    latency_s=st.floats(0, 1e9),
    temperature=st.floats(0, 5),
    stop=st.lists(TEXTS, max_size=3).map(tuple),
    timeout_s=st.none() | st.floats(1e-9, 1e9),
)
POLICIES = st.builds(
    Policy,
    policy=st.just("cognitive_hierarchy"),
    parameters=st.dictionaries(st.just("tau"), NUMBERS),
)
PRESETS = st.builds(
    Preset,
    name=TEXTS.filter(bool),
    description=TEXTS,
    seed=st.integers(0, 2**63 - 1),
    scenario=st.builds(
        GuessAverageSettings,
        offset=st.floats(-1e9, 1e9),
        high=st.floats(1, 1e9),
        player_numbers=st.booleans(),
    ),
    population=st.builds(Population, size=st.integers(1, 2**31)),
    model=DUMMIES | POLICIES | st.builds(LlamaCpp, path=TEXTS, sha256=st.none() | TEXTS),
    answers=st.builds(Answers, fallback=st.none() | TEXTS | NUMBERS),
    engine=st.builds(Engine, workers=st.none() | st.integers(1, 4096)),
    journal=st.builds(Journal, transcripts=st.sampled_from(["all", "none", "1 in 100"])),
)


@given(PRESETS)
@settings(max_examples=50)
def test_a_written_preset_loads_back_equal(preset: Preset) -> None:
    assert from_toml(to_toml(preset).encode(), "run/preset.toml") == preset


def test_what_is_not_set_is_left_out_in_lists_of_tables_too() -> None:
    part = Slice(name="half", share=0.5)
    preset = Preset(
        name="x",
        scenario=GuessAverageSettings(),
        population=Population(size=1),
        model=Dummy(),
        slices=(part,),
    )
    assert from_toml(to_toml(preset).encode(), "run/preset.toml") == preset


def test_defaults_are_written_out() -> None:
    preset = Preset(name="x", scenario=GuessAverageSettings(), population=Population(size=1), model=Dummy())
    text = to_toml(preset)
    assert '[engine]\nstart = "fork"\nwindow = 250000\n' in text
    assert "workers" not in text


@pytest.mark.parametrize("field", msgspec.structs.fields(Preset), ids=lambda field: field.name)
def test_not_set_is_always_the_default_of_what_can_be_not_set(field: Any) -> None:
    """TOML has no null: a setting that can be None must get there by being left out."""
    for struct in structs(field.type):
        for setting in msgspec.structs.fields(struct):
            if type(None) in getattr(setting.type, "__args__", ()):
                assert setting.default is None
