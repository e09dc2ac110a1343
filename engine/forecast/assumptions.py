"""What an estimate rests on, in words."""

from __future__ import annotations

from collections.abc import Iterator

from engine.forecast.extrapolation import OTHER_PROMPTS
from engine.forecast.measurement import CACHED, IN, Measurement, slice_sizes
from engine.models.settings import Dummy, LlamaCpp, Policy
from engine.preset.schema import DEFAULT_MODEL, Preset


def assumptions(preset: Preset, sample: Preset, measured: Measurement) -> list[str]:
    """Return a sentence for each thing that has to hold."""
    return [
        *_of_length(preset, measured),
        *_of_size(preset, sample),
        *_of_writing(preset, sample, measured),
        *_of_speed(preset, sample, measured),
    ]


def _of_length(preset: Preset, measured: Measurement) -> Iterator[str]:
    n_rounds, seen = preset.scenario.rounds, measured.n_rounds
    if n_rounds <= seen:
        return
    if seen == 1:
        yield f"Rounds 2 to {n_rounds:,} are like the first: the sample saw no other, so prompts do not grow."
    else:
        yield (
            f"In rounds {seen + 1:,} to {n_rounds:,} prompts grow by as much a round as in the first {seen}, "
            "and replies and retries stay as they were."
        )
    if any(isinstance(model, LlamaCpp) for model in (preset.model, *preset.models.values())):
        yield "Prompts never outgrow context_tokens."


def _of_size(preset: Preset, sample: Preset) -> Iterator[str]:
    if sample.population.size < preset.population.size:
        yield (
            "The agents of the sample are like the others, and prompts of the others are at most "
            f"{OTHER_PROMPTS:.0%} longer or shorter: the sample has the first of the population."
        )
    for name, n_all, n_seen in zip(
        ("those outside of all slices", *(f"slice {part.name}" for part in preset.slices)),
        slice_sizes(preset),
        slice_sizes(sample),
        strict=True,
    ):
        if n_all and not n_seen:
            yield f"The sample has nobody of {name}, {n_all:,} agents: they are taken to be like the others."


def _of_writing(preset: Preset, sample: Preset, measured: Measurement) -> Iterator[str]:
    persona = preset.population.persona
    if persona and persona.writer:
        calls, tokens_in, tokens_out = measured.writing
        n, n_seen = preset.population.size, sample.population.size
        yield (
            f"Writing personas comes on top, for {persona.writer.share:.0%} of {n:,} agents. For those of "
            f"the sample's {n_seen:,} it took {calls:,} calls, {tokens_in:,} tokens of prompts and "
            f"{tokens_out:,} of replies; what was paid for once is free."
        )


def _of_speed(preset: Preset, sample: Preset, measured: Measurement) -> Iterator[str]:
    used = {DEFAULT_MODEL: preset.model, **preset.models}
    if all(isinstance(used[name], Dummy | Policy) for _, name in measured.counts):
        yield "The model takes any number of requests at once."
        return
    n = sample.population.size
    yield (
        f"The model is as fast as with {n:,} requests at a time. If it can work on more at once, the run is "
        "faster; if other things use the machine, slower."
    )
    totals = measured.totals.sum(axis=0)
    if totals[CACHED]:
        share = totals[CACHED] / totals[IN]
        yield f"Its cache holds as much of later prompts as in the sample, where it held {share:.0%} of them."
