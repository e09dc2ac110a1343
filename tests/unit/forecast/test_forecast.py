"""From a sample to the whole: exact where everything is regular, within the interval where it is not."""

from typing import Any

import msgspec
import numpy as np
import pytest

from engine.forecast.assumptions import assumptions
from engine.forecast.draws import Figure, figure, mean_over_rounds
from engine.forecast.extrapolation import OTHER_PROMPTS, Forecast, forecast
from engine.forecast.measurement import CACHED, CALLS, IN, OUT, Measurement
from engine.forecast.sample import sample_of
from engine.models.settings import Dummy, LlamaCpp, Model
from engine.population.persona.settings import Persona, Writer
from engine.preset.schema import Engine, Population, Preset, Slice
from engine.scenarios.guess_average import GuessAverageSettings

PRICED = LlamaCpp(price_in=1, price_out=10, price_cached=0.1, currency="EUR", context_tokens=100_000)


def preset(model: Model = PRICED, *, size: int = 1000, rounds: int = 10, **more: Any) -> Preset:
    return Preset(
        name="trial",
        scenario=GuessAverageSettings(rounds=rounds),
        population=Population(size=size),
        model=model,
        **more,
    )


def regular(n_agents: int = 20, seen: int = 3, seconds_a_token: float = 0.001) -> Measurement:
    """Each agent's prompt has 100 tokens and grows by 20 a round; half is cached; replies have 5."""
    counts = np.zeros((n_agents, seen, 4))
    counts[:, :, CALLS] = 1
    counts[:, :, IN] = 100 + 20 * np.arange(seen)
    counts[:, :, CACHED] = counts[:, :, IN] / 2
    counts[:, :, OUT] = 5
    work = (counts[:, :, IN] - counts[:, :, CACHED] + counts[:, :, OUT]).sum(axis=0)
    return Measurement(2.0, work * seconds_a_token, {(0, "default"): counts})


def exactly(value: float, share: float = 0.0) -> Figure:
    """A figure without an interval, but for the share that other prompts may differ by."""
    return Figure(*(pytest.approx(value * part) for part in (1, 1 - share, 1 + share)))  # type: ignore[arg-type]


def roughly(value: float) -> Figure:
    return exactly(value, OTHER_PROMPTS)


def made(whole: Preset, measured: Measurement, n: int = 20) -> Forecast:
    return forecast(whole, sample_of(whole, n), measured)


def test_a_regular_game_is_continued_exactly() -> None:
    found = made(preset(), regular())
    prompts = [100 + 20 * k for k in range(10)]
    assert found.prompt_tokens == pytest.approx(prompts)
    use = found.models["default"]
    assert use == found.total
    assert use.calls == exactly(10_000)
    assert use.tokens_in == roughly(1000 * sum(prompts))
    assert use.tokens_cached == roughly(1000 * sum(prompts) / 2)
    assert use.tokens_out == exactly(50_000)
    assert use.cost == roughly((500 * sum(prompts) * 1.1 + 500_000) / 1e6)
    assert use.currency == "EUR"
    assert found.seconds == exactly(2 + 0.001 * (500 * sum(prompts) + 50_000))


def test_a_sample_of_everything_is_the_measurement() -> None:
    found = made(preset(size=20, rounds=3), regular())
    assert found.total.tokens_in == exactly(20 * (100 + 120 + 140))


def test_what_the_sample_shows_of_one_round_is_continued_without_growth() -> None:
    assert made(preset(), regular(seen=1)).prompt_tokens == pytest.approx([100] * 10)


def test_prompts_end_at_the_context() -> None:
    small = LlamaCpp(context_tokens=256)
    assert made(preset(small, rounds=50), regular()).prompt_tokens[-1] == 256


def test_agents_that_differ_give_an_interval_around_the_truth() -> None:
    rng = np.random.default_rng(5)
    hits, trials, whole = 0, 80, preset(rounds=3)
    for trial in range(trials):
        everyone = rng.gamma(2.0, 50.0, 1000)
        measured = regular(40)
        measured.counts[0, "default"][:, :, IN] = everyone[:40, None]
        found = forecast(whole, sample_of(whole, 40), measured, seed=trial).total.tokens_in
        assert found.low < 0.95 * found.value < 1.05 * found.value < found.high
        hits += found.low <= 3 * everyone.sum() <= found.high
    assert 0.8 < hits / trials <= 0.99, "nine of ten, nearly"


