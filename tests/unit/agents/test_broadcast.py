"""Messages to many: on any number of workers they come to the same, and cross a link once."""

from typing import Any

import msgspec
import numpy as np
import pytest

from engine.agents.agent import Agent
from engine.agents.post import Post
from tests.fakes.town import Town

WORKERS = pytest.mark.parametrize("workers", [1, 2, 3, 6])


class Speaker(Agent):
    """Does what the test says, by agent."""

    async def step(self, observation: Any) -> None:
        self.world.scenario.does.get(self.id, lambda agent: None)(self)


def town(n: int, workers: int, does: dict[int, Any], *, coupled: bool = False, **limits: int) -> Town:
    found = Town(Speaker, n, workers, coupled=coupled, **limits)
    found.scenario.does = does
    return found


def letters(found: Town) -> int:
    """Count what is on its way, and let it arrive."""
    n = 0
    for office in found.offices:
        for there, post in office.mail.outgoing.posts():
            n += sum(len(batch.letters) for batch in post.batches)
            packed = msgspec.msgpack.encode(post)
            found.offices[there].mail.take(msgspec.msgpack.decode(packed, type=Post))
    return n


@WORKERS
def test_a_broadcast_reaches_all_others_once(workers: int) -> None:
    told = town(6, workers, {2: lambda agent: agent.broadcast({"n": 1})})
    told.play()
    assert [told.inbox(i) for i in range(6)] == [[] if i == 2 else [(2, {"n": 1})] for i in range(6)]


@WORKERS
def test_what_one_sender_says_keeps_its_order_in_whatever_way_it_is_said(workers: int) -> None:
    def speak(agent: Agent) -> None:
        agent.tell(5, 1)
        agent.broadcast(2)
        agent.publish("prices", 3)
        agent.broadcast(4, [5, 0])
        agent.tell(5, 5)

    told = town(6, workers, {3: speak, 1: speak, 5: lambda agent: agent.subscribe("prices")})
    told.play(5, 3, 1, 0, 2, 4)
    assert told.inbox(5) == [(sender, n) for sender in (1, 3) for n in (1, 2, 3, 4, 5)]


@WORKERS
def test_a_message_to_many_crosses_each_link_once(workers: int) -> None:
    def speak(agent: Agent) -> None:
        agent.broadcast("all")
        agent.broadcast("some", range(1, 12))
        agent.publish("prices", "few")

    told = town(12, workers, {0: speak})
    told.act(0)
    assert letters(told) == 3 * (workers - 1)
    assert told.sent == dict.fromkeys(range(1, workers), 3)
    assert [office.mail.arrived[1, 0] for office in told.offices[1:]] == [3] * (workers - 1)


def test_readers_share_one_copy() -> None:
    told = town(100, 1, {0: lambda agent: agent.broadcast("x" * 50, range(1, 100))})
    told.play(0)
    boxes = told.offices[0].mail._boxes
    assert len({id(boxes.look(i, 0, 1)[0][2]) for i in range(1, 100)}) == 1


def test_but_none_can_change_what_others_hear() -> None:
    told = town(3, 1, {0: lambda agent: agent.broadcast([1])})
    told.play(0)
    told.inbox(1)[0][1].append(2)
    assert told.inbox(2) == [(0, [1])]


@WORKERS
def test_who_is_subscribed_at_the_end_of_a_round_hears_what_was_published_in_it(workers: int) -> None:
    """Whoever acts first; and nobody hears itself."""
    does = {
        0: lambda agent: agent.publish("news", agent.round),
        5: lambda agent: (agent.subscribe("news"), agent.publish("news", -agent.round)),
        1: lambda agent: agent.subscribe("news"),
        4: lambda agent: (agent.subscribe("news"), agent.unsubscribe("news"), agent.unsubscribe("other")),
    }
    told = town(6, workers, does)
    told.play(0, 5, 1, 4, 3, 2)
    assert [told.inbox(i) for i in range(6)] == [[], [(0, 1), (5, -1)], [], [], [], [(0, 1)]]
    told.round = 2
    does[1] = lambda agent: agent.unsubscribe("news")
    told.play(5, 1, 0)
    assert [told.inbox(i) for i in range(6)] == [[], [], [], [], [], [(0, 2)]]


