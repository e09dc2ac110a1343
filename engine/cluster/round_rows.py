"""Ends of rounds as rows of the journal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.cluster.control import RoundReport, TimeSplit, Usage
from engine.cluster.rounds import GroupRound
from engine.journal.rounds import Round
from engine.scenarios.scenario import Outcome


def row_of(report: RoundReport, ended: float) -> Round:
    """Return the row over all groups; `ended` in seconds since 1970."""
    split = report.split
    return Round(
        round=report.round,
        n_answered=report.n_answered,
        n_excluded=report.n_excluded,
        n_failed=report.n_failed,
        n_affected=report.n_affected,
        stats=report.outcome.stats,
        histogram=report.outcome.histogram,
        low=report.outcome.low,
        high=report.outcome.high,
        started=ended - report.seconds,
        seconds=report.seconds,
        cpu_s=report.cpu_s,
        model_s=split.model_s,
        agents_s=split.agents_s,
        messages_s=split.messages_s,
        idle_s=split.idle_s,
        journal_s=split.journal_s,
        unaffected=report.unaffected,
    )


def report_of(row: Round, n_agents: int, usage: list[Usage] | None = None) -> RoundReport:
    """Return a round that the journal already has, as it was reported."""
    times = (row.model_s, row.agents_s, row.messages_s, row.idle_s, row.journal_s)
    return RoundReport(
        round=row.round,
        outcome=Outcome(row.stats, None, row.histogram, row.low, row.high),
        n_agents=n_agents,
        n_answered=row.n_answered,
        n_excluded=row.n_excluded,
        n_failed=row.n_failed,
        seconds=row.seconds,
        cpu_s=row.cpu_s or 0.0,
        split=TimeSplit(*(seconds or 0.0 for seconds in times)),
        n_affected=row.n_affected,
        unaffected=row.unaffected,
        usage=usage or [],
    )


def usage_by_round(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[Usage]]:
    """Return what the journal says was used, by round; the rows are those of Reader.usage."""
    found: dict[int, list[Usage]] = {}
    for round_, *used in rows:
        found.setdefault(round_, []).append(Usage(*used))
    return found


def outcome_differs(now: Outcome, then: Outcome) -> bool:
    """Tell whether a repeated round has come to another end; JSON keeps every bit of a number."""
    return dict(now.stats) != dict(then.stats) or list(now.histogram) != list(then.histogram)


def row_of_group(round_: int, group: int, state: GroupRound, ended: float, seconds: float) -> Round:
    """Return the row of one group; `ended` in seconds since 1970, `seconds` is how long it took."""
    outcome = state.outcome
    assert outcome is not None, "a group is journalled when its round is over"
    return Round(
        round=round_,
        grp=group,
        n_answered=state.count("n_answered"),
        n_excluded=state.count("n_excluded"),
        n_failed=state.count("n_failed"),
        n_affected=state.count("n_affected"),
        stats=outcome.stats,
        histogram=outcome.histogram,
        low=outcome.low,
        high=outcome.high,
        started=ended - seconds,
        seconds=seconds,
    )