def test_slices_count_with_their_own_share_and_model() -> None:
    whole = preset(
        models={"other": Dummy(price_in=2, price_out=2, currency="USD")},
        slices=(Slice(name="some", share=0.25, model="other"),),
    )
    half = np.zeros((10, 3, 4))
    half[:, :, [CALLS, IN, OUT]] = 1, 10, 1
    both = Measurement(
        0.0, np.ones(3), {(0, "default"): regular(30).counts[0, "default"], (1, "other"): half}
    )
    found = forecast(whole, sample_of(whole, 40), both)
    assert found.models["other"].tokens_in == roughly(250 * 10 * 10)
    assert found.models["default"].calls == exactly(7500)
    assert found.total.calls == exactly(10_000)
    assert found.models["other"].cost == roughly(250 * 11 * 10 * 2 / 1e6)
    assert found.total.cost is None, "two currencies"


def test_a_slice_that_the_sample_has_nobody_of_is_taken_to_be_like_the_others() -> None:
    whole = preset(slices=(Slice(name="rare", share=0.002),))
    found = forecast(whole, sample_of(whole, 20), regular())
    assert found.total.calls == exactly(10_000)
    told = assumptions(whole, sample_of(whole, 20), regular())
    assert any("nobody of slice rare, 2 agents" in line for line in told)


def test_a_dummy_takes_as_long_for_many_as_for_few_but_the_engine_does_not() -> None:
    measured = Measurement(0.5, np.full(3, 1.0), regular().counts)
    whole = preset(Dummy(), size=1_000_000, engine=Engine(workers=5))
    assert made(whole, measured).seconds == exactly(0.5 + 10 + 10 * 1_000_000 * 25e-6 / 5)


def test_rounds_of_different_speed_widen_the_interval() -> None:
    found = made(preset(), Measurement(0.0, np.array([1.0, 2.0, 3.0]), regular().counts)).seconds
    assert found.low < 0.7 * found.value
    assert found.high > 1.3 * found.value


@pytest.mark.parametrize("limit", [{"requests_per_minute": 60}, {"tokens_per_minute": 195 * 60}])
def test_a_rate_limit_is_the_least_time(limit: dict[str, float]) -> None:
    assert made(preset(LlamaCpp(**limit)), regular(seconds_a_token=1e-9)).seconds.value == pytest.approx(
        10_002
    )  # type: ignore[arg-type]


def test_a_model_that_counts_no_tokens_is_measured_by_its_calls() -> None:
    counts = np.zeros((20, 3, 4))
    counts[:, :, CALLS] = 1
    found = made(preset(), Measurement(0.0, np.full(3, 2.0), {(0, "default"): counts}))
    assert found.seconds == exactly(1000 * 10 * 2.0 / 20)


def test_what_an_estimate_rests_on_is_told() -> None:
    whole = preset()
    told = " ".join(assumptions(whole, sample_of(whole, 20), regular()))
    for part in (
        "rounds 4 to 10",
        "context_tokens",
        "first of the population",
        "5% longer",
        "20 requests",
        "50% of them",
    ):
        assert part in told
    everything = preset(Dummy(), size=20, rounds=3)
    assert assumptions(everything, sample_of(everything, 20), regular()) == [
        "The model takes any number of requests at once."
    ]
    assert "saw no other" in assumptions(whole, sample_of(whole, 20), regular(seen=1))[0]


def test_figures_have_an_interval_of_nine_in_ten() -> None:
    draws = np.concatenate([[50.0], np.arange(101.0)])
    assert figure(draws) == Figure(50, 5, 95)
    one_round = mean_over_rounds(np.array([2.0]), np.random.default_rng(1))
    assert set(one_round) == {2.0}


def test_writing_personas_is_said_to_come_on_top() -> None:
    writer = Writer(prompt="Tell.", share=0.5)
    people = Population(size=1000, persona=Persona(template="You.", writer=writer))
    whole = msgspec.structs.replace(preset(), population=people)
    measured = Measurement(0.5, np.full(3, 1.0), regular().counts, (12, 3400, 560))
    told = " ".join(assumptions(whole, sample_of(whole, 20), measured))
    assert "for 50% of 1,000 agents" in told
    assert "the sample's 20 it took 12 calls, 3,400 tokens of prompts and 560 of replies" in told
