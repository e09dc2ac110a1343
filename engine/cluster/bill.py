"""What the models of a run have been used for, and what that costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.cluster.control import Usage
from engine.cluster.setup import Setup
from engine.models.spent import Spent, cost

Key = tuple[str, str]
"""A model and a slice."""


class Bill:
    """Adds up what workers report, whatever becomes of them."""

    def __init__(self, setup: Setup, past: Iterable[Usage], begun: Iterable[Usage] = ()) -> None:
        """Before the run was resumed, `past` was used in rounds that are over, `begun` in others."""
        self._models = setup.models
        self._slices = ["", *(part.name for part in setup.preset.slices)]
        self._past = _summed(past)
        self._now: dict[str, dict[Key, Spent]] = {}
        self._mark = self._past
        self._past = _added(self._past, _summed(begun))

    def note(self, process: str, spent: list[tuple[str, int, Spent]]) -> None:
        """Take a report: what a process has spent since it started."""
        self._now[process] = {(model, self._slices[number]): sums for model, number, sums in spent}

    def forget(self, process: str) -> None:
        """Let another process take the name; what was spent is spent."""
        self._past = _added(self._past, self._now.pop(process, {}))

    def total(self) -> list[Usage]:
        """Return what was used so far."""
        return [self._usage(key, spent) for key, spent in self._sums().items()]

    def close_round(self) -> list[Usage]:
        """Return what was used since this was last called."""
        sums = self._sums()
        new = {key: spent - self._mark.get(key, Spent()) for key, spent in sums.items()}
        self._mark = sums
        return [self._usage(key, spent) for key, spent in new.items() if spent.calls]

    def _sums(self) -> dict[Key, Spent]:
        sums = self._past
        for spent in self._now.values():
            sums = _added(sums, spent)
        return dict(sorted(sums.items()))

    def _usage(self, key: Key, spent: Spent) -> Usage:
        model, slice_ = key
        settings = self._models.get(model)  # a resumed run may no longer have it
        money = None if settings is None else cost(settings, spent)
        return Usage(
            model=model,
            slice=slice_,
            calls=spent.calls,
            tokens_in=spent.tokens_in,
            tokens_out=spent.tokens_out,
            tokens_cached=spent.tokens_cached,
            cost=money,
            currency="" if settings is None or money is None else settings.currency,
        )


def _summed(usage: Iterable[Usage]) -> dict[Key, Spent]:
    sums: dict[Key, Spent] = {}
    for used in usage:
        spent = Spent(used.calls, used.tokens_in, used.tokens_out, used.tokens_cached)
        sums = _added(sums, {(used.model, used.slice): spent})
    return sums


def _added(one: Mapping[Key, Spent], other: Mapping[Key, Spent]) -> dict[Key, Spent]:
    keys = dict.fromkeys((*one, *other))
    return {key: one.get(key, Spent()) + other.get(key, Spent()) for key in keys}
