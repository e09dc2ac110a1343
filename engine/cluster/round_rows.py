"""Ends of rounds as rows of the journal."""

from __future__ import annotations

from engine.cluster.control import RoundReport
from engine.cluster.rounds import GroupRound
from engine.journal.rounds import Round


def row_of(report: RoundReport, ended: float) -> Round:
    """Return the row over all groups; `ended` in seconds since 1970."""
    split = report.split
    return Round(
        round=report.round,
        n_answered=report.n_answered,
        n_excluded=report.n_excluded,
        n_failed=report.n_failed,
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
    )


def row_of_group(round_: int, group: int, state: GroupRound, ended: float) -> Round:
    """Return the row of one group; `ended` in seconds since 1970."""
    outcome = state.outcome
    assert outcome is not None, "a group is journalled when its round is over"
    return Round(
        round=round_,
        grp=group,
        n_answered=state.count("n_answered"),
        n_excluded=state.count("n_excluded"),
        n_failed=state.count("n_failed"),
        stats=outcome.stats,
        histogram=outcome.histogram,
        low=outcome.low,
        high=outcome.high,
        started=state.began,
        seconds=ended - state.began,
    )
