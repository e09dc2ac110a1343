"""A prompt never has more tokens than the budget; what was left out of it is counted."""

from __future__ import annotations

import pytest

from engine.agents.agent import Agent
from engine.agents.effects import AnswerFailed, gather
from engine.agents.memories.settings import (
    AnyMemory,
    FullHistory,
    Retrieval,
    RunningSummary,
    SlidingWindow,
)
from engine.models.protocol import Finish, Result
from tests.fakes.model_bench import GUESS
from tests.unit.agents.memories.conftest import PERSONA, Remembering

BUDGET = 64
KINDS = [
    FullHistory(budget_tokens=BUDGET),
    SlidingWindow(budget_tokens=BUDGET, exchanges=50),
    RunningSummary(budget_tokens=BUDGET, max_words=8),
    Retrieval(budget_tokens=BUDGET, exchanges=2),
    Retrieval(budget_tokens=BUDGET, exchanges=2, importance="model"),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
@pytest.mark.parametrize("retries", [0, 3])
@pytest.mark.parametrize("length", [1, 3, 9])
def test_no_prompt_is_longer(kind: AnyMemory, retries: int, length: int) -> None:
    bench = Remembering(kind, persona=PERSONA, retries=retries)
    longest = 0
    for round_ in range(1, 12):
        bench.ask(f"Round {round_}:" + " well" * length, round_)
        n = 0
        while requests := bench.sent():
            [request] = requests
            longest = max(longest, bench.words(request))
            said = bench.after_rules(request)
            assert PERSONA in " ".join(content for _, content in said)
            reply = "so it is said" if "sum up for yourself" in " ".join(text for _, text in said) else "3"
            bad = n < retries and round_ % 2
            bench.model.take([Result(request.key, "rubbish " * 9 if bad else reply)])
            bench.run_ready()
            n += 1
        assert (bench.endings.errors, bench.endings.values) == ({}, {0: 3})
        bench.endings.values.clear()
    assert longest <= BUDGET
    assert longest > BUDGET - 12 - length, "what fits is not left out"


def test_the_oldest_exchanges_go_first_and_are_counted_once() -> None:
    bench = Remembering(FullHistory(budget_tokens=12))
    assert bench.exchange("one a") == [("user", "one a")]
    assert len(bench.exchange("two b")) == 3
    assert bench.exchange("three c") == [
        ("user", "two b"),
        ("assistant", "1"),
        ("user", "three c"),
    ]
    assert bench.left_out == ["2 messages, 3 tokens"]
    assert len(bench.exchange("four")) == 3
    assert bench.left_out == ["2 messages, 3 tokens"] * 2


def test_without_a_budget_nothing_is_left_out() -> None:
    bench = Remembering(FullHistory())
    for n in range(20):
        assert len(bench.exchange(f"{n} " * 100)) == 2 * n + 1
    assert bench.left_out == []


def test_who_the_agent_is_stays_when_the_message_that_says_so_has_gone() -> None:
    bench = Remembering(FullHistory(budget_tokens=16), persona=PERSONA)
    assert bench.exchange(f"{PERSONA} What do you say?") == [("user", f"{PERSONA} What do you say?")]
    assert bench.exchange("And now, after all of that?") == [
        ("system", PERSONA),
        ("user", "And now, after all of that?"),
    ]


@pytest.mark.parametrize("on_failure", ["exclude", "fallback", "last", "fail"])
def test_a_question_that_does_not_fit_ends_as_a_reply_without_an_answer(on_failure: str) -> None:
    bench = Remembering(FullHistory(budget_tokens=32), on_failure=on_failure, fallback=50, retries=3)
    bench.exchange("first", "7")
    bench.ask("word " * 40, 2)
    bench.run_ready()
    assert bench.sent() == [], "it is not sent"
    [(_, kind, detail, action)] = bench.record.failures
    assert (kind, action) == ("over budget", on_failure)
    assert "memory.budget_tokens = 32" in detail
    if on_failure == "exclude":
        assert isinstance(bench.endings.errors[0], AnswerFailed)
    elif on_failure == "fail":
        assert bench.scheduler.fatal is not None
    else:
        assert bench.endings.values == {0: 50 if on_failure == "fallback" else 7}


def test_asking_again_quotes_as_much_as_there_is_room_for() -> None:
    bench = Remembering(FullHistory(budget_tokens=32), retries=2)
    bench.exchange("first question")
    bench.ask("second question")
    [first] = bench.reply("rubbish " * 10)
    assert len(bench.after_rules(first)) == 3
    [again] = bench.reply("worse " * 40)
    assert [role for role, _ in bench.after_rules(again)] == ["user", "assistant", "user"]
    assert bench.after_rules(again)[0][1] == "second question"
    assert bench.left_out == ["2 messages, 3 tokens"]
    [last] = bench.reply("5")
    assert bench.after_rules(last) == bench.after_rules(first), "no room for any quotation"
    assert bench.endings.values == {0: 5}


def test_what_is_asked_again_unchanged_is_left_as_it_was() -> None:
    bench = Remembering(FullHistory(budget_tokens=12), retries=1)
    bench.exchange("one a")
    bench.exchange("two b")
    bench.ask("three c")
    [first] = bench.reply(Result(0, "", Finish.TIMEOUT))
    [again] = bench.reply("5")
    assert bench.after_rules(again) == bench.after_rules(first)
    assert len(bench.left_out) == 1


def test_a_service_that_was_lost_gets_the_same_prompt() -> None:
    bench = Remembering(FullHistory(budget_tokens=12))
    bench.exchange("one a")
    bench.exchange("two b")
    bench.ask("three c")
    [first] = bench.sent()
    bench.model.again()
    [again] = bench.reply("5")
    assert first == again
    assert len(bench.left_out) == 1


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_rules_in_place_of_a_model_read_nothing_and_have_no_budget(kind: AnyMemory) -> None:
    bench = Remembering(kind)
    bench.model._wants_facts = True
    for n in range(5):
        assert len(bench.exchange("word " * 100)) == 2 * n + 1
    assert bench.record.failures == []


def test_calls_at_once_are_made_from_the_same_memory() -> None:
    """Whichever is answered first: what is remembered does not depend on it."""
    prompts = []
    for order in (1, -1):
        bench = Remembering(RunningSummary(budget_tokens=40, exchanges=1, every=1), retries=1)
        for n in range(3):
            bench.ask(f"number {n} " + "well " * 5)
            while requests := bench.sent():
                for request in requests:
                    bench.model.take([Result(request.key, "4")])

        async def both(agent: Agent) -> list[float]:
            return await gather(
                *(agent.model.chat(agent.memory.with_user(text), GUESS) for text in ("left", "right"))
            )

        bench.begin(both, round_=2)
        requests = bench.sent()
        assert len(requests) == 2, "no summary in between"
        for request in requests[::order]:
            bench.model.take([Result(request.key, "rubbish " * 7)])
        again = bench.sent()
        prompts.append(sorted((request.key, bytes(request.tail)) for request in (*requests, *again)))
        assert all(bench.words(request) <= 40 for request in again)
    assert prompts[0] == prompts[1]
