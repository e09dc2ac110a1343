"""A chat room in which whoever is mentioned is woken, and others read when their turn comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from engine.agents.agent import Agent
from engine.agents.memory import Prompt, said
from engine.draws import mix, uniforms
from engine.environments.attributes import shared
from engine.environments.environment import Environment
from engine.environments.listeners import Event, event
from engine.environments.methods import buffered
from engine.models.answers import Text
from engine.models.protocol import Message
from engine.scenarios import chat_room_rules as rules
from engine.scenarios.feed import gini
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings


class ChatRoomSettings(ScenarioSettings, frozen=True, kw_only=True, tag="chat_room"):
    """Each group is a room; what is written in a round, the others read in the next one."""

    same_for_all: ClassVar[frozenset[str]] = ScenarioSettings.same_for_all | {"topic", "turns", "window"}

    topic: Annotated[str, Meta(min_length=1, max_length=500)] = "what to do on the weekend"
    """What the room is for."""
    turns: Annotated[float, Meta(ge=0, le=1)] = 0.3
    """Probability that a member's turn comes in a round; who is mentioned has a turn in any case."""
    window: Annotated[int, Meta(ge=0, le=100)] = 8
    """How many of the last messages a member sees."""
    max_chars: Annotated[int, Meta(ge=10, le=2000)] = 200
    """Longest message."""


class Line(msgspec.Struct, frozen=True):
    """A message as members see it."""

    name: str
    text: str


class Room(Environment):
    """The messages, and who is to hear of them at once."""

    lines = shared(list)
    """The last messages, oldest first."""

    def setup(self) -> None:
        """Nobody has written anything."""
        self.counts = dict.fromkeys(self.members, 0)
        self.before: set[int] = set()
        """Who was mentioned in the round before."""
        self.woken: set[int] = set()
        """Who is mentioned in this one."""
        self.writers: set[int] = set()
        self.n_asked = self.n_answered = 0
        self.listen("say", self._wake, when=self._names_somebody)

    @event
    @buffered
    def say(self, text: str) -> None:
        """Write a message; it appears at the round's end."""
        self.lines = [*self.lines, Line(rules.name_of(self._place()), text)][-max(self.settings.window, 1) :]
        self.counts[self.caller] += 1
        self.writers.add(self.caller)

    def end_round(self) -> dict[str, Any]:
        """Report how much was written, and whether those who were mentioned have answered."""
        self.n_asked += len(self.before)
        self.n_answered += len(self.before & self.writers)
        report = {
            "messages": len(self.writers),
            "mentions": len(self.woken),
            "answered": self.n_answered / self.n_asked if self.n_asked else None,
            "gini": gini(np.array(list(self.counts.values()), dtype=np.int64)),
        }
        self.before, self.woken, self.writers = self.woken, set(), set()
        return report

    def _place(self) -> int:
        return self.caller - self.members.start

    def _named(self, said: Event) -> list[int]:
        places = rules.mentioned(said.arguments["text"], self._place(), len(self.members))
        return [self.members[place] for place in places]

    def _names_somebody(self, said: Event) -> bool:
        return bool(self._named(said))

    def _wake(self, said: Event) -> None:
        for member in self._named(said):
            self.woken.add(member)
            self.tell(member, said)


class Member(Agent):
    """Reads and writes when its turn comes, or when it is mentioned."""

    __slots__ = ("callers",)

    def __init__(self, agent_id: int) -> None:
        super().__init__(agent_id)
        self.callers: list[str] = []
        """Who has mentioned it since its last turn."""

    async def receive(self, message: Event, sender: int) -> None:
        """Hear that it was mentioned; that alone gives it a turn."""
        self.callers.append(rules.name_of(message.caller - self.world.members.start))

    async def step(self, observation: None) -> float:
        """Return 1 if it writes something."""
        game: ChatRoom = self.world.scenario
        callers, self.callers = self.callers, []
        room, place = self.environments["room"], self.id - self.world.members.start
        lines = msgspec.convert(await room.read("lines"), list[Line]) if game.settings.window else []
        text = rules.question(rules.name_of(place), self.persona, lines, callers)
        facts = {"place": place, "members": len(self.world.members), "called_by": callers}
        prompt = Prompt(self.world.shared, (said("user", text),))
        written = rules.one_line(await self.model.chat(prompt, game.message, facts=facts))
        if written:
            room.say(written)
        return float(bool(written))


class ChatRoom(Scenario):
    """The rooms."""

    Settings = ChatRoomSettings
    environments = {"room": Room}
    policies = {"talker": rules.talker}
    policy_parameters = {"talker": ("answer", "mention", "talk")}
    settings: ChatRoomSettings

    def __init__(self, settings: ChatRoomSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.message = Text(settings.max_chars)

    def agent(self, agent_id: int) -> Agent:
        """Make a member."""
        return Member(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return what all are told."""
        return (Message("system", rules.instructions(self.settings, self.group_size(group))),)

    def opening(self, group: int) -> None:
        """All that members read, they read in the room."""

    def acts(self, round_: int, members: range, observation: None) -> NDArray[np.bool_]:
        """Draw whose turn comes."""
        found: NDArray[np.bool_] = uniforms(mix(self.seed, round_), np.array(members)) < self.settings.turns
        return found

    def tally(self, members: range, values: Sequence[float | None]) -> int:
        """Count those who had a turn."""
        return sum(value is not None for value in values)

    def conclude(self, round_: int, group: int, tallies: Sequence[int]) -> Outcome:
        """Say how many had a turn; the room tells the rest."""
        return Outcome({"turns": sum(tallies)})
