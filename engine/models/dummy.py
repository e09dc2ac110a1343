"""The dummy model: waits, then answers at random. It loads everything but the mind.

Of a request that waits only its key is kept (8 bytes), so that ten million can wait at once; the answer is
drawn when it is due, from the key, and so does not depend on batches or workers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.draws import uniforms
from engine.errors import ModelError
from engine.models.answers import Answer, Choice, Number, Text, with_mark
from engine.models.dummy_json import fill
from engine.models.protocol import Catalogue, Deliver, Finish, Request, Result
from engine.models.settings import Dummy

TICK_S = 0.01
"""Requests with random latencies are answered on this grid, each at the first point after its time."""

Keys = NDArray[np.int64]
Latency = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From uniform numbers to waits in seconds: the inverse of a distribution function."""


class DummyBackend:
    """Holds each request for its full latency."""

    def __init__(self, settings: Dummy, catalogue: Catalogue, seed: int) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._seed = seed
        self._latency: Latency = _no_latency

    async def open(self) -> dict[str, Any]:
        """Look up the latency distribution. Raises ModelError."""
        self._latency = latency(self._settings.latency_s)
        return {"latency_s": self._settings.latency_s}

    async def close(self) -> None:
        """Timers die with the event loop."""

    def submit(self, requests: Sequence[Request], deliver: Deliver) -> None:
        """Take a batch and answer each request once its time is over."""
        loop, limit_s = asyncio.get_running_loop(), self._settings.timeout_s
        for form, keys in _by_form(requests):
            answer = self._catalogue.forms[form].answer
            for wait_s, due in self._by_wait(keys):
                if limit_s is None or wait_s <= limit_s:
                    loop.call_later(wait_s, self._answer, answer, due, wait_s, deliver)
                else:
                    loop.call_later(limit_s, _time_out, due, limit_s, deliver)

    def _by_wait(self, keys: Keys) -> Iterable[tuple[float, Keys]]:
        if not isinstance(self._settings.latency_s, dict):
            yield float(self._settings.latency_s), keys
            return
        waits = self._latency(uniforms(self._seed + 1, keys))
        ticks = np.ceil(waits / TICK_S).astype(np.int64)
        order = np.argsort(ticks, kind="stable")
        starts = np.flatnonzero(np.diff(ticks[order], prepend=-1))
        for part in np.split(order, starts[1:]):
            yield float(ticks[part[0]] * TICK_S), keys[part]

    def _answer(self, answer: Answer, keys: Keys, waited_s: float, deliver: Deliver) -> None:
        texts = random_texts(answer, uniforms(self._seed, keys))
        deliver([Result(key, text, busy_s=waited_s) for key, text in zip(keys.tolist(), texts, strict=True)])


def _time_out(keys: Keys, limit_s: float, deliver: Deliver) -> None:
    text = f"no reply within {limit_s:g} s"
    deliver([Result(key, text, Finish.TIMEOUT, busy_s=limit_s) for key in keys.tolist()])


def random_texts(answer: Answer, u: NDArray[np.float64]) -> list[str]:
    """Return one acceptable reply for each uniform number in [0, 1)."""
    match answer:
        case Number():
            texts = _numbers(answer, u)
        case Choice():
            texts = [answer.options[int(x * len(answer.options))] for x in u.tolist()]
        case Text():
            texts = ["A dummy has nothing to say."[: answer.max_chars]] * len(u)
        case _:
            texts = [fill(answer.schema, x) for x in u.tolist()]
    return [with_mark(answer, text) for text in texts]


def _numbers(answer: Number, u: NDArray[np.float64]) -> list[str]:
    """Uniform over the grid of admissible numbers, both ends included."""
    grid, decimals = answer.grid, answer.decimals
    drawn = (np.floor(u * len(grid)).astype(np.int64) + grid.start).tolist()
    if decimals == 0:
        return [str(n) for n in drawn]
    return [f"{n / 10**decimals:.{decimals}f}" for n in drawn]


def latency(setting: float | dict[str, Any]) -> Latency:
    """Return how long requests wait.

    Raises ModelError for a distribution or parameters that scipy does not know.
    """
    if not isinstance(setting, dict):
        return lambda u: np.full(len(u), float(setting))
    from scipy import stats

    parameters = dict(setting)
    name = parameters.pop("distribution", None)
    kind = getattr(stats, str(name), None)
    if not isinstance(kind, stats.rv_continuous):
        raise ModelError(
            f"{name!r} is not a continuous distribution of scipy.stats",
            where="model.latency_s",
            hint='for example { distribution = "lognorm", s = 0.5, scale = 1.0 }',
        )
    try:
        frozen = kind(**{key: float(value) for key, value in parameters.items()})
        with np.errstate(invalid="ignore"):  # what comes of NaN is told below
            probe = frozen.ppf([0.01, 0.5, 0.99])
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{name}: {error}", where="model.latency_s", hint=_shape_hint(name, kind)) from error
    if not np.isfinite(probe).all():
        raise ModelError(
            f"{name}: these parameters are not allowed", where="model.latency_s", hint=_shape_hint(name, kind)
        )
    return lambda u: np.clip(frozen.ppf(u), 0.0, None)


def _shape_hint(name: str, kind: Any) -> str:
    shapes = f"{kind.shapes}, " if kind.shapes else ""
    return f"{name} takes {shapes}loc and scale (seconds)"


def _no_latency(u: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.zeros(len(u))


def _by_form(requests: Sequence[Request]) -> Iterable[tuple[int, Keys]]:
    forms = {request.form for request in requests}
    for form in sorted(forms):
        yield form, np.array([r.key for r in requests if r.form == form], dtype=np.int64)
