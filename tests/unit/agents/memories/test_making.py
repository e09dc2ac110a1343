"""Which memory an agent gets, and what a snapshot keeps of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from engine.agents.agent import Agent, Stateless
from engine.agents.frozen import Frozen, freeze, thaw
from engine.agents.memories.making import Memories
from engine.agents.memories.managed import Managed, Window
from engine.agents.memories.ranking import Cosine
from engine.agents.memories.retrieval import Stream
from engine.agents.memories.settings import (
    AnyMemory,
    FullHistory,
    Retrieval,
    RunningSummary,
    SlidingWindow,
)
from engine.agents.memories.summary import Summary
from engine.agents.memory import Memory
from engine.errors import ModelError
from tests.fakes.model_bench import RULES

KINDS: list[tuple[AnyMemory | None, type[Memory]]] = [
    (None, Memory),
    (FullHistory(), Memory),
    (FullHistory(budget_tokens=100), Managed),
    (SlidingWindow(), Window),
    (RunningSummary(), Summary),
    (Retrieval(), Stream),
]


class Player(Agent):
    State = Stateless


class Forgetful(Player):
    remembers = SlidingWindow(exchanges=2)


def agent(kind: AnyMemory | None, agent_type: type[Agent] = Player) -> Agent:
    made = agent_type(3)
    made.enter(world(kind))
    return made


def world(kind: AnyMemory | None) -> Any:
    return SimpleNamespace(memories=Memories(kind), shared=RULES, round=4, people=None, community=None)


@pytest.mark.parametrize(("kind", "expected"), KINDS)
def test_the_preset_says_which(kind: AnyMemory | None, expected: type[Memory]) -> None:
    memory = agent(kind).memory
    assert type(memory) is expected
    assert memory.base == RULES


def test_embeddings_are_made_by_the_model_that_the_settings_name() -> None:
    paths = []

    def embedder(path: str) -> Any:
        paths.append(path)
        return lambda text: np.array([1.0])

    memories = Memories(Retrieval(relevance="embedding", embedding_path="x.gguf"), embedder=embedder)
    for _ in range(2):
        asked = agent(None)
        asked.world.memories = memories
        memory = asked.memory
        assert isinstance(memory, Stream)
        assert isinstance(memory.relevance, Cosine)
    assert paths == ["x.gguf"]


def test_a_class_may_name_a_vocabulary() -> None:
    class Exact(Player):
        remembers = SlidingWindow(vocabulary="x.gguf")

    one, other = agent(None, Exact), agent(None, Exact)
    other.world = one.world
    memories = [each.memory for each in (one, other)]
    assert all(isinstance(memory, Window) for memory in memories)
    first, second = (memory.counter for memory in memories if isinstance(memory, Window))
    assert first is second
    with pytest.raises(ModelError, match=r"x\.gguf|llama"):
        first.text("hello")


def test_a_class_may_have_a_kind_of_its_own_and_the_preset_another() -> None:
    assert type(agent(None, Forgetful).memory) is Window
    assert type(agent(FullHistory(), Forgetful).memory) is Memory


@pytest.mark.parametrize("kind", [kind for kind, _ in KINDS])
def test_a_snapshot_keeps_all_of_it(kind: AnyMemory | None) -> None:
    before = agent(kind)
    memory = before.memory
    for n in range(3):
        memory.remember(memory.with_user(f"question {n}"), str(n))
    memory.note("It rains.", 7)
    if isinstance(memory, Stream):
        memory.outdated()
        assert len(memory.entries) == 3
    if isinstance(memory, Summary):
        memory.summary = "I was asked."
    packed = msgspec.msgpack.encode(freeze(before, []))
    after = agent(kind)
    thaw(msgspec.msgpack.decode(packed, type=Frozen), after)
    assert after.memory.turns == memory.turns != ()
    assert after.memory.kept == memory.kept


@pytest.mark.parametrize("before", [kind for kind, _ in KINDS])
@pytest.mark.parametrize(("kind", "expected"), KINDS)
def test_a_branch_may_have_another_kind(
    before: AnyMemory | None, kind: AnyMemory | None, expected: type[Memory]
) -> None:
    branched = agent(before)
    memory = branched.memory
    memory.remember(memory.with_user("question"), "1")
    if isinstance(memory, Summary):
        memory.summary = "I was asked."
    branched.enter(world(kind))
    assert type(branched.memory) is expected
    assert branched.memory.turns == memory.turns
    if isinstance(branched.memory, Summary):
        assert branched.memory.summary == getattr(memory, "summary", "")
