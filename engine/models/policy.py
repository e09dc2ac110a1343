"""The model that follows a rule: scripted players as a baseline, behind the same protocol as any model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from engine.draws import mix, uniform
from engine.errors import ModelError
from engine.keys import unpack
from engine.models.answers import with_mark
from engine.models.protocol import Catalogue, Deliver, Finish, Request, Result
from engine.models.settings import Policy


class Turn(NamedTuple):
    """What a rule decides on."""

    facts: Any
    """What the agent passed as `facts` with its call; structs arrive as dicts."""
    settings: Any
    """The scenario's settings."""
    parameters: Mapping[str, float]
    """`[model] parameters` of the preset."""
    trait: float
    """In [0, 1), fixed for an agent over the whole run: which kind of player it is."""
    rng: Random
    """Randomness of this call alone."""


Rule = Callable[[Turn], str]
"""Returns the text that a model would have replied."""


class PolicyBackend:
    """Answers each request at once by the rule that the preset names."""

    def __init__(
        self,
        settings: Policy,
        catalogue: Catalogue,
        rules: Mapping[str, Rule],
        scenario_settings: Any,
        seed: int,
    ) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._scenario_settings = scenario_settings
        self._rules = rules
        self._seed = seed

    async def open(self) -> dict[str, Any]:
        """Check that the scenario has the rule. Raises ModelError."""
        if self._settings.policy not in self._rules:
            raise ModelError(
                f"the scenario has no policy {self._settings.policy!r}",
                where="model.policy",
                hint="it offers: " + (", ".join(sorted(self._rules)) or "none"),
            )
        return {"policy": self._settings.policy, "parameters": dict(self._settings.parameters)}

    def submit(self, requests: Sequence[Request], deliver: Deliver) -> None:
        """Answer a batch."""
        deliver([self._answer(request) for request in requests])

    async def close(self) -> None:
        """Nothing is held."""

    def _answer(self, request: Request) -> Result:
        turn = Turn(
            request.facts,
            self._scenario_settings,
            self._settings.parameters,
            uniform(self._seed, unpack(request.key).agent),
            Random(mix(self._seed, request.key)),
        )
        try:
            text = self._rules[self._settings.policy](turn)
        except Exception as error:  # a rule is a scenario author's code: its failure is this request's alone
            return Result(request.key, f"{type(error).__name__}: {error}", Finish.ERROR)
        answer = self._catalogue.forms[request.form].answer
        return Result(request.key, with_mark(answer, text))
