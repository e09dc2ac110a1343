"""A scenario played by a policy, in this process: coordinator, workers and journal are the real ones."""

from __future__ import annotations

from collections.abc import Callable, Container
from pathlib import Path
from random import Random
from typing import Any

from engine.cluster.control import RoundReport
from engine.keys import unpack
from engine.models.policy import PolicyBackend
from engine.models.protocol import Catalogue, Finish, Request, RequestBatch, Result
from engine.models.settings import Policy
from engine.population.settings import Population
from engine.preset.schema import Engine, Preset
from engine.scenarios import registry
from engine.scenarios.scenario import ScenarioSettings
from tests.fakes.stage import MODEL, Stage

Stats = dict[str, Any]


class _AtOnce(Stage):
    """Answers each batch of requests at once and as a whole: several times faster."""

    def requested(self, worker: str, batch: RequestBatch) -> None:
        """Reply to all of them."""
        self._catalogue.learn(batch)
        there = {self.name(index): there for index, there in enumerate(self.workers)}[worker]
        results = [Result(request.key, self._model(request, self._catalogue)) for request in batch.requests]
        self.send(MODEL, worker, lambda: there.take_results("default", results))


def play(
    directory: Path,
    settings: ScenarioSettings,
    size: int,
    policy: str,
    *,
    seed: int = 1,
    workers: int = 2,
    population: dict[str, Any] | None = None,
    silent: Container[int] = (),
    **parameters: float,
) -> list[Stats]:
    """Play to the end and return the stats of each round; none may stop; `silent` agents get no answer."""
    chosen = Policy(policy=policy, parameters=parameters)
    preset = Preset(
        name="play",
        seed=seed,
        scenario=settings,
        population=Population(size=size, **(population or {})),
        model=chosen,
        engine=Engine(workers=workers, failure_budget=0.0),
    )
    (folder := directory / f"{policy}-{size}-{seed}-{workers}").mkdir(parents=True)
    stage = _AtOnce(preset, folder, Random(seed), model=following(chosen, settings, seed, silent)).play()
    return [event.outcome.stats for event in stage.events if isinstance(event, RoundReport)]


def following(
    chosen: Policy, settings: ScenarioSettings, seed: int, silent: Container[int] = ()
) -> Callable[[Request, Catalogue], str]:
    """Return the model that follows a policy, and gives `silent` agents no answer."""
    rules = registry.find(settings.scenario_name).policies

    def reply(request: Request, catalogue: Catalogue) -> str:
        if unpack(request.key).agent in silent:
            return ""
        found: list[Result] = []
        PolicyBackend(chosen, catalogue, rules, settings, seed).submit([request], found.extend)
        assert found[0].finish is Finish.STOP, found[0].text
        return found[0].text

    return reply
