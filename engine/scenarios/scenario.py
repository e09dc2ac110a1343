"""The base class of scenarios: what a scenario author provides, and who calls it in which process."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from engine.agents.agent import Agent
from engine.agents.births import Birth
from engine.environments.environment import Environment
from engine.keys import MAX_ROUNDS
from engine.models.policy import Rule
from engine.models.protocol import Message

if TYPE_CHECKING:
    from engine.population.people import People


class ScenarioSettings(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="name", forbid_unknown_fields=True
):
    """What every scenario's `[scenario]` table has; subclass it with the scenario's name as `tag`."""

    same_for_all: ClassVar[frozenset[str]] = frozenset({"rounds", "groups", "name"})
    """Settings that slices of the population cannot change."""

    rounds: Annotated[int, Meta(ge=1, lt=MAX_ROUNDS)] = 5
    """Number of rounds."""
    groups: Annotated[int, Meta(ge=1)] = 1
    """Number of groups that play apart from each other; sizes differ by one at most."""

    file: str | None = None
    """The Python file that the scenario is in, where it neither comes along nor is installed; it is executed
    only if the command line says `--trust FILE`."""

    @property
    def scenario_name(self) -> str:
        """The name in `[scenario] name`."""
        return str(self.__struct_config__.tag)

    def problems(self, population_size: int) -> list[tuple[str, str, str]]:
        """Return what cannot be said by types alone, as (setting, what is wrong, what is allowed)."""
        if self.groups > population_size:
            return [
                ("groups", f"{self.groups} groups for {population_size} agents", f"1 to {population_size}")
            ]
        return []

    def conditions(self) -> list[tuple[tuple[str, ...], str]]:
        """Return the settings that are conditions over attributes of people, as (path, condition)."""
        return []


class Outcome(msgspec.Struct, frozen=True):
    """How a round ended in one group.

    `stats` are the numbers and texts of the rounds table, in order. `histogram` counts the answers in equal
    bins between `low` and `high`, for the picture. `observation` is what the members are told next.
    """

    stats: dict[str, int | float | str | None]
    observation: Any = None
    histogram: list[int] = []
    low: float = 0.0
    high: float = 0.0


class Scenario:
    """A scenario: what agents are told, and what is made of their answers.

    One instance lives in the coordinator and one in each worker, all built from the same settings; they share
    nothing else. `tally` runs in workers, `conclude` in the coordinator.
    """

    Settings: ClassVar[type[ScenarioSettings]]
    Observation: ClassVar[Any] = Any
    """The type that observations are decoded to before agents see them."""
    coupled: ClassVar[bool] = False
    """Whether groups depend on each other: then they may exchange messages, and none begins a round before
    all have ended the last."""
    dynamic: ClassVar[bool] = False
    """Whether agents may come and go while it runs (`Agent.spawn`, `Agent.retire`)."""
    environments: ClassVar[Mapping[str, type[Environment]]] = {}
    """Environments by name, made with no arguments; one of the world needs `coupled`."""
    policies: ClassVar[Mapping[str, Rule]] = {}
    policy_parameters: ClassVar[Mapping[str, Collection[str]]] = {}
    """The parameters that each policy takes; a policy that is not named here takes none."""

    def __init_subclass__(cls) -> None:
        """Raises TypeError for environments that cannot be."""
        super().__init_subclass__()
        kinds = cls.environments
        if not cls.coupled and any(kind.scope == "world" for kind in kinds.values()):
            raise TypeError(f"{cls.__name__} has an environment of the world: it needs `coupled = True`")
        for kind in kinds.values():
            if kind.parent and (kind.parent not in kinds or kinds[kind.parent].scope != "world"):
                raise TypeError(f"{kind.__name__}: its parent {kind.parent!r} is no environment of the world")

    def __init__(self, settings: Any, n_agents: int, seed: int) -> None:
        self.settings = settings
        self.n_agents = n_agents
        self.seed = seed
        self.people: People | None = None
        """Who the agents are, if the preset says so; known to workers alone."""

    def group_size(self, group: int) -> int:
        """Return the number of members of a group."""
        smallest, larger = divmod(self.n_agents, self.settings.groups)
        return int(smallest + (group < larger))

    def agent(self, agent_id: int) -> Agent:
        """Make one agent. Called when it first acts; must depend on nothing but the id and the settings."""
        raise NotImplementedError

    def newcomer(self, birth: Birth) -> Agent:
        """Make an agent that another one has asked for; one like all others as it is here."""
        return self.agent(birth.id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return the messages that every member's conversation begins with; they are computed once."""
        return ()

    def opening(self, group: int) -> Any:
        """Return the observation of round 1; anything msgpack can carry."""
        raise NotImplementedError

    def accept(self, value: Any) -> str | None:
        """Return why a value that `step` returned is not acceptable, or None if it is."""
        return None

    def tally(self, members: range, values: Sequence[Any]) -> Any:
        """Boil down what members of one group answered, on their worker.

        `values[i]` is what agent `members[i]` returned, None where it failed or was excluded. The result
        must be something msgpack can carry, and small or a bytes column.
        """
        raise NotImplementedError

    def conclude(self, round_: int, group: int, tallies: Sequence[Any]) -> Outcome:
        """Make the outcome of a group's round from the tallies of the workers that hold it.

        Tallies come in agent order.
        """
        raise NotImplementedError

    def settle(self, outcome: Outcome, reports: Mapping[str, Any]) -> Outcome:
        """Add to a round's outcome what environments report of it, by their names.

        As it is here: the numbers and texts of the reports are added to the round's stats.
        """
        facts = {key: value for report in reports.values() for key, value in report.items()}
        shown = {key: v for key, v in facts.items() if v is None or isinstance(v, (int, float, str))}
        return msgspec.structs.replace(outcome, stats=outcome.stats | shown)

    def acts(self, round_: int, members: range, observation: Any) -> NDArray[np.bool_] | None:
        """Say which of some members of a group act in a round; None for all.

        An agent that got a message acts in any case, and so does one that was born since the start. Must
        depend on nothing but the arguments, the settings, the seed and `people`. Called on each
        worker for the members that it holds.
        """
        return None

    def overall(self, round_: int, tallies: Sequence[Any]) -> Outcome:
        """Make the outcome over all groups, for the rounds table; tallies as in `conclude`."""
        return self.conclude(round_, -1, tallies)

    def across(self, outcome: Outcome, groups: Sequence[Outcome]) -> Outcome:
        """Add to the outcome over all groups what only the groups' environments know, from their outcomes.

        As it is here: the mean of each number, over the groups that have it.
        """
        found = {**outcome.stats}
        for name in {name: None for group in groups for name in group.stats if name not in outcome.stats}:
            values = [value for group in groups if (value := group.stats.get(name)) is not None]
            numbers = [value for value in values if not isinstance(value, str)]
            if len(numbers) == len(values):
                found[name] = fmean(numbers) if numbers else None
        return msgspec.structs.replace(outcome, stats=found)
