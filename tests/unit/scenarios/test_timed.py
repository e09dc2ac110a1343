"""Who acts by the hour: as often as the patterns say, the same on any worker, checked before a run."""

from types import SimpleNamespace

import numpy as np
import pytest

from engine.environments.clock import Clock
from engine.preset.load import PresetError, from_toml
from engine.scenarios.scenario import Scenario
from engine.scenarios.timed import PATTERNS, Activity, Part, TimedScenario, TimedSettings

N = 20_000
TENTHS = tuple(hour / 24 for hour in range(24))


class Settings(TimedSettings, frozen=True, kw_only=True, tag="timed"):
    """Nothing more."""


def scenario(activity: Activity, *, start: str = "00:00", seed: int = 1) -> Scenario:
    return TimedScenario(Settings(activity=activity, clock=Clock(start=start)), N, seed)


def acting(game: Scenario, round_: int, members: range = range(N)) -> np.ndarray:
    found = game.acts(round_, members, None)
    assert found is not None
    return found


@pytest.mark.parametrize("hour", [0, 6, 23])
def test_as_many_act_as_the_hour_says(hour: int) -> None:
    shares = [acting(scenario(Activity(pattern=TENTHS), seed=seed), hour + 1).mean() for seed in (1, 2)]
    assert shares == pytest.approx([hour / 24] * 2, abs=4 * (0.25 / N) ** 0.5)
    assert acting(scenario(Activity(pattern=TENTHS), start="06:00"), 25).mean() == pytest.approx(
        0.25, abs=0.02
    )


def test_who_acts_does_not_depend_on_who_is_asked_about() -> None:
    game = scenario(Activity(pattern="online"))
    parts = [acting(game, 9, range(start, start + 4000)) for start in range(0, N, 4000)]
    assert (np.concatenate(parts) == acting(game, 9)).all()


def test_rounds_and_seeds_draw_anew() -> None:
    game, other = (scenario(Activity(pattern=(0.5,) * 24), seed=seed) for seed in (1, 2))
    first = acting(game, 1)
    assert np.mean(first == acting(game, 2)) == pytest.approx(0.5, abs=0.02)
    assert np.mean(first == acting(other, 1)) == pytest.approx(0.5, abs=0.02)


def test_always_is_everybody() -> None:
    assert scenario(Activity()).acts(1, range(N), None) is None


def test_parts_of_the_people_have_patterns_of_their_own() -> None:
    ages = np.arange(N) % 100
    parts = (Part(where="old", pattern="day"), Part(where="very old", pattern="always"))
    game = scenario(Activity(pattern="night", parts=parts), start="12:00")
    fitting = {"old": ages >= 60, "very old": ages >= 90}
    game.people = SimpleNamespace(fitting=lambda where, *path: fitting[where])  # type: ignore[assignment]
    assert (acting(game, 1) == (ages >= 60)).all()
    assert (acting(game, 13) == (ages < 60)).all()


def test_patterns_are_days() -> None:
    assert {len(pattern) for pattern in PATTERNS.values()} == {24}
    assert int(np.argmax(PATTERNS["online"])) == 20
    assert int(np.argmin(PATTERNS["online"])) == 4


PRESET = """
name = "feed"
[scenario]
name = "social_feed"
[scenario.activity]
pattern = "online"
[[scenario.activity.parts]]
where = "{where}"
pattern = "night"
[population]
size = 10
[population.attributes.age]
from = "distribution"
distribution = "randint"
parameters = {{ low = 18, high = 90 }}
[model]
backend = "dummy"
[[slices]]
name = "half"
share = 0.5
scenario = {{ {change} }}
"""


@pytest.mark.parametrize(
    ("where", "change", "what"),
    [
        ("agee > 3", "", "agee"),
        ("age >", "", "preset.toml:8: scenario.activity.parts.1.where: not an expression"),
        ("age > 30", 'clock = { start = "09:00" }', "clock is the same for all slices"),
    ],
)
def test_what_is_wrong_is_told_before_the_run(where: str, change: str, what: str) -> None:
    with pytest.raises(PresetError) as caught:
        from_toml(PRESET.format(where=where, change=change).encode(), "preset.toml")
    assert what in str(caught.value)


def test_what_is_right_passes() -> None:
    preset = from_toml(PRESET.format(where="age > 30", change="").encode(), "preset.toml")
    assert isinstance(preset.scenario, TimedSettings)
    assert preset.scenario.activity.parts[0].pattern == "night"
