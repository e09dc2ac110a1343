"""Scenarios with a clock: by the hour, people act more or less often, and not all alike."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from engine.draws import mix, uniforms
from engine.environments.clock import Clock
from engine.scenarios.scenario import Scenario, ScenarioSettings

_STREAM = 0xAC71
"""Tells these draws from others of the run's seed."""

Hours = Annotated[tuple[Annotated[float, Meta(ge=0, le=1)], ...], Meta(min_length=24, max_length=24)]
Pattern = Literal["always", "day", "night", "online"] | Hours

PATTERNS: dict[str, tuple[float, ...]] = {
    "always": (1.0,) * 24,
    "day": (0.0,) * 7 + (1.0,) * 16 + (0.0,),
    "night": (1.0,) * 7 + (0.0,) * 16 + (1.0,),
    # ours: rough, with the least at 4 and the most at 20 o'clock
    "online": (
        *(0.30, 0.18, 0.10, 0.06, 0.05, 0.06, 0.12, 0.25, 0.38, 0.42, 0.43, 0.45),
        *(0.50, 0.48, 0.45, 0.44, 0.45, 0.48, 0.52, 0.58, 0.62, 0.60, 0.52, 0.42),
    ),
}
"""Probabilities to act in a round that begins in each hour of the day."""


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """People with a pattern of their own."""

    where: str
    """A condition over the population's attributes, such as "age >= 65"."""
    pattern: Pattern
    """As that of all."""


class Activity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who acts at what time of the day."""

    pattern: Pattern = "always"
    """A named pattern, or 24 probabilities: to act in a round that begins between 0 and 1 o'clock, and so
    on. "day" is 7 to 23 o'clock, "night" the rest, "online" a rough day on the net with its peak at 20."""
    parts: tuple[Part, ...] = ()
    """Patterns of some of the people; of several conditions that fit, the first counts."""


class TimedSettings(ScenarioSettings, frozen=True, kw_only=True):
    """What the `[scenario]` table of every scenario with a clock has."""

    same_for_all: ClassVar[frozenset[str]] = ScenarioSettings.same_for_all | {"clock", "activity"}

    clock: Clock = Clock()
    """When rounds happen."""
    activity: Activity = Activity()
    """Who acts at what time of the day."""

    def conditions(self) -> list[tuple[tuple[str, ...], str]]:
        """Return those of the activity's parts."""
        parts = enumerate(self.activity.parts, start=1)
        return [(("activity", "parts", str(number), "where"), part.where) for number, part in parts]


class TimedScenario(Scenario):
    """A scenario in which agents act by the hour, as its settings say."""

    settings: Any

    def acts(self, round_: int, members: range, observation: Any) -> NDArray[np.bool_] | None:
        """Draw who acts: a number for each agent and round, whatever worker it lives on."""
        if self._always:
            return None
        likely = self._patterns[:, self.settings.clock.hour(round_)]
        of_each = likely[0] if self._pattern_of is None else likely[self._pattern_of[members]]
        seed = mix(mix(self.seed, _STREAM), round_)
        found: NDArray[np.bool_] = uniforms(seed, np.arange(members.start, members.stop)) < of_each
        return found

    @cached_property
    def _patterns(self) -> NDArray[np.float64]:
        """A row of 24 for all, and one for each part."""
        activity = self.settings.activity
        return np.array([_hours(p) for p in (activity.pattern, *(part.pattern for part in activity.parts))])

    @cached_property
    def _always(self) -> bool:
        return bool((self._patterns == 1.0).all())

    @cached_property
    def _pattern_of(self) -> NDArray[np.intp] | None:
        """Everybody's row of the patterns; None if all have the first."""
        parts = self.settings.activity.parts
        if not parts or self.people is None:
            return None
        fitting = [self.people.fitting(part.where, "scenario", "activity", "parts") for part in parts]
        return np.where(np.any(fitting, axis=0), np.argmax(fitting, axis=0) + 1, 0)


def _hours(pattern: Pattern) -> tuple[float, ...]:
    return PATTERNS[pattern] if isinstance(pattern, str) else pattern
