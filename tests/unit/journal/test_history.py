"""What a run that is taken up again finds in its journal."""

from pathlib import Path
from typing import Any

import pytest

from engine.errors import JournalError
from engine.journal.batch import JournalBatch, MessageRow
from engine.journal.history import BLOCK_AGENTS, MAX_BLOCKS, History, Past
from engine.journal.rounds import Round
from engine.journal.writer import Writer
from engine.keys import pack
from tests.fakes.journal import ended, reply


def history(tmp_path: Path, rounds: list[Round] | None = None, **rows: Any) -> History:
    path = tmp_path / "run.db"
    writer = Writer(path)
    writer.add(JournalBatch(**rows))
    writer.rounds(rounds or [])
    writer.close()
    return History(path)


def question(
    round_: int, sender: int, receiver: int, turn: int, answer: str | None = "1", call: int = 0
) -> MessageRow:
    return (pack(round_, sender, call), "ask", round_, receiver, turn, sender, '"?"', answer, None)


def test_an_empty_journal(tmp_path: Path) -> None:
    empty = history(tmp_path)
    assert (empty.last_round, empty.finished) == (0, 0)
    assert empty.get(pack(1, 0)) is None
    assert empty.turns(1, 0) == []
    assert (dict(empty.ends), empty.given_up) == ({}, {})


def test_a_reply_comes_back_under_its_key(tmp_path: Path) -> None:
    rows = [reply(2, 7, call, value=call + 0.5, prompt=900 + call, text="long") for call in range(3)]
    found = history(tmp_path, replies=rows)
    assert found.get(pack(2, 7, 1)) == Past(901, 1.5, None, "stop", None, None)
    for absent in (pack(2, 7, 3), pack(2, 8, 1), pack(1, 7, 1), pack(3, 7, 1)):
        assert found.get(absent) is None


def test_of_a_reply_without_a_value_all_that_went_on_from_it_comes_back(tmp_path: Path) -> None:
    key = pack(1, 3)
    found = history(
        tmp_path,
        replies=[reply(1, 3, text="forty", problem="unparsed", prompt=5)],
        failures=[
            (key, "unparsed", "reply with one number", None, "asked again"),
            (key, "exception", "another matter", None, "agent stopped"),
        ],
    )
    assert found.get(key) == Past(5, None, "unparsed", "stop", "forty", "reply with one number")


def test_a_reply_that_was_repaired_has_a_value_and_a_remark(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        replies=[reply(1, 3, value=40.0, text="**40**", problem="repaired", prompt=5)],
        failures=[(pack(1, 3), "repaired", "reply with one number", None, "taken")],
    )
    assert found.get(pack(1, 3)) == Past(5, 40.0, "repaired", "stop", None, "reply with one number")


EDGES = [0, BLOCK_AGENTS - 1, BLOCK_AGENTS, 3 * BLOCK_AGENTS - 1, (1 << 31) - 1]


def test_blocks_have_no_gaps(tmp_path: Path) -> None:
    rows = [reply(round_, agent, value=float(agent)) for round_ in (1, 2) for agent in EDGES]
    found = history(tmp_path, replies=rows)
    for _ in range(2):
        for key, agent in [(pack(round_, agent), agent) for agent in EDGES for round_ in (2, 1)]:
            past = found.get(key)
            assert past is not None
            assert past.value == float(agent)


def test_a_block_is_read_once_while_it_is_in_use(tmp_path: Path) -> None:
    found = history(tmp_path, replies=[reply(1, agent, value=1.0) for agent in range(50)])
    read: list[str] = []
    found._connection.set_trace_callback(read.append)
    assert all(found.get(pack(1, agent)) for agent in range(50))
    assert all(found.get(pack(1, agent, 1)) is None for agent in range(50))
    assert len(read) == 1


def test_few_blocks_are_held(tmp_path: Path) -> None:
    agents = [n * BLOCK_AGENTS for n in range(MAX_BLOCKS + 1)]
    found = history(tmp_path, replies=[reply(1, agent, value=1.0) for agent in agents])
    read: list[str] = []
    found._connection.set_trace_callback(read.append)
    assert all(found.get(pack(1, agent)) for agent in (*agents, agents[0]))
    assert len(read) == len(agents) + 1


