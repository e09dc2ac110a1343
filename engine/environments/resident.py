"""One environment where it lives: carries out calls one after the other and has them journalled.

What the journal has of a round is carried out again, in the order of then, before anything else of it; an
agent that repeats its call gets the result of that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from engine.agents.divergence import DIVERGED, Beyond, Diverged
from engine.agents.scheduler import DeadlineExceeded, Scheduler
from engine.environments.history import Past
from engine.environments.methods import Method, methods_of
from engine.errors import SimtuiError
from engine.keys import MAX_CALLS, pack, unpack

if TYPE_CHECKING:
    from engine.agents.record import Record
    from engine.environments.environment import Environment

BUFFERED, LISTENER = "buffered call", "listener"
"""Kinds of failures in the ledger that are no agent's."""
_WENT_ON = "environment went on"


class Resident:
    """An environment, and how far it is in its round."""

    def __init__(
        self, environment: Environment, scheduler: Scheduler, record: Record, beyond: Beyond
    ) -> None:
        self.environment = environment
        self.methods: Mapping[str, Method] = methods_of(type(environment))
        self._scheduler = scheduler
        self._record = record
        self._beyond = beyond
        self._results: dict[int, tuple[Past, Any, str | None]] = {}
        """By key: a call as it was, and what has come of carrying it out again."""
        self._n_called = 0
        self._n_failures = 0
        self._n_known = 0
        """Buffered calls of the round that the journal has already."""
        self._place = (0, "", 0, 0)

    def open_round(self, past: list[Past]) -> None:
        """Carry out again what the journal has of the round."""
        environment = self.environment
        self._place = (environment.number, environment.name, environment.group, environment.round)
        self._results = {}
        self._n_called = self._n_known = 0
        for entry in past:
            if entry.key is not None:
                self._repeat(entry.key, entry)
            elif self._beyond is not Beyond.REPORT:
                self._n_known += 1
        if self._beyond is not Beyond.REPORT:  # a replay writes a journal of its own
            self._n_called = len(past)

    def result(
        self, key: int, caller: int, method: Method, args: tuple[Any, ...], sent: Any
    ) -> tuple[Any, str | None]:
        """Return what comes of an agent's call, or why nothing does."""
        if self._results and (known := self._results.get(key)):
            entry, value, error = known
            if entry.method != method.name or bytes(entry.arguments) != msgspec.json.encode(sent):
                self._diverge(key)
            return value, error
        value, answered, error = self._carry_out(caller, method, args)
        self._note((key, caller, method.name, sent, answered, error))
        return value, error

    def apply(self, caller: int, name: str, encoded: bytes) -> None:
        """Carry out a buffered call."""
        method = self.methods[name]
        _, answered, error = self._carry_out(caller, method, method.decode(encoded))
        if error is not None:
            self.failed(BUFFERED, f"{name} of agent {caller}: {error}")
        if self._n_known:
            self._n_known -= 1
        else:
            self._note((None, caller, name, msgspec.Raw(encoded), answered, error))

    def end_round(self, children: Mapping[int, Any]) -> tuple[dict[str, Any], Any]:
        """End the round; return what the environment reports, and what it aggregates for its parent.

        Raises SimtuiError: there is no agent whose fault it would be.
        """
        environment = self.environment
        try:
            with self._scheduler.watched():
                if children:
                    environment.collect(children)
                report = environment.end_round() or {}
                aggregate = environment.aggregate() if type(environment).parent else None
        except (Exception, DeadlineExceeded) as error:
            raise SimtuiError(
                f"the environment raised {type(error).__name__}: {error}",
                where=f"{environment.name}, at the end of round {environment.round}",
                hint="Mend the scenario's code; --resume goes on from here.",
            ) from error
        environment.round += 1
        return dict(report), aggregate

    def failed(self, kind: str, detail: str) -> None:
        """Note a failure that is no agent's."""
        environment = self.environment
        key = pack(environment.round, environment.number, self._n_failures % MAX_CALLS)
        self._n_failures += 1
        self._record.failure(key, kind, detail, _WENT_ON)

    def _repeat(self, key: int, entry: Past) -> None:
        method = self.methods.get(entry.method)
        if method is None:
            raise Diverged(unpack(key))
        value, sent, error = self._carry_out(entry.caller, method, method.decode(bytes(entry.arguments)))
        self._results[key] = (entry, value, error)
        if error != entry.error or msgspec.json.encode(sent) != bytes(entry.value):
            self._diverge(key)
        if self._beyond is Beyond.REPORT:
            self._note((key, entry.caller, entry.method, entry.arguments, sent, error))

    def _carry_out(self, caller: int, method: Method, args: tuple[Any, ...]) -> tuple[Any, Any, str | None]:
        """Return the result as the caller gets it, as it is kept, and what is wrong if there is none."""
        environment = self.environment
        before, environment.caller = environment.caller, caller
        was_watched = self._scheduler.watch()
        try:
            value, answered = method.result(getattr(environment, method.name)(*args))
        except DeadlineExceeded as late:
            self._scheduler.fatal = SimtuiError(
                f"the environment {late}",
                where=f"{environment.name}.{method.name}, round {environment.round}, called by {caller}",
                hint="Mend the method, or give it more time: engine.deadline_s",
            )
            return None, None, "it took too long"
        except Exception as error:
            return None, None, f"{environment.name}.{method.name}: {type(error).__name__}: {error}"
        finally:
            environment.caller = before
            self._scheduler.watch(was_watched)
        return value, answered, None

    def _note(self, call: tuple[Any, ...]) -> None:
        self._record.called(self._place, self._n_called, call)
        self._n_called += 1

    def _diverge(self, key: int) -> None:
        if self._beyond is Beyond.REPORT:
            self._record.failure(key, DIVERGED, "a call of an environment", "reported")
        else:
            self._scheduler.fatal = Diverged(unpack(key))