@pytest.mark.parametrize("coupled", [False, True])
@WORKERS
def test_topics_are_the_groups_own_unless_groups_are_coupled(workers: int, coupled: bool) -> None:
    def listen(agent: Agent) -> None:
        agent.subscribe("news")

    does = dict.fromkeys(range(1, 6), listen) | {0: lambda agent: agent.publish("news", "hello")}
    told = town(6, workers, does, coupled=coupled)
    for agent in told.agents:
        agent.world.group = agent.id // 3
        agent.world.members = range(3) if agent.id < 3 else range(3, 6)
    told.play()
    heard = [i for i in range(6) if told.inbox(i)]
    assert heard == ([1, 2, 3, 4, 5] if coupled else [1, 2])


@WORKERS
def test_a_broadcast_stays_in_the_group(workers: int) -> None:
    told = town(6, workers, {0: lambda agent: agent.broadcast("hello")}, coupled=True)
    for agent in told.agents:
        agent.world.group = agent.id // 3
        agent.world.members = range(3) if agent.id < 3 else range(3, 6)
    told.play(0)
    assert [i for i in range(6) if told.inbox(i)] == [1, 2]


@pytest.mark.parametrize("to", [[1, 9], [1, -1], np.array([1, 4])])
def test_a_broadcast_to_strangers_reaches_nobody(to: Any) -> None:
    told = town(6, 2, {0: lambda agent: agent.broadcast("hello", to)})
    for agent in told.agents:
        agent.world.members = range(3) if agent.id < 3 else range(3, 6)
    told.play(0)
    assert isinstance(told.endings.errors[0], ValueError)
    assert [i for i in range(6) if told.inbox(i)] == []


def test_neighbours_as_numpy_has_them_are_receivers() -> None:
    told = town(6, 2, {0: lambda agent: agent.broadcast("hello", np.array([1, 4], dtype=np.int32))})
    told.play(0)
    assert [i for i in range(6) if told.inbox(i)] == [1, 4]


@pytest.mark.parametrize("topic", ["", 7, None])
@pytest.mark.parametrize("way", ["publish", "subscribe"])
def test_a_topic_has_a_name(topic: Any, way: str) -> None:
    acts = {
        "publish": lambda agent: agent.publish(topic, 1),
        "subscribe": lambda agent: agent.subscribe(topic),
    }
    told = town(2, 1, {0: acts[way]})
    told.play(0)
    assert "a topic" in str(told.endings.errors[0])


def test_boards_are_cleared_when_they_have_been_read() -> None:
    told = town(2, 1, {0: lambda agent: agent.broadcast("hello")})
    told.play(0)
    mail = told.offices[0].mail
    for round_ in (2, 3):
        assert mail.has_told
        mail.begin_round(0, round_)
    assert not mail.has_told


def test_a_message_is_waited_for_as_an_agent_that_acts_on_messages_alone_is_due() -> None:
    does = {0: lambda agent: agent.broadcast("hello", [1]), 1: lambda agent: agent.subscribe("news")}
    told = town(4, 1, does)
    told.play(0, 1)
    mail = told.offices[0].mail
    assert [mail.has_letters(i, 0, 1) for i in range(4)] == [False, True, False, False]
    does[0] = lambda agent: agent.publish("news", "hello")
    told.round = 2
    told.play(0)
    assert [mail.has_letters(i, 0, 2) for i in range(4)] == [False, True, False, False]
    does[0] = lambda agent: agent.broadcast("hello")
    told.round = 3
    told.play(0)
    assert [mail.has_letters(i, 0, 3) for i in range(4)] == [False, True, True, True]
