"""What bounds mailboxes, and mail on its way: nothing is lost, and nothing waits for ever."""

from typing import Any

import msgspec
import pytest

from engine.agents.agent import Agent
from engine.agents.credits import Credits
from engine.agents.post import MailboxFull, Post
from engine.errors import SimtuiError
from tests.fakes.town import Town


class Flooder(Agent):
    """Tells the first agent something, so often."""

    times = 1

    async def step(self, observation: Any) -> None:
        for n in range(self.times):
            self.tell(0, [self.id, n])


@pytest.mark.parametrize("workers", [1, 2])
def test_who_tells_more_than_a_mailbox_holds_is_stopped_by_that(workers: int) -> None:
    class Endless(Agent):
        async def step(self, observation: Any) -> None:
            while self.id == 3:
                self.tell(1, "and another thing")

    told = Town(Endless, 4, workers, most=50)
    told.play()
    error = told.endings.errors[3]
    assert isinstance(error, MailboxFull)
    assert str(error).startswith("the mailbox of agent 1 holds 50 messages (engine.mailbox)")
    assert sorted(told.endings.values) == [0, 1, 2]
    assert len(told.inbox(1)) == 50


@pytest.mark.parametrize("way", ["broadcast", "publish"])
def test_so_is_who_does_not_stop_to_tell_many(way: str) -> None:
    class Endless(Agent):
        async def step(self, observation: Any) -> None:
            while True:
                self.broadcast("hear!") if way == "broadcast" else self.publish("news", "hear!")

    told = Town(Endless, 4, 1, most=50)
    told.play(0)
    assert isinstance(told.endings.errors[0], MailboxFull)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_mailbox_that_many_fill_ends_the_run_and_keeps_no_more(workers: int) -> None:
    told = Town(Flooder, 60, workers, most=50)
    told.play()
    fatal = told.offices[0].scheduler.fatal
    assert isinstance(fatal, SimtuiError)
    assert "the mailbox of agent 0 is full: more than 50 messages were told in one round" in str(fatal)
    assert "engine.mailbox" in str(fatal)
    assert len(told.inbox(0)) == 50


def test_a_board_that_many_fill_does_so_too() -> None:
    class Crier(Agent):
        async def step(self, observation: Any) -> None:
            self.publish("news", "hear!")

    told = Town(Crier, 60, 1, most=50)
    told.play()
    assert "the mailbox of topic 'news' is full" in str(told.offices[0].scheduler.fatal)


def carry(town: Town, source: int, there: int) -> Post | None:
    """Carry what one worker may send to another, and return it."""
    for to, post in town.offices[source].mail.outgoing.posts():
        assert to == there
        town.offices[there].mail.take(msgspec.msgpack.decode(msgspec.msgpack.encode(post), type=Post))
        return post
    return None


@pytest.mark.parametrize("room", [1, 8, 1000])
def test_many_that_flood_one_on_another_worker_wait_for_what_is_on_its_way(room: int) -> None:
    """All of the second half tell agent 0 five things each: 500 messages, so many at a time."""
    told = Town(type("Five", (Flooder,), {"times": 5}), 200, 2, letters=room)
    for agent_id in range(100, 200):
        told.act(agent_id)
    sender = told.offices[1].mail.outgoing
    assert sender.n_waiting == 500
    on_its_way, most = 0, 0
    while sender.n_waiting:
        post = carry(told, 1, 0)
        assert post is not None, "it waits for ever"
        on_its_way += sum(len(batch.letters) for batch in post.batches)
        most = max(most, on_its_way)
        back = carry(told, 0, 1)
        on_its_way -= back.taken if back is not None else 0
    assert most <= room
    assert told.inbox(0) == [(sender, [sender, n]) for sender in range(100, 200) for n in range(5)]
    assert told.offices[0].mail.arrived[1, 0] == 500


def test_what_is_not_taken_in_is_not_followed_by_more() -> None:
    told = Town(Flooder, 40, 2, letters=8)
    for agent_id in range(20, 40):
        told.act(agent_id)
    sender = told.offices[1].mail.outgoing
    [(_, post)] = sender.posts()
    assert sum(len(batch.letters) for batch in post.batches) == 8
    assert list(sender.posts()) == []
    assert sender.n_waiting == 12


class Asker(Agent):
    async def step(self, observation: Any) -> Any:
        return None if self.id == 0 else await self.ask(0, self.id)

    async def receive(self, message: int, sender: int) -> int:
        return message * 2


@pytest.mark.parametrize("room", [1, 7, 1000])
def test_questions_wait_where_they_are_asked_until_there_is_room(room: int) -> None:
    asked = Town(Asker, 200, 2, credit=room)
    for agent_id in range(100, 200):
        asked.act(agent_id)
    post = carry(asked, 1, 0)
    assert post is not None
    assert len(post.questions) == min(room, 100)
    waiting = asked.offices[0].mail.questions._queues[0]
    assert len(waiting) == min(room, 100)
    asked.play(0)
    assert asked.endings.values == {0: None} | {i: 2 * i for i in range(100, 200)}
    assert carry(asked, 1, 0) is None


def test_credit_is_by_receiver_and_kept_in_order() -> None:
    credits: Credits[str] = Credits(1)
    assert [credits.take(*call) for call in ((1, "a"), (1, "b"), (2, "c"), (1, "d"))] == [
        True,
        False,
        True,
        False,
    ]
    assert credits.take(1, "at once", at_once=True)
    assert [credits.give_back(1) for _ in range(4)] == ["b", "d", None, None]
    assert credits.give_back(2) is None
    assert credits.take(1, "again")
