from __future__ import annotations

import threading

import msgspec
import numpy as np
import pytest

from engine.keys import pack
from engine.models.answers import Text

pytest.importorskip("llama_cpp")
from engine.models.llama_cpp.branch import Branch, Member
from engine.models.llama_cpp.kv_cells import Cells, Layout
from engine.models.llama_cpp.queue import WORTH_WAITING, Queue
from engine.models.protocol import Form, Request, Sampling

FORMS = {1: Form(Text(), Sampling()), 2: Form(Text(), Sampling(temperature=0))}
LAYOUT = Layout(b"magicseq", 1, 1, 1, 1, 1, 1, 0)
LONG = np.arange(2 * WORTH_WAITING, dtype=np.int32)


def member(agent: int, text: str = "same", form: int = 1, round_: int = 1) -> Member:
    tail = msgspec.Raw(msgspec.msgpack.encode([["user", text]]))
    return Member(Request(pack(round_, agent), 7, form, tail), lambda result: None, 0.0)


def cells(tokens: int) -> Cells:
    return Cells(np.zeros((1, tokens, 1), np.uint8), np.zeros((1, tokens, 1), np.uint8), LAYOUT)


def filled(*members: Member, contexts: int = 1) -> Queue:
    queue = Queue(10**6, contexts)
    queue.put(members, FORMS)
    return queue


def taken(queue: Queue, context: int = 0, running: int = 0) -> list[int]:
    """The agents of the branches that a context may take one after the other."""
    agents = []
    while (branch := queue.take(context, running + len(agents) or 1)) is not None:
        agents.append(branch.members[0].request.key >> 12 & 0xFFFF)
    return agents


def first(queue: Queue) -> Branch:
    branch = queue.take(0, 0)
    assert branch is not None
    return branch


def test_the_same_question_is_asked_once():
    queue = filled(member(0), member(1), member(2, "other"), member(3, form=2))
    assert [len(first(queue).members) for _ in range(3)] == [2, 1, 1]


def test_a_question_under_way_is_asked_anew():
    queue = filled(member(0))
    first(queue)
    queue.put([member(1)], FORMS)
    assert len(first(queue).members) == 1


def test_contexts_share_the_work_evenly():
    queue = filled(*(member(agent, str(agent)) for agent in range(9)), contexts=2)
    assert len([queue.take(0, running) for running in range(5)]) == 5
    assert queue.take(0, 5) is None
    assert [queue.take(1, running) is not None for running in range(4)] == [True] * 4


def test_who_needs_what_is_being_computed_is_held_until_it_is_there():
    queue = filled(member(0, "a"), member(1, "b"))
    admission = queue.admit(first(queue), LONG)
    assert admission is not None
    assert admission.promise is not None
    assert queue.admit(first(queue), LONG + 0) is None
    assert admission.promise.wanted
    assert queue.take(0, 1) is None
    queue.keep(LONG, cells(len(LONG)), admission.branch.members)
    again = queue.admit(first(queue), LONG)
    assert again is not None
    assert sum(part.tokens for part in again.cells) == len(LONG) - 1


def test_a_promise_taken_back_lets_the_others_go():
    queue = filled(member(0, "a"), member(1, "b"))
    admission = queue.admit(first(queue), LONG)
    assert queue.admit(first(queue), LONG) is None
    assert admission is not None
    assert admission.promise is not None
    queue.take_back(admission.promise)
    assert queue.admit(first(queue), LONG) is not None


def test_little_in_common_is_not_waited_for():
    queue = filled(member(0, "a"), member(1, "b"))
    other = LONG.copy()
    other[WORTH_WAITING - 1 :] += 1000
    assert queue.admit(first(queue), LONG) is not None
    assert queue.admit(first(queue), other) is not None


def test_without_sharing_nothing_is_held():
    queue = filled(member(0, "a"), member(1, "b"))
    queue.give_up_sharing()
    assert queue.admit(first(queue), LONG) is not None
    assert queue.admit(first(queue), LONG) is not None


def test_agents_with_a_known_past_come_first_the_latest_known_first():
    queue = filled()
    for agent in (3, 5):
        queue.keep(np.array([agent, 1], np.int32), cells(2), [member(agent)])
    queue.put([member(agent, str(agent), round_=2) for agent in range(6)], FORMS)
    assert taken(queue) == [5, 3, 0, 1, 2, 4]


def test_branches_that_parted_come_before_all_others():
    queue = filled(member(0, "a"))
    parted = Branch([member(9)], FORMS[1])
    queue.put_back([parted])
    assert first(queue) is parted


def test_closing_wakes_who_waits_and_returns_what_is_left():
    queue = filled()
    got: list[object] = []
    waiting = threading.Thread(target=lambda: got.append(queue.take(0, 0)))
    waiting.start()
    assert queue.close() == []
    waiting.join(10)
    assert got == [None]
    queue.put([member(0), member(1, "b")], FORMS)
    assert queue.take(0, 0) is None
    assert len(queue.close()) == 2
