"""Whether rounds, replies and failures add up."""

from __future__ import annotations

from collections.abc import Iterator

from engine.journal.rounds import ALL_GROUPS, ROUND_COLUMNS, Round
from engine.keys import pack, unpack
from engine.models.answers import Problem
from engine.verify.check import MAX_NAMED, Check, Subject

_ALL = f"SELECT {', '.join(ROUND_COLUMNS)} FROM rounds ORDER BY round, grp"  # noqa: S608
_STOPPED = "SELECT round, count(DISTINCT agent) FROM failures WHERE action = 'agent stopped' GROUP BY round"
_BEYOND = f"SELECT key FROM replies WHERE agent >= ? OR round > ? LIMIT {MAX_NAMED}"  # noqa: S608
_UNFILED = f"""
SELECT key, problem FROM replies WHERE problem IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM failures WHERE failures.key = replies.key AND kind = problem) LIMIT {MAX_NAMED}"""  # noqa: S608
_BASELESS = f"""
SELECT key, kind FROM failures WHERE kind IN ({", ".join("?" * len(Problem))}) AND key < ? AND NOT EXISTS (
  SELECT 1 FROM replies WHERE replies.key = failures.key AND problem = kind) LIMIT {MAX_NAMED}"""  # noqa: S608
_GAPS = """
SELECT key >> 12, count(*), max(key & 4095) FROM replies
WHERE key >= ? AND key < ? AND key & 2048 = 0 GROUP BY key >> 12 HAVING count(*) <= max(key & 4095)"""
_ENDED_EARLY = "SELECT 1 FROM failures WHERE key >> 12 = ? AND action <> 'asked again'"
_CALLS_OTHERS = """
SELECT 1 WHERE EXISTS (SELECT 1 FROM messages WHERE kind = 'ask')
  OR EXISTS (SELECT 1 FROM _environment_calls)"""
_ANSWERED = "SELECT count(*) FROM answers WHERE key >= ? AND key < ?"


def rounds(subject: Subject) -> Iterator[Check]:
    """Answered, excluded and failed agents are all agents; groups add up to the whole; so do histograms."""
    check, n_agents = Check("counts of rounds add up"), _ids(subject)
    rows = subject.file.rows(_ALL)
    with subject.file.reading():
        ends = [Round.from_row(row) for row in rows]
    overall = [end for end in ends if end.grp == ALL_GROUPS]
    if n_agents is None:
        check.unchecked.append("the file does not say how many agents there are")
        yield check
        return
    all_act = subject.fact("all_act") != 0 and not subject.fact("dynamic")
    stopped, n_stopped = dict(subject.file.rows(_STOPPED)), 0
    for number, end in enumerate(overall, start=1):
        n_stopped += stopped.get(end.round, 0)
        for problem in _problems(end, number, n_agents, n_stopped, all_act=all_act):
            check.add(problem, 0)
        for problem in _of_groups(end, [part for part in ends if part.round == end.round], subject):
            check.add(problem, 0)
        check.add()
    yield check


def replies(subject: Subject) -> Iterator[Check]:
    """Replies belong to agents and rounds of the run; those without an answer are in the failure ledger."""
    check = Check("replies, rounds and failures agree")
    n_agents, n_rounds = _ids(subject), subject.fact("rounds")
    if n_agents is not None and n_rounds is not None:
        for (key,) in subject.file.rows(_BEYOND, n_agents, n_rounds):
            check.add(f"a reply of {_turn(key)}, of {n_agents:,} agents and {n_rounds:,} rounds")
    for key, problem in subject.file.rows(_UNFILED):
        check.add(f"{_turn(key)}: the reply is {problem}, which failures does not have")
    finished = max((end.round for end in subject.file.rounds()), default=0)
    for key, kind in subject.file.rows(_BASELESS, *Problem, pack(finished + 1, 0)):
        check.add(f"{_turn(key)}: failures has {kind}, which no reply is")
    for end in subject.file.rounds():
        _check_round(subject, end, check)
    yield check


def _ids(subject: Subject) -> int | None:
    """Return how many agents there may be."""
    n_agents = subject.fact("agents")
    return None if n_agents is None else n_agents + (subject.fact("places") or 0)


def _problems(end: Round, number: int, n_agents: int, n_stopped: int, *, all_act: bool) -> Iterator[str]:
    where = f"round {end.round}"
    if end.round != number:
        yield f"{where} comes after round {number - 1}"
    total = end.n_answered + end.n_excluded + end.n_failed
    if total > n_agents or (all_act and total < n_agents):
        yield f"{where}: {total:,} agents answered, excluded and failed, of {n_agents:,}"
    if end.n_failed != n_stopped:
        yield f"{where}: {end.n_failed:,} agents failed, failures has {n_stopped:,}"


def _of_groups(end: Round, parts: list[Round], subject: Subject) -> Iterator[str]:
    where, groups = f"round {end.round}", [part for part in parts if part.grp != ALL_GROUPS]
    for part in parts:
        n = sum(part.histogram)
        if part.histogram and n != part.n_answered:
            yield f"{where}, group {part.grp}: {part.n_answered:,} answered, the histogram has {n:,}"
    expected = subject.fact("groups") or 1
    if len(groups) != (expected if expected > 1 else 0):
        yield f"{where}: {len(groups):,} groups of {expected:,}"
        return
    for name in ("n_answered", "n_excluded", "n_failed") if groups else ():
        if sum(getattr(part, name) for part in groups) != getattr(end, name):
            yield f"{where}: {name} of the groups is not that of the round"


def _check_round(subject: Subject, end: Round, check: Check) -> None:
    span = pack(end.round, 0), pack(end.round + 1, 0)
    ((n_answers,),) = subject.file.rows(_ANSWERED, *span)
    check.n += n_answers
    if n_answers < end.n_answered:
        check.unchecked.append(
            f"round {end.round}: {end.n_answered - n_answers:,} answers are not from a reply of their step: "
            "a fallback, or an agent that did not ask"
        )
    if not subject.file.rows(_CALLS_OTHERS):
        for turn, n, last in subject.file.rows(_GAPS, *span):
            if not subject.file.row(_ENDED_EARLY, turn):
                check.add(f"{_turn(turn << 12)}: {n} replies, but the last is to call {last}")


def _turn(key: int) -> str:
    return f"round {unpack(key).round}, agent {unpack(key).agent}"
