"""A model without a service, and agents with nothing but that model: the test replies."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import msgspec

from engine.agents.agent import Agent
from engine.agents.memories.making import Memories
from engine.agents.model import Model
from engine.agents.scheduler import Activation, Scheduler
from engine.keys import pack, unpack
from engine.models.answers import Answer, Json, Number
from engine.models.protocol import Catalogue, Form, Message, Request, Result, Sampling
from engine.preset.schema import Answers
from tests.fakes.turns import Clock, Endings

RULES = (Message("system", "Guess."),)
GUESS = Number(0, 100)


class Record:
    """Keeps what would go to the journal."""

    def __init__(self) -> None:
        self.replies: list[tuple[int, Any, str | None]] = []
        self.failures: list[tuple[int, str, str, str]] = []
        self.prefixes: list[int] = []
        self.forms: list[int] = []

    def reply(self, request: Any, result: Any, model: int, value: Any, problem: str | None) -> None:
        self.replies.append((request.key, value, problem))

    def failure(self, key: int, kind: str, detail: str, action: str, traceback: str | None = None) -> None:
        self.failures.append((unpack(key).call, kind, detail, action))

    def prefix(self, prefix_id: int, messages: tuple[Message, ...]) -> None:
        self.prefixes.append(prefix_id)

    def form(self, form_id: int, form: Form) -> None:
        self.forms.append(form_id)


class Bench:
    """A model without a service: the test replies."""

    def __init__(self, **policy: Any) -> None:
        self.scheduler = Scheduler(clock=Clock(), deadline_s=10, wake=lambda: None)
        self.record = Record()
        self.endings = Endings()
        self.catalogue = Catalogue()
        self.model = Model(
            self.scheduler,
            self.record,
            number=1,
            sampling=Sampling(),
            policy=Answers(**policy),
            wants_facts=True,
        )
        self.agents: dict[int, Agent] = {}
        self.memories = Memories()

    def begin(
        self, script: Callable[[Agent], Coroutine[Any, Any, Any]], agent_id: int = 0, round_: int = 1
    ) -> None:
        """Let an agent play a script that may use its model and its memory."""
        if agent_id not in self.agents:
            self.agents[agent_id] = Agent(agent_id)
            self.agents[agent_id].world = SimpleNamespace(
                community=None,  # type: ignore[assignment]
                model=self.model,
                shared=RULES,
                slice=0,
                people=None,
                members=range(1000),
                memories=self.memories,
            )
        agent = self.agents[agent_id]
        agent.world.round = round_
        self.scheduler.begin(Activation(agent, script(agent), pack(round_, agent_id), self.endings))

    def sent(self) -> list[Request]:
        """Take what is to be sent, as a service would."""
        batch = self.model.requests.drain()
        if batch is None:
            return []
        batch = msgspec.msgpack.decode(msgspec.msgpack.encode(batch), type=type(batch))
        self.catalogue.learn(batch)
        return batch.requests

    def reply(self, *texts: str | Result) -> list[Request]:
        """Answer as many requests as are waiting, in order; return them."""
        requests = self.sent()
        self.model.take(
            [
                Result(request.key, text)
                if isinstance(text, str)
                else msgspec.structs.replace(text, key=request.key)
                for request, text in zip(requests, texts, strict=True)
            ]
        )
        while self.scheduler.has_ready:
            self.scheduler.run_ready()
        return requests

    def conversation(self, request: Request) -> list[tuple[str, str]]:
        return [(m.role, m.content) for m in self.catalogue.messages(request)]


def asking(answer: Answer | Json = GUESS, text: str = "Which number?") -> Callable[[Agent], Any]:
    async def ask(agent: Agent) -> Any:
        return await agent.model.chat(agent.memory.with_user(text), answer)

    return ask
