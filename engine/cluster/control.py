"""The control link: what a run tells whoever watches it, and what they may ask of it."""

from __future__ import annotations

import msgspec

from engine.population.persona.diversity import Diversity
from engine.scenarios.scenario import Outcome


class TimeSplit(msgspec.Struct, frozen=True, array_like=True):
    """Where a round's wall time went, in seconds.

    The first four are averages over the workers and add up to the round's wall time; `journal_s` is the
    journal writer's own time, spent beside them.
    """

    model_s: float = 0.0
    """Waiting on the model with nothing else to do."""
    agents_s: float = 0.0
    """Running agents' code and parsing replies."""
    messages_s: float = 0.0
    """Packing, sending and unpacking batches."""
    idle_s: float = 0.0
    """Waiting for other workers, for the next round, or for the journal."""
    journal_s: float = 0.0


class Usage(msgspec.Struct, frozen=True, array_like=True):
    """What a model has been used for by a part of the population."""

    model: str
    slice: str
    """Empty for the agents outside of all slices."""
    calls: int
    tokens_in: int
    """Of whole prompts; `tokens_cached` of them cost the model no work."""
    tokens_out: int
    tokens_cached: int
    cost: float | None = None
    """In `currency`; None for a model without prices."""
    currency: str = ""


class Snapshot(msgspec.Struct, frozen=True, tag=True):
    """The state of a run, a few times a second."""

    state: str
    """"starting", "writing" (personas, by a model), "rebuilding" (a resumed run, up to where it stood),
    "running", "done", "failed", "interrupted" or "budget"."""
    round: int
    """The round that the slowest group is in; 0 before the first."""
    rounds: int
    n_agents: int
    """While personas are written, those whose personas are."""
    n_done: int
    """Agents that have finished this round, failed ones included; or that have a persona."""
    in_flight: int
    """Model requests that wait for a reply."""
    rate: float
    """Agents finished a second, over the last few seconds."""
    elapsed_s: float
    eta_s: float | None
    """Seconds to the end of the run; None while there is nothing to base it on."""
    eta_basis: str
    """What the estimate rests on, in words."""
    failures: dict[str, int]
    """Failed and repaired replies, and failed agents, so far, by kind."""
    usage: list[Usage] = []
    """Of the run so far, what was spent before it was resumed included."""
    token_rate: float = 0.0
    """Tokens of replies a second, over the last few seconds."""


class RoundReport(msgspec.Struct, frozen=True, tag=True):
    """A round that all groups have finished."""

    round: int
    outcome: Outcome
    n_agents: int
    n_answered: int
    n_excluded: int
    """Agents whose model gave no acceptable answer; they may act again next round."""
    n_failed: int
    """Agents stopped by an error of their own, up to and in this round."""
    seconds: float
    cpu_s: float
    """CPU time of all processes of the run in this round."""
    split: TimeSplit
    n_affected: int = 0
    """Agents with an entry in the failure ledger in this round."""
    unaffected: dict[str, int | float | str | None] | None = None
    """The stats of the outcome without them; None if there are none."""
    usage: list[Usage] = []
    """What was used since the round before was over."""


class WritingReport(msgspec.Struct, frozen=True):
    """What became of the personas that a model was to write."""

    model: str
    people: int
    written: int
    fallen_back: int
    """Who got the template's text after the last retry."""
    asked: int
    """Requests to the model, since this run was last started."""
    cached: int
    """Requests that had been paid for before."""
    seconds: float
    refused: dict[str, int] = {}
    """How often a text was not taken, by reason."""


class PeopleReport(msgspec.Struct, frozen=True, tag=True):
    """Who the agents are, in figures."""

    n_agents: int
    attributes: int
    workers: int
    ties: int = 0
    crossing: float = 0.0
    """Share of the ties that lead from one worker to another."""
    writing: WritingReport | None = None
    diversity: Diversity | None = None
    """Of a sample of the personas, if there are any."""


class Notice(msgspec.Struct, frozen=True, tag=True):
    """Something worth a line: a model being loaded, an agent that raised for the first time."""

    level: str
    """"info", "warning" or "error"."""
    text: str


class Finished(msgspec.Struct, frozen=True, tag=True):
    """The last word of a run."""

    state: str
    """"done", "failed", "interrupted" or "budget"."""
    exit_code: int
    what: str = ""
    """For a failed run: what happened, where, and the way out, as in SimtuiError."""
    where: str = ""
    hint: str = ""


Event = Snapshot | PeopleReport | RoundReport | Notice | Finished


class Watch(msgspec.Struct, frozen=True, tag=True):
    """Send me events from now on; rounds that are over are told again."""


class Stop(msgspec.Struct, frozen=True, tag=True):
    """End the run now, keeping everything so far."""

    reason: str = "asked to stop"


Command = Watch | Stop
