"""By what the agents of a worker act: a world for each slice of a group, and each phase of a run."""

from __future__ import annotations

from typing import NamedTuple

from engine.agents.births import Community
from engine.agents.divergence import Beyond
from engine.agents.mail import Mail
from engine.agents.model import Model
from engine.agents.scheduler import Scheduler
from engine.agents.world import World
from engine.cluster.ledger import Ledger
from engine.cluster.placement import Share as Place
from engine.cluster.setup import Setup
from engine.cluster.share import Cast
from engine.environments.calls import handles
from engine.environments.host import Host
from engine.journal.history import History
from engine.scenarios.scenario import Scenario


class Phase(NamedTuple):
    """By what agents act from a round on; a run has one, or two if it has branched off another."""

    first_round: int
    setup: Setup
    models: dict[str, Model]
    scenarios: list[Scenario]


class Casting:
    """Makes worlds, with models and scenarios that all of them share."""

    def __init__(
        self,
        setup: Setup,
        *,
        scheduler: Scheduler,
        mail: Mail,
        environments: Host,
        ledger: Ledger,
        beyond: Beyond,
    ) -> None:
        """`beyond` says what happens with a call that the journal does not have."""
        self._setup = setup
        self._scheduler = scheduler
        self._mail = mail
        self._environments = environments
        self._ledger = ledger
        self.models = self._models_of(setup, beyond)
        """Those of the present phase, by name."""
        past = beyond if setup.replay_of else Beyond.END
        self._phases = [
            Phase(first, s, self.models if s is setup else self._models_of(s, past), s.scenarios())
            for first, s in setup.phases
        ]
        self._communities: dict[int, Community] = {}

    @property
    def scenario(self) -> Scenario:
        """The present phase's, as the agents outside of all slices know it."""
        return self._phases[-1].scenarios[0]

    def remember(self, history: History) -> None:
        """Have the models repeat what the journal has."""
        for phase in self._phases:
            for model in phase.models.values():
                model.history = history

    def casts(self, place: Place) -> list[Cast]:
        """Return by what the members at a place act, phase by phase."""
        return [self._cast(phase, place) for phase in self._phases]

    def _models_of(self, setup: Setup, beyond: Beyond) -> dict[str, Model]:
        return {
            role.name: Model(
                self._scheduler,
                self._ledger,
                number=role.number,
                sampling=role.sampling,
                policy=setup.preset.answers,
                wants_facts=role.wants_facts,
                beyond=beyond,
            )
            for role in setup.roles
        }

    def _cast(self, phase: Phase, place: Place) -> Cast:
        """Each slice has a world of its own: its model, and the scenario with its settings."""
        group, members = place.group, place.members
        same = phase.setup is self._setup or phase.setup.preset.population == self._setup.preset.population
        addresses = self._setup.addresses
        environments = handles(self._environments, addresses.of(group), addresses.kinds)
        people = self._setup.people if same else phase.setup.people
        for scenario in phase.scenarios:
            scenario.people = people
        worlds = [
            World(
                group=group,
                members=self._setup.placement.groups[group],
                scenario=scenario,
                seed=scenario.seed,
                model=phase.models[model],
                mail=self._mail,
                shared=scenario.shared(group),
                people=people,
                slice_=number,
                environments=environments,
                community=self._community_of(group),
                memories=phase.setup.memories[model],
            )
            for number, (scenario, model) in enumerate(
                zip(phase.scenarios, phase.setup.slice_models, strict=True)
            )
        ]
        codes = None if place.block else phase.setup.slice_codes
        return Cast(phase.first_round, worlds, None if codes is None else codes[members.start : members.stop])

    def _community_of(self, group: int) -> Community | None:
        if not self._setup.scenario_type.dynamic:
            return None
        if group not in self._communities:
            placement, births = self._setup.placement, self._setup.preset.population.births
            places = placement.places_of(group)
            self._communities[group] = Community(self._scheduler, places, placement.n_ids, births.per_parent)
        return self._communities[group]