def test_rounds_beyond_the_last_one_are_not_looked_up(tmp_path: Path) -> None:
    found = history(tmp_path, replies=[reply(2, 1, value=1.0)], messages=[question(3, 1, 2, 0)])
    assert found.last_round == 3
    read: list[str] = []
    found._connection.set_trace_callback(read.append)
    assert found.get(pack(4, 1)) is None
    assert found.turns(4, 2) == []
    assert read == []


def test_turns_are_in_the_order_in_which_questions_were_taken_up(tmp_path: Path) -> None:
    far = BLOCK_AGENTS + 9
    rows = [
        question(1, 30, 9, 1),
        question(1, 20, 9, 0),
        question(1, 10, 9, 2, answer=None),
        question(1, 40, far, 0),
        question(2, 50, 9, 0),
        (None, "tell", 1, 9, 0, 60, '"!"', None, None),
    ]
    found = history(tmp_path, messages=rows)
    assert found.turns(1, 9) == [pack(1, 20), pack(1, 30), pack(1, 10)]
    assert found.turns(1, far) == [pack(1, 40)]
    assert found.turns(2, 9) == [pack(2, 50)]
    assert found.turns(1, 8) == found.turns(2, far) == []


def test_turns_that_ended_otherwise_are_known_by_where_they_ended(tmp_path: Path) -> None:
    rows = [
        (pack(1, 5, 3), "deadline", "computed for more than 1 s", None, "agent stopped"),
        (pack(2, 6, 2049), "isolated", "its worker died", None, "agent stopped"),
        (pack(2, 7), "exception", "its own fault", None, "agent stopped"),
    ]
    found = history(tmp_path, failures=rows)
    assert sorted(found.ends.values()) == [(pack(1, 5, 3), "deadline"), (pack(2, 6, 2049), "isolated")]
    assert all(place == end.key >> 12 for place, end in found.ends.items())


def test_a_turn_ends_at_the_first_of_its_ends(tmp_path: Path) -> None:
    rows = [(pack(1, 5, call), "isolated", "its worker died", None, "agent stopped") for call in (3, 1, 2)]
    assert [end.key for end in history(tmp_path, failures=rows).ends.values()] == [pack(1, 5, 1)]


def test_the_last_call_of_an_agent_is_one_to_its_model_or_to_another(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        replies=[
            reply(round_, agent, call) for round_ in (1, 2) for agent in (4, 5, 6) for call in (0, 2048)
        ],
        messages=[question(2, 5, 9, 0, call=2049), question(1, 6, 9, 0, call=7), question(3, 8, 7, 0)],
        failures=[(pack(3, 3, 1), "no answer", "agent 9 did not answer", None, "told the agent")],
    )
    assert found.last_call(3) == pack(3, 3, 1)
    assert found.last_call(4) == pack(2, 4, 2048)
    assert found.last_call(5) == pack(2, 5, 2049)
    assert found.last_call(6) == pack(2, 6, 2048)
    assert found.last_call(8) == pack(3, 8, 0)
    assert found.last_call(7) == 0


def test_questions_that_were_given_up_are_known_by_who_asked(tmp_path: Path) -> None:
    row = (pack(1, 1), "no answer", "agent 2 did not answer", None, "told the agent")
    assert history(tmp_path, failures=[row]).given_up == {pack(1, 1): "agent 2 did not answer"}


def test_a_round_is_finished_when_all_groups_have_ended_it(tmp_path: Path) -> None:
    found = history(tmp_path, [ended(1), ended(1, grp=0), ended(1, grp=1), ended(2, grp=1)])
    assert found.finished == 1


@pytest.mark.parametrize("content", [None, b"", b"not a database at all, but a text of some length" * 30])
def test_what_is_no_journal(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "run.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(JournalError, match="cannot be read"):
        History(path)


def test_damage_is_told_when_it_is_met(tmp_path: Path) -> None:
    found = history(tmp_path, replies=[reply(1, agent, value=1.0) for agent in range(3000)])
    path = tmp_path / "run.db"
    content = bytearray(path.read_bytes())
    content[len(content) // 4 : len(content) * 3 // 4] = b"\xff" * (len(content) // 2)
    path.write_bytes(content)
    with pytest.raises(JournalError, match="cannot be read") as caught:
        [found.get(pack(1, agent)) for agent in range(3000)]
    assert "damaged" in caught.value.hint
