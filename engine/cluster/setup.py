"""What each process of a run builds for itself from the preset, always the same."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from engine.cluster import slices
from engine.cluster.endpoints import Endpoints
from engine.cluster.memories import memories_of
from engine.cluster.placement import Placement
from engine.environments.addresses import Addresses
from engine.journal.personas import Personas
from engine.journal.run_directory import RunDirectory
from engine.machine import n_cores
from engine.models.protocol import Sampling
from engine.models.settings import Model as ModelSettings
from engine.models.settings import Policy
from engine.population.persona.settings import Writer
from engine.population.settings import Population
from engine.preset.schema import DEFAULT_MODEL, Preset
from engine.scenarios import registry
from engine.scenarios.code_hash import code_hash
from engine.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from engine.agents.memories.making import Memories
    from engine.population.people import People


@dataclass(frozen=True)
class Role:
    """A model of the run, as workers and journal know it."""

    name: str
    number: int
    """In the journal."""
    sampling: Sampling
    wants_facts: bool


@dataclass(frozen=True)
class Setup:
    """A run to be: handed to every process when it starts."""

    preset: Preset
    directory: Path
    """The run directory."""
    endpoints: Endpoints
    cache_directory: Path
    """Where backends keep what is worth keeping between runs."""
    resumed: bool = False
    """Whether the run directory holds the beginning of this run."""
    attempt: int = 0
    """How often the workers have been replaced."""

    def worker_name(self, index: int) -> str:
        """Return what a worker of this attempt is called on its links."""
        return f"worker-{index}@{self.attempt}"

    def again(self) -> Setup:
        """Return the setup of workers that take the place of the present ones."""
        return replace(self, resumed=True, attempt=self.attempt + 1)

    replay_of: Path | None = None
    """The run directory whose journal is replayed, without any model; this run's own is a scratch one."""
    before: Preset | None = None
    """The preset of the rounds up to `branched_at`, in a run that has branched off another one."""
    branched_at: int = 0
    earlier: tuple[tuple[Preset, int], ...] = ()
    """Presets of the rounds before those, each with the last of its rounds, in a branch of a branch."""

    @property
    def past(self) -> Path | None:
        """The journal with the replies that need not be asked for, if there is one."""
        return self._journal if self.resumed else None

    @property
    def phases(self) -> list[tuple[int, Setup]]:
        """The setups by which agents act, each with the first round that it holds for."""
        if self.before is None:
            return [(1, self)]
        before, at = self.earlier[-1] if self.earlier else (None, 0)
        parent = replace(self, preset=self.before, before=before, branched_at=at, earlier=self.earlier[:-1])
        return [*parent.phases, (self.branched_at + 1, self)]

    def scenario_of(self, round_: int) -> Scenario:
        """Make the scenario that concludes a round: what it tells is heard in the next one."""
        return next(s for first, s in reversed(self.phases) if round_ + 1 >= first).scenario()

    @cached_property
    def code(self) -> str:
        """The hash of the scenario's code."""
        return code_hash(self.scenario_type)

    @cached_property
    def scenario_type(self) -> type[Scenario]:
        """The scenario's class."""
        return registry.find(self.preset.scenario.scenario_name)

    def scenario(self) -> Scenario:
        """Make the scenario."""
        return self.scenarios()[0]

    def scenarios(self) -> list[Scenario]:
        """Make the scenario as the agents outside of all slices know it, then as each slice does."""
        plain = self.preset.scenario
        variants = [plain, *(msgspec.structs.replace(plain, **s.scenario) for s in self.preset.slices)]
        n_agents, seed = self.preset.population.size, self.preset.seed
        return [self.scenario_type(settings, n_agents, seed) for settings in variants]

    @cached_property
    def placement(self) -> Placement:
        """Who lives where."""
        preset = self.preset
        n_workers = preset.engine.workers or n_cores()
        n_places = preset.population.births.per_group if self.scenario_type.dynamic else 0
        return Placement(preset.population.size, preset.scenario.groups, n_workers, n_places)

    @cached_property
    def addresses(self) -> Addresses:
        """Which environments there are, and where."""
        placement = self.placement
        kinds = self.scenario_type.environments
        return Addresses(
            kinds, placement.n_ids, len(placement.groups), lambda group: placement.of(group)[0].worker
        )

    @cached_property
    def people(self) -> People | None:
        """Who the agents are; None if they differ by their numbers alone. Raises PopulationError."""
        population = self.preset.population
        if population == Population(size=population.size, births=population.births):
            return None
        from engine.population.build import build

        people = build(population, self.preset.seed)
        return replace(people, written=Personas(self._journal)) if self.persona_writer else people

    @property
    def persona_writer(self) -> Writer | None:
        """How personas are written by a model, if they are."""
        persona = self.preset.population.persona
        return persona.writer if persona else None

    @cached_property
    def must_write(self) -> bool:
        """Whether personas are to be written before the first round."""
        if not self.persona_writer or self.replay_of:
            return False
        found = Personas(self._journal)
        try:
            return not (self.resumed and found.are_complete)
        finally:
            found.close()

    @property
    def _journal(self) -> Path:
        return RunDirectory(self.replay_of or self.directory).run_file

    def __getstate__(self) -> dict[str, Any]:
        """Leave to a spawned process what it can build for itself: a large population is no luggage."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def slice_codes(self) -> slices.Codes | None:
        """Each agent's slice, 0 for none; None if the preset has no slices."""
        return slices.codes_of(self.preset, self.people)

    @property
    def slice_models(self) -> list[str]:
        """The model of the agents outside of all slices, then that of each slice."""
        return [DEFAULT_MODEL, *(part.model for part in self.preset.slices)]

    @cached_property
    def models(self) -> dict[str, ModelSettings]:
        """The models that some agent uses, and the one that personas are still to be written by, by name."""
        known = {DEFAULT_MODEL: self.preset.model, **self.preset.models}
        used = dict.fromkeys(self.slice_models)
        if self.persona_writer and self.must_write:
            used.setdefault(self.persona_writer.model)
        return {name: known[name] for name in used}

    @cached_property
    def memories(self) -> dict[str, Memories]:
        """What makes the memories of the agents that use each model, by its name. Raises ModelError."""
        return memories_of(self.models, self.preset.memory)

    @cached_property
    def roles(self) -> list[Role]:
        """The same, numbered; a model that a branch has changed is not the one of that name any more."""
        pasts = [setup for _, setup in self.phases[:-1]]
        before = pasts[-1] if pasts else None
        numbers = {role.name: role.number for role in before.roles} if before else {}
        free = count(1 + max((role.number for past in pasts for role in past.roles), default=0))
        return [
            Role(
                name,
                numbers[name] if before and before.models.get(name) == settings else next(free),
                settings.sampling,
                isinstance(settings, Policy),
            )
            for name, settings in self.models.items()
        ]
