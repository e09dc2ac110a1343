"""Whether a run may go on: what `[budget]` allows, and how much of it each model service may use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from math import inf
from typing import NamedTuple

from engine.agents.mail import UNDELIVERED
from engine.agents.memories.calls import LEFT_OUT
from engine.cluster.control import Usage
from engine.cluster.wire import Allow, Work
from engine.models.settings import ModelSettings
from engine.models.spent import Spent, cost
from engine.preset.schema import Budget

NO_FAILURES = frozenset(("repaired", "sent again", LEFT_OUT, UNDELIVERED))
"""Kinds in the ledger that are not counted against the budget."""


class Exhausted(NamedTuple):
    """A budget that has run out."""

    setting: str
    what: str

    @property
    def hint(self) -> str:
        """How to go on."""
        return f"everything is saved; a resumed run may have another: --set {self.setting}=..."


class Used(NamedTuple):
    """Tokens of prompts and replies, and money."""

    tokens: float = 0.0
    money: float = 0.0

    def plus(self, other: Used) -> Used:
        """Return the sum."""
        return Used(self.tokens + other.tokens, self.money + other.money)


class BudgetWatch:
    """Divides what is left among the model services, which never use more than their part.

    What is left is divided anew whenever a service reports, so that at the end no service has one more
    request that fits.
    """

    def __init__(self, budget: Budget, models: Mapping[str, ModelSettings], past: Iterable[Usage]) -> None:
        """`past` was used before the run was resumed."""
        self._budget = budget
        self._models = models
        self._before = Used()
        """By services that are no more."""
        for used in past:
            tokens = used.tokens_in + used.tokens_out
            self._before = self._before.plus(Used(tokens, used.cost or 0.0))
        self._services: dict[str, Work] = {}
        self._workers: dict[str, Work] = {}
        self._allowed: dict[str, Allow] = {}

    def note_service(self, model: str, work: Work) -> dict[str, Allow]:
        """Take a report of a model service; return what services are to be told."""
        self._services[model] = work
        if self._budget.tokens is None and self._budget.money is None:
            return {}
        used = self._used()
        tokens, money = (
            self._left(self._budget.tokens, used.tokens),
            self._left(self._budget.money, used.money),
        )
        parts = {name: Allow(*self._used_by(name).plus(Used(tokens, money))) for name in self._services}
        new = {name: part for name, part in parts.items() if self._allowed.get(name) != part}
        self._allowed |= new
        return new

    def note_worker(self, process: str, work: Work) -> None:
        """Take a report of a worker."""
        self._workers[process] = work

    def forget(self, process: str) -> None:
        """Let another process take the name; what it has used is used."""
        self._workers.pop(process, None)
        model = process.removeprefix("model-")
        if model in self._services:
            self._before = self._before.plus(self._used_by(model))
            del self._services[model]
            self._allowed.pop(model, None)

    def exhausted(self, elapsed_s: float, failures: Mapping[str, int]) -> Exhausted | None:
        """Return the budget that has run out, if one has."""
        budget = self._budget
        if budget.wall_s is not None and elapsed_s >= budget.wall_s:
            return Exhausted("budget.wall_s", f"{budget.wall_s:,g} s are over")
        n_failed = sum(n for kind, n in failures.items() if kind not in NO_FAILURES)
        if budget.failures is not None and n_failed > budget.failures:
            return Exhausted("budget.failures", f"{n_failed:,} replies and agents have failed")
        return self._spent() if self._at_rest() else None

    def _at_rest(self) -> bool:
        """Tell whether all that is open waits for an allowance, and all answers are in the journal."""
        held = sum(work.n_held for work in self._services.values())
        at_services = sum(work.n_open for work in self._services.values())
        at_workers = sum(work.n_open + work.n_unsent for work in self._workers.values())
        return held > 0 and held == at_services == at_workers

    def _spent(self) -> Exhausted:
        """Say which of the two budgets is closer to its end."""
        used, tokens, money = self._used(), self._budget.tokens, self._budget.money
        why = "the next prompt and the longest reply to it (max_tokens) do not fit into the rest"
        if money is None or (tokens is not None and used.tokens / tokens > used.money / money):
            return Exhausted("budget.tokens", f"{used.tokens:,.0f} of {tokens:,} tokens are used; {why}")
        currency = next(model.currency for model in self._models.values() if model.price_in is not None)
        return Exhausted("budget.money", f"{used.money:,.4g} of {money:,g} {currency} are used; {why}")

    def _left(self, most: float | None, used: float) -> float:
        """Return each service's part of what is left."""
        return inf if most is None else (most - used) / len(self._models)

    def _used(self) -> Used:
        return reduce(Used.plus, map(self._used_by, self._services), self._before)

    def _used_by(self, model: str) -> Used:
        spent = reduce(Spent.__add__, (spent for *_, spent in self._services[model].spent), Spent())
        return Used(spent.tokens_in + spent.tokens_out, cost(self._models[model], spent) or 0.0)
