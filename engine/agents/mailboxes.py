"""Where told messages wait for the next round: one mailbox an agent, and boards that many agents read.

What is told to a whole group, or published on a topic, is kept once on each worker, on a board, and read by
every member when its turn comes. All that someone hears is in the order of senders, and of one sender in the
order in which it was sent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import count

from engine.agents.post import Letter
from engine.errors import SimtuiError
from engine.keys import CALL_BITS, ROUND_SHIFT

EVERYONE = -1
"""Stands for all groups where a board's group is meant."""

Heard = tuple[int, int, bytes]
"""A message in a mailbox: the sender, its place in the order of arrival, and the packed message."""


def board(group: int, topic: str = "") -> str:
    """Return the name of the board of a group's topic; without a topic, of what the whole group hears."""
    return f"{group} {topic}"


class Mailboxes:
    """Those of the agents and environments of one worker."""

    def __init__(self, most: int, overflow: Callable[[SimtuiError], None]) -> None:
        """`most` messages of a round fit into a mailbox or board; `overflow` is told of one that is full."""
        self._most = most
        self._overflow = overflow
        self._numbers = count()
        self._inboxes: dict[int, list[Heard]] = {}
        """By round and receiver, packed like a key of a call."""
        self._boards: defaultdict[tuple[int, int], dict[str, list[Heard]]] = defaultdict(dict)
        """By round and group, and by topic."""
        self._topics: dict[int, dict[str, None]] = {}
        """What agents are subscribed to."""

    def keep(self, round_: int, receiver: int, sender: int, packed: bytes) -> None:
        """Put a message into a mailbox."""
        key = round_ << ROUND_SHIFT | receiver << CALL_BITS
        inbox = self._inboxes.get(key)
        if inbox is None:
            inbox = self._inboxes[key] = []
        if len(inbox) >= self._most:
            self._refuse(f"the mailbox of agent {receiver}", round_, sender)
            return
        inbox.append((sender, next(self._numbers), packed))

    def put_up(self, round_: int, name: str, sender: int, packed: bytes) -> None:
        """Put a message on a board."""
        group, _, topic = name.partition(" ")
        messages = self._boards[round_, int(group)].setdefault(topic, [])
        if len(messages) >= self._most:
            what = f"topic {topic!r}" if topic else f"what all of group {group} hear"
            self._refuse(f"the mailbox of {what}", round_, sender)
            return
        messages.append((sender, next(self._numbers), packed))

    def file(self, round_: int, letters: Iterable[Letter]) -> None:
        """Put away what has come from another worker."""
        for to, sender, packed in letters:
            if isinstance(to, int):
                self.keep(round_, to, sender, packed)
            elif isinstance(to, str):
                self.put_up(round_, to, sender, packed)
            else:
                for receiver in to:
                    self.keep(round_, receiver, sender, packed)

    @property
    def are_empty(self) -> bool:
        """Whether nothing was told at all."""
        return not self._inboxes and not self._boards

    def take(self, receiver: int, group: int, round_: int) -> list[Heard]:
        """Return all that someone hears of a round, in order; what was told to it alone is forgotten."""
        return self._in_order(
            self._inboxes.pop(round_ << ROUND_SHIFT | receiver << CALL_BITS, []), receiver, group, round_
        )

    def look(self, receiver: int, group: int, round_: int) -> list[Heard]:
        """Return the same, and leave it there."""
        found = self._inboxes.get(round_ << ROUND_SHIFT | receiver << CALL_BITS, [])
        return self._in_order(list(found), receiver, group, round_)

    def has(self, receiver: int, group: int, round_: int) -> bool:
        """Tell whether someone hears anything of a round."""
        if round_ << ROUND_SHIFT | receiver << CALL_BITS in self._inboxes:
            return True
        return bool(self._boards) and bool(self._read(receiver, group, round_))

    def put_back(self, receiver: int, round_: int, messages: Sequence[tuple[int, bytes]]) -> None:
        """Fill a mailbox with senders and messages, as it was."""
        for sender, packed in messages:
            self.keep(round_, receiver, sender, packed)

    def clear(self, receiver: int, round_: int) -> list[Heard]:
        """Forget what was told to one who will not hear it, and return it."""
        return self._inboxes.pop(round_ << ROUND_SHIFT | receiver << CALL_BITS, [])

    def open_round(self, group: int, round_: int) -> None:
        """Forget what a group has heard: it begins a round."""
        if self._boards:
            self._boards.pop((round_ - 2, group), None)
            self._boards.pop((round_ - 2, EVERYONE), None)

    def subscribe(self, agent: int, topic: str) -> None:
        """Let an agent hear of a topic."""
        self._topics.setdefault(agent, {})[topic] = None

    def unsubscribe(self, agent: int, topic: str) -> None:
        """End that."""
        self._topics.get(agent, {}).pop(topic, None)

    def topics(self, agent: int) -> list[str]:
        """Return what an agent is subscribed to, in the order in which it was."""
        return list(self._topics.get(agent, ()))

    def _in_order(self, found: list[Heard], receiver: int, group: int, round_: int) -> list[Heard]:
        if self._boards:
            found += self._read(receiver, group, round_)
        found.sort()
        return found

    def _read(self, receiver: int, group: int, round_: int) -> list[Heard]:
        """Return what others have put on the boards that someone reads."""
        found: list[Heard] = []
        topics = self._topics.get(receiver, ())
        for scope in (group, EVERYONE):
            boards = self._boards.get((round_, scope))
            if boards:
                for topic in ("", *topics):
                    found += boards.get(topic, ())
        return [heard for heard in found if heard[0] != receiver]

    def _refuse(self, whose: str, round_: int, sender: int) -> None:
        self._overflow(
            SimtuiError(
                f"{whose} is full: more than {self._most:,} messages were told in one round",
                where=f"round {round_}, told by agent {sender}",
                hint="Tell less, or give it more memory: --resume with --set engine.mailbox=...",
            )
        )
