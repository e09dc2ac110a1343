"""A small game as its run leaves it behind, every value and hash right, without playing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from engine.agents.replies import read_reply
from engine.journal.recorder import Recorder
from engine.journal.rounds import Round
from engine.journal.run_directory import RunDirectory
from engine.journal.transcripts import Transcripts
from engine.keys import pack
from engine.models.answers import Answer, Number, Unreadable
from engine.models.protocol import Form, Message, Result, Sampling, content_id
from tests.fakes.journal import ended
from tests.fakes.run_directories import make_run

PERCENT = Number(0, 100)
RULES = (Message("system", "Name a number."),)

Said = Sequence[str | None]
"""What each agent said in a round; None is an agent without a reply, that has failed."""


@dataclass(slots=True)
class _Call:
    key: int
    tail: tuple[Message, ...]
    prefix: int
    form: int
    slice: int = 0

    @property
    def prompt_id(self) -> int:
        """The id of the whole prompt, as in engine.agents.model."""
        tail = msgspec.msgpack.encode(self.tail)
        return int.from_bytes(blake2b(b"%x" % self.prefix + tail, digest_size=8).digest(), "big") >> 1


def play(
    path: Path,
    rounds: Sequence[Said],
    *,
    answer: Answer = PERCENT,
    transcripts: str = "all",
    max_chars: int = 1000,
    groups: int = 1,
    **manifest: Any,
) -> RunDirectory:
    """Make the run directory of a game in which each agent was asked once a round."""
    recorder = Recorder(Transcripts.parse(transcripts), max_chars)
    form, prefix = Form(answer, Sampling()), content_id(RULES)
    recorder.prefix(prefix, RULES)
    recorder.form(content_id(form), form)
    ends = []
    stopped: set[int] = set()
    for number, said in enumerate(rounds, start=1):
        values = {}
        for agent, text in enumerate(said):
            if text is None:
                if agent not in stopped:
                    recorder.failure(
                        pack(number, agent), "exception", "ValueError: no", "agent stopped", "Trace"
                    )
                stopped.add(agent)
            else:
                call = _Call(pack(number, agent), _question(number, agent), prefix, content_id(form))
                values[agent] = _reply(recorder, call, text, answer)
        ends += _ends(number, values, len(said), len(stopped), groups)
    n_agents = len(rounds[0])
    return make_run(
        path, recorder.take(), ends, agents=n_agents, rounds=len(rounds), groups=groups, **manifest
    )


def _question(round_: int, agent: int) -> tuple[Message, ...]:
    return (Message("user", f"You are player {agent}. Round {round_}: which number?"),)


def _reply(recorder: Recorder, call: _Call, text: str, answer: Answer) -> Any:
    result = Result(call.key, text, tokens_in=20, tokens_out=2, tokens_cached=10, busy_s=0.5)
    try:
        value, remark, detail = read_reply(answer, result)
        action = "taken"
    except Unreadable as unreadable:
        value, remark, detail, action = None, unreadable.problem, unreadable.detail, "exclude"
    recorder.reply(call, result, 1, value, remark)
    if remark is not None:
        recorder.failure(call.key, remark, detail, action)
    return value


def _ends(round_: int, values: Mapping[int, Any], n_agents: int, n_failed: int, groups: int) -> list[Round]:
    """Return the rows of a round: over all agents, and a row for each group if there are several."""
    size = n_agents // groups
    parts = {-1: range(n_agents)}
    if groups > 1:
        assert not n_failed, "which group the failed are in is not told"
        parts |= {group: range(group * size, (group + 1) * size) for group in range(groups)}
    return [
        _end(round_, group, [values.get(a) for a in members], n_failed) for group, members in parts.items()
    ]


def _end(round_: int, group: int, values: list[Any], n_failed: int) -> Round:
    given = [value for value in values if value is not None]
    numbers = [value for value in given if isinstance(value, float)]
    return ended(
        round_,
        grp=group,
        n_answered=len(given),
        n_excluded=len(values) - len(given) - n_failed,
        n_failed=n_failed,
        stats={"mean": sum(numbers) / len(numbers)} if numbers else {},
        histogram=[sum(v < 50 for v in numbers), sum(v >= 50 for v in numbers)] if numbers else [],
    )
