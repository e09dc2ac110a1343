"""Messages between agents: told ones wait for the next round, asked ones for the end of the asked one's step.

Order never depends on timing where it matters: a mailbox is sorted by sender, and what one sender tells keeps
its order. Messages are packed even when both agents share a worker, so that neither can change what the
other holds, and a run on one worker behaves as one on forty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from engine.agents.credits import CREDIT
from engine.agents.decoders import decoder_of
from engine.agents.mailboxes import EVERYONE, Mailboxes, board
from engine.agents.outgoing import LETTERS, Outgoing
from engine.agents.post import MailboxFull, Post, Sender, To
from engine.agents.questions import Questions
from engine.agents.reach import check_reach
from engine.agents.record import Record
from engine.agents.scheduler import Scheduler
from engine.errors import SimtuiError
from engine.keys import pack

if TYPE_CHECKING:
    from engine.agents.agent import Agent

UNDELIVERED = "undelivered"
"""The kind of failure of a message to an agent that has stopped or retired."""

_encode = msgspec.msgpack.Encoder().encode


class Mail:
    """The post office of one worker."""

    def __init__(
        self,
        scheduler: Scheduler,
        record: Record,
        *,
        worker: int,
        worker_of: Callable[[int], int],
        resident: Callable[[int, int], Agent | None],
        here: range = range(0),
        most: int,
        credit: int = CREDIT,
        letters: int = LETTERS,
    ) -> None:
        """`worker_of(agent)` says where an agent lives, and `here` are some of those that live here.
        `resident(agent, round)` returns an agent once its step of that round is over, None before, and raises
        AskFailed when it has stopped.

        `most` messages fit into a mailbox; `letters` told ones may be on their way to another worker, and
        `credit` questions of one worker wait at one agent.
        """
        self._scheduler = scheduler
        self._record = record
        self._worker = worker
        self._worker_of = worker_of
        self._here = here
        self._most = most
        self._boxes = Mailboxes(most, self._overflow)
        self.outgoing = Outgoing(worker, letters)
        self.questions = Questions(
            scheduler,
            record,
            self.outgoing,
            worker=worker,
            worker_of=worker_of,
            resident=resident,
            credit=credit,
        )
        self.arrived: Counter[tuple[int, int]] = Counter()
        """Told messages from other workers, by (round, group) they were told in."""

    def tell(self, agent: Agent, receiver: int, message: Any) -> None:
        """Put a message into the receiver's next inbox.

        Raises ValueError for an agent of another group, MailboxFull for more in a turn than a mailbox holds.
        """
        world = agent.world
        if receiver not in world.members:
            check_reach(world, receiver)
        activation = self._scheduler.running
        assert activation is not None, "tell() is called from agents only"
        activation.told += 1
        if activation.told > self._most:
            raise _full(f"the mailbox of agent {receiver}", self._most)
        packed = _encode(message)
        if receiver in self._here:
            self._boxes.keep(world.round, receiver, agent.id, packed)
        else:
            owner = activation.owner
            self.send(receiver, packed, Sender(agent.id, world.round, owner.group, owner.sent))

    def broadcast(self, agent: Agent, message: Any, to: Iterable[int] | None) -> None:
        """Tell all others of the group, or all of `to`. Raises like `tell`."""
        if to is None:
            self._put_up(agent, board(agent.world.group), agent.world.members, message)
            return
        receivers = [int(receiver) for receiver in to]
        by_worker: dict[int, list[int]] = {}
        for receiver in receivers:
            check_reach(agent.world, receiver)
            by_worker.setdefault(self._worker_of(receiver), []).append(receiver)
        self._send_to(agent, by_worker, len(receivers), message)

    def publish(self, agent: Agent, topic: str, message: Any) -> None:
        """Tell all others that are subscribed to a topic at the end of the round. Raises like `tell`."""
        _check_topic(topic)
        world = agent.world
        coupled = world.scenario.coupled
        everyone = range(world.scenario.n_agents) if coupled else world.members
        self._put_up(agent, board(EVERYONE if coupled else world.group, topic), everyone, message)

    def subscribe(self, agent_id: int, topic: str) -> None:
        """Let an agent hear of a topic. Raises TypeError."""
        _check_topic(topic)
        self._boxes.subscribe(agent_id, topic)

    def unsubscribe(self, agent_id: int, topic: str) -> None:
        """End that; again does nothing."""
        self._boxes.unsubscribe(agent_id, topic)

    def topics(self, agent_id: int) -> list[str]:
        """Return what an agent is subscribed to."""
        return self._boxes.topics(agent_id)

    def _put_up(self, agent: Agent, name: str, readers: range, message: Any) -> None:
        """Put a message on a board of each worker with readers, which are workers next to each other."""
        workers = range(self._worker_of(readers[0]), self._worker_of(readers[-1]) + 1)
        self._send_to(agent, dict.fromkeys(workers, name), 1, message)

    def _send_to(self, agent: Agent, by_worker: dict[int, Any], n: int, message: Any) -> None:
        activation = self._scheduler.running
        assert activation is not None, "messages are sent by agents only"
        activation.told += n
        if activation.told > self._most:
            raise _full("a mailbox", self._most)
        packed, owner = _encode(message), activation.owner
        sender = Sender(agent.id, agent.world.round, owner.group, owner.sent)
        for there, to in by_worker.items():
            self._pass_on(there, to, packed, sender)

    def send(self, to: int, packed: bytes, sender: Sender) -> None:
        """Put a message into a mailbox, wherever that is."""
        self._pass_on(self._worker_of(to), to, packed, sender)

    def _pass_on(self, there: int, to: To, packed: bytes, sender: Sender) -> None:
        letter = (to, sender.id, packed)
        if there == self._worker:
            self._boxes.file(sender.round, [letter])
        else:
            sender.sent[there] = sender.sent.get(there, 0) + 1
            self.outgoing.add(there, sender.round, sender.group, letter)

    def begin_round(self, group: int, round_: int) -> None:
        """Forget what is left of the round before the last one of a group."""
        self._boxes.open_round(group, round_)
        self.arrived.pop((round_ - 2, group), None)

    def has_letters(self, receiver: int, group: int, round_: int) -> bool:
        """Tell whether someone hears anything that was told in a round."""
        return self._boxes.has(receiver, group, round_)

    def letters(self, receiver: int, round_: int) -> list[tuple[int, bytes]]:
        """Return (sender, packed message) of all that was told to one in a round, in order, and forget it."""
        return [(sender, packed) for sender, _, packed in sorted(self._boxes.clear(receiver, round_))]

    def inbox(self, agent: Agent, round_: int) -> list[tuple[int, Any]]:
        """Return (sender, message) of all that was told to an agent in the round before, and forget it."""
        found = self._boxes.take(agent.id, agent.world.group, round_ - 1)
        if not found:
            return []
        decode = decoder_of(type(agent)).decode
        messages = [(sender, decode(packed)) for sender, _, packed in found]
        self._record.told(round_, agent.id, messages)
        return messages

    def waiting(self, agent: Agent, round_: int) -> list[tuple[int, msgspec.Raw]]:
        """Return (sender, packed message) of all that was told to an agent in a round; it stays there."""
        found = self._boxes.look(agent.id, agent.world.group, round_)
        return [(sender, msgspec.Raw(packed)) for sender, _, packed in found]

    def put_back(
        self, agent_id: int, round_: int, inbox: list[tuple[int, msgspec.Raw]], topics: list[str]
    ) -> None:
        """Fill a mailbox and the subscriptions as they were."""
        self._boxes.put_back(agent_id, round_, [(sender, bytes(message)) for sender, message in inbox])
        for topic in topics:
            self.subscribe(agent_id, topic)

    def refuse(self, agent_id: int, round_: int) -> None:
        """Note what was told in the round before to an agent that acts no more, and forget it."""
        found = self._boxes.clear(agent_id, round_ - 1)
        if found:
            sender = min(found)[0]
            detail = f"{len(found)} to an agent that acts no more, the first from agent {sender}"
            self._record.failure(pack(round_, agent_id), UNDELIVERED, detail, "dropped")

    @property
    def has_told(self) -> bool:
        """Whether any mailbox holds something."""
        return not self._boxes.are_empty

    def take(self, post: Post) -> None:
        """Receive the mail of another worker."""
        self.outgoing.arrived(post.origin, post.taken)
        for batch in post.batches:
            self.arrived[batch.round, batch.group] += len(batch.letters)
            self._boxes.file(batch.round, batch.letters)
            self.outgoing.taken_in(post.origin, len(batch.letters))
        self.questions.take(post)

    def _overflow(self, error: SimtuiError) -> None:
        self._scheduler.fatal = error


def _check_topic(topic: Any) -> None:
    if not isinstance(topic, str) or not topic:
        raise TypeError(f"a topic is a text that is not empty, not {topic!r}")


def _full(whose: str, most: int) -> MailboxFull:
    return MailboxFull(f"{whose} holds {most:,} messages (engine.mailbox), and one turn may tell no more")
