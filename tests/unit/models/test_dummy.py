"""The dummy model: every request waits its full time, then gets a random answer that is acceptable."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta
from scipy import stats

from engine.errors import ModelError
from engine.keys import pack
from engine.models.answers import Answer, Choice, Json, Number, Text
from engine.models.dummy import TICK_S, DummyBackend, latency, random_texts
from engine.models.protocol import Catalogue, Finish, Request, Result
from engine.models.settings import Dummy
from tests.fakes import clockwork
from tests.fakes.model_calls import calls, user

GUESS = Number(0, 100)


def answered(
    n: int,
    settings: Dummy,
    *,
    answers: Sequence[Answer] = (GUESS,),
    seed: int = 1,
    batch: int | None = None,
    at_s: float = 0.0,
) -> dict[int, tuple[float, Result]]:
    """Return, by agent, when each of n requests was answered (seconds since it was made) and how."""

    async def play() -> dict[int, tuple[float, Result]]:
        catalogue = Catalogue()
        backend = DummyBackend(settings, catalogue, seed)
        await backend.open()
        loop = asyncio.get_running_loop()
        if at_s:
            await asyncio.sleep(at_s)
        begun = loop.time()
        got: list[tuple[float, Result]] = []
        complete = asyncio.Event()

        def deliver(results: list[Result]) -> None:
            got.extend((loop.time() - begun, result) for result in results)
            if len(got) >= n:
                complete.set()

        requests: list[Request] = []
        for i, answer in enumerate(answers):
            requests += calls(catalogue, answer, [user("?")] * n)[i :: len(answers)]
        size = batch or n
        for start in range(0, n, size):
            backend.submit(requests[start : start + size], deliver)
        await complete.wait()
        await backend.close()
        assert len({result.key for _, result in got}) == len(got) == n, "each is answered once"
        return {result.key >> 12 & (2**31 - 1): (at, result) for at, result in got}

    return clockwork.run(play())  # type: ignore[no-any-return]


@pytest.mark.parametrize("wait_s", [0.0, 0.05, 1.0, 3600.0])
def test_every_request_waits_its_full_time(wait_s: float) -> None:
    for at, result in answered(100, Dummy(latency_s=wait_s), at_s=7.3).values():
        assert at == pytest.approx(wait_s, abs=1e-6)
        assert result.busy_s == wait_s
        assert result.finish is Finish.STOP


def test_a_request_that_comes_later_waits_as_long() -> None:
    async def play() -> list[float]:
        catalogue = Catalogue()
        backend = DummyBackend(Dummy(latency_s=1.0), catalogue, 1)
        await backend.open()
        loop = asyncio.get_running_loop()
        times: list[float] = []
        done = asyncio.Event()

        def deliver(results: list[Result]) -> None:
            times.extend(loop.time() for _ in results)
            if len(times) == 3:
                done.set()

        for request in calls(catalogue, GUESS, [user("?")] * 3):
            backend.submit([request], deliver)
            await asyncio.sleep(0.3)
        await done.wait()
        return times

    assert clockwork.run(play()) == pytest.approx([1.0, 1.3, 1.6])


@pytest.mark.parametrize(
    ("setting", "distribution"),
    [
        ({"distribution": "lognorm", "s": 0.5, "scale": 1.0}, stats.lognorm(0.5)),
        ({"distribution": "gamma", "a": 2.0, "scale": 0.5}, stats.gamma(2.0, scale=0.5)),
        ({"distribution": "uniform", "loc": 1, "scale": 2}, stats.uniform(1, 2)),
    ],
    ids=["lognorm", "gamma", "uniform"],
)
def test_latencies_follow_the_distribution(setting: dict[str, Any], distribution: Any) -> None:
    got = answered(4_000, Dummy(latency_s=setting))
    waits = np.array([at for at, _ in got.values()])
    assert stats.kstest(waits - TICK_S / 2, distribution.cdf).pvalue > 0.001


def test_nobody_is_answered_before_its_time_nor_much_after() -> None:
    setting = {"distribution": "expon", "scale": 0.2}
    got = answered(2_000, Dummy(latency_s=setting))
    from engine.draws import uniforms

    keys = np.array([pack(1, agent) for agent in sorted(got)])
    due = latency(setting)(uniforms(2, keys))  # the stream of seed + 1
    late = np.array([got[agent][0] for agent in sorted(got)]) - due
    assert late.min() >= -1e-6
    assert late.max() <= TICK_S + 1e-6


def test_a_distribution_below_zero_does_not_wait() -> None:
    got = answered(200, Dummy(latency_s={"distribution": "norm", "loc": 0.0, "scale": 0.1}))
    waits = np.array([at for at, _ in got.values()])
    assert waits.min() >= 0
    assert np.mean(waits == 0) == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize("batch", [1, 7, 100])
def test_answers_do_not_depend_on_batches(batch: int) -> None:
    setting = {"distribution": "lognorm", "s": 0.5}
    whole, parts = (
        answered(100, Dummy(latency_s=setting)),
        answered(100, Dummy(latency_s=setting), batch=batch),
    )
    assert {a: (round(t, 6), r) for a, (t, r) in whole.items()} == {
        a: (round(t, 6), r) for a, (t, r) in parts.items()
    }


def test_answers_depend_on_the_seed() -> None:
    ours, theirs = answered(100, Dummy(latency_s=0)), answered(100, Dummy(latency_s=0), seed=2)
    assert sum(ours[a][1].text == theirs[a][1].text for a in ours) < 10


def test_answers_and_latencies_are_independent() -> None:
    got = answered(4_000, Dummy(latency_s={"distribution": "uniform"})).values()
    waits, numbers = np.array([(at, float(result.text)) for at, result in got]).T
    assert abs(np.corrcoef(waits, numbers)[0, 1]) < 0.06


def test_requests_of_several_forms_in_one_batch() -> None:
    forms = (GUESS, Choice(("yes", "no")), Text())
    got = answered(30, Dummy(latency_s=0.1), answers=forms)
    for agent, (_, result) in got.items():
        forms[agent % 3].parse(result.text)


def test_a_request_that_would_wait_longer_than_allowed_times_out_then() -> None:
    setting = {"distribution": "uniform", "loc": 0.0, "scale": 2.0}
    got = answered(200, Dummy(latency_s=setting, timeout_s=1.0)).values()
    late = [(at, result) for at, result in got if result.finish is Finish.TIMEOUT]
    assert 70 < len(late) < 130
    for at, result in late:
        assert at == pytest.approx(1.0)
        assert result.text == "no reply within 1 s"
    assert max(at for at, result in got if result.finish is Finish.STOP) <= 1.0


# latency settings


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({}, "None is not a continuous distribution"),
        ({"distribution": "zipf", "a": 2}, "'zipf' is not a continuous distribution"),
        ({"distribution": "no such"}, "'no such' is not"),
        ({"distribution": 7}, "7 is not"),
        ({"distribution": "__class__"}, "is not a continuous distribution"),
        ({"distribution": "rv_continuous"}, "is not a continuous distribution"),
        ({"distribution": "lognorm"}, "lognorm: "),
        ({"distribution": "lognorm", "s": -1}, "these parameters are not allowed"),
        ({"distribution": "lognorm", "s": "wide"}, "lognorm: "),
        ({"distribution": "lognorm", "s": 0.5, "sigma": 1}, "sigma"),
        ({"distribution": "norm", "scale": 0}, "these parameters are not allowed"),
        ({"distribution": "norm", "loc": float("nan")}, "these parameters are not allowed"),
        ({"distribution": "norm", "loc": [1, 2, 3]}, "norm: "),
        ({"distribution": "norm", "loc": {"a": 1}}, "norm: "),
        ({"distribution": "norm", "loc": 10**400}, "norm: "),
    ],
)
def test_a_bad_latency_is_refused_with_a_reason(setting: dict[str, Any], told: str) -> None:
    with pytest.raises(ModelError) as caught:
        latency(setting)
    assert told in caught.value.what
    assert caught.value.where == "model.latency_s"
    assert caught.value.hint


def test_the_hint_names_the_parameters() -> None:
    with pytest.raises(ModelError) as caught:
        latency({"distribution": "lognorm"})
    assert caught.value.hint == "lognorm takes s, loc and scale (seconds)"


# answers


@given(
    low=st.decimals(-1000, 1000, places=2),
    width=st.decimals(0, 500, places=2),
    decimals=st.integers(0, 3),
    reasoning=st.sampled_from([0, 10]),
)
def test_every_random_number_is_acceptable(low: Any, width: Any, decimals: int, reasoning: int) -> None:
    answer = Number(float(low), float(low + width), decimals, reasoning)
    if answer.grid:
        for text in random_texts(answer, np.array([0.0, 0.3, 0.999, 1 - 2**-53])):
            answer.parse(text)


@pytest.mark.parametrize(
    ("answer", "first", "last"),
    [
        (Number(0, 100), "0", "100"),
        (Number(0.5, 9.5), "1", "9"),
        (Number(-3, 3), "-3", "3"),
        (Number(0, 4.35, 2), "0.00", "4.35"),
        (Number(0.1, 0.3, 1), "0.1", "0.3"),
    ],
)
def test_both_ends_of_the_range_are_drawn(answer: Number, first: str, last: str) -> None:
    assert random_texts(answer, np.array([0.0, 1 - 2**-53])) == [first, last]


def test_whole_numbers_are_uniform() -> None:
    drawn = random_texts(Number(1, 6), np.linspace(0, 1, 6_000, endpoint=False))
    assert {text: drawn.count(text) for text in set(drawn)} == {str(n): 1_000 for n in range(1, 7)}


def test_choices_are_uniform() -> None:
    drawn = random_texts(Choice(("a", "b", "c")), np.linspace(0, 1, 300, endpoint=False))
    assert [drawn.count(option) for option in "abc"] == [100, 100, 100]


def test_a_short_text_is_short() -> None:
    Text(max_chars=3).parse(random_texts(Text(max_chars=3), np.zeros(1))[0])


class Part(msgspec.Struct):
    name: str
    weight: float


class Report(msgspec.Struct):
    part: Part
    parts: list[Part]
    level: int
    sure: bool
    score: Annotated[int, Meta(gt=0, lt=4)]
    loss: Annotated[float, Meta(le=-5)]
    kind: str | None = None
    pair: tuple[int, int] = (0, 0)
    mood: Literal["good", "bad"] = "good"
    inner: "Report | None" = None


@given(st.floats(0, 1, exclude_max=True))
def test_random_json_fits_its_schema(u: float) -> None:
    answer = Json(Report)
    report = answer.parse(random_texts(answer.wire, np.array([u]))[0])
    assert isinstance(report, Report)
