"""Replies that hold no answer: asked again, counted, and ended as the preset says."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from engine.agents.agent import Agent
from engine.agents.calls import STEP_CALLS, TooManyCalls
from engine.agents.effects import AnswerFailed
from engine.errors import SimtuiError
from engine.keys import pack, unpack
from engine.models.answers import Answer, Choice, Json, Number, Problem, Text
from engine.models.protocol import Finish, Result
from tests.fakes.model_bench import GUESS, Bench, asking


class Offer(msgspec.Struct):
    price: float
    item: str


def test_a_bad_reply_is_quoted_and_asked_again() -> None:
    bench = Bench(retries=2)
    bench.begin(asking())
    bench.reply("about forty")
    [again] = bench.reply("400")
    assert unpack(again.key).call == 1
    assert bench.conversation(again) == [
        ("system", "Guess."),
        ("user", "Which number?"),
        ("assistant", "about forty"),
        ("user", "That does not answer the question: reply with one number from 0 to 100."),
    ]
    [third] = bench.reply("40")
    assert bench.conversation(third)[3:] == [
        ("user", "That does not answer the question: reply with one number from 0 to 100."),
        ("assistant", "400"),
        ("user", "That does not answer the question: 400 is not from 0 to 100."),
    ]
    assert bench.endings.values == {0: 40}
    assert bench.record.failures == [
        (0, "unparsed", "reply with one number from 0 to 100", "asked again"),
        (1, "out of range", "400 is not from 0 to 100", "asked again"),
    ]
    assert bench.record.replies == [
        (pack(1, 0, 0), None, "unparsed"),
        (pack(1, 0, 1), None, "out of range"),
        (pack(1, 0, 2), 40, None),
    ]


def test_quoting_a_bad_reply_does_not_enter_the_memory() -> None:
    async def ask(agent: Agent) -> Any:
        prompt = agent.memory.with_user("Which number?")
        value = await agent.model.chat(prompt, GUESS)
        agent.memory.remember(prompt, f"{value:g}")
        return [turn.content for turn in agent.memory.turns]

    bench = Bench()
    bench.begin(ask)
    bench.reply("forty")
    bench.reply("40")
    assert bench.endings.values == {0: ["Which number?", "40"]}


def test_a_repaired_reply_counts_and_is_marked() -> None:
    bench = Bench()
    bench.begin(asking())
    bench.reply("I choose **33**.")
    assert bench.endings.values == {0: 33}
    assert bench.record.replies == [(pack(1, 0), 33, "repaired")]
    assert bench.record.failures == [(0, "repaired", "reply with one number from 0 to 100", "taken")]


def test_a_refusal_is_counted_and_asked_again() -> None:
    bench = Bench()
    bench.begin(asking())
    bench.reply("I'm sorry, I cannot choose 33.")
    [again] = bench.reply("33")
    assert "a refusal is no answer" in bench.conversation(again)[-1][1]
    assert [failure[1] for failure in bench.record.failures] == ["refused"]


@pytest.mark.parametrize("retries", [0, 1, 5])
def test_nobody_is_asked_more_often_than_the_preset_says(retries: int) -> None:
    bench = Bench(retries=retries)
    bench.begin(asking())
    n = 0
    while len(bench.model.requests):
        bench.reply("rubbish")
        n += 1
    assert n == retries + 1
    assert isinstance(bench.endings.errors[0], AnswerFailed)
    assert [action for *_, action in bench.record.failures] == ["asked again"] * retries + ["exclude"]


def exhausted(script: Callable[[Agent], Any] | None = None, **policy: Any) -> Bench:
    """Return a bench whose agent 0 has got a bad reply and no other chance."""
    bench = Bench(retries=0, **policy)
    bench.begin(script or asking())
    bench.reply("rubbish")
    return bench


def test_exclude_raises_in_the_agent() -> None:
    bench = exhausted(on_failure="exclude")
    assert isinstance(bench.endings.errors[0], AnswerFailed)
    assert str(bench.endings.errors[0]) == "unparsed: reply with one number from 0 to 100"


def test_an_agent_may_catch_the_exclusion_and_go_on() -> None:
    async def ask(agent: Agent) -> Any:
        try:
            await asking()(agent)
        except AnswerFailed:
            return await asking()(agent)

    bench = exhausted(ask)
    bench.reply("12")
    assert bench.endings.values == {0: 12}


@pytest.mark.parametrize(("fallback", "value"), [(50, 50.0), (50.0, 50.0), ("7", 7.0)])
def test_fallback_takes_the_presets_value(fallback: Any, value: float) -> None:
    bench = exhausted(on_failure="fallback", fallback=fallback)
    assert bench.endings.values == {0: value}
    assert bench.record.failures[0][3] == "fallback"
    assert bench.record.replies == [(pack(1, 0), None, "unparsed")], "the model never said the fallback"


@pytest.mark.parametrize("fallback", [1000, "cooperate"])
def test_a_fallback_that_is_no_answer_either_ends_the_run_and_says_so(fallback: Any) -> None:
    bench = exhausted(on_failure="fallback", fallback=fallback)
    assert isinstance(bench.scheduler.fatal, SimtuiError)
    assert bench.scheduler.fatal.where == "answers.fallback"
    assert str(fallback) in bench.scheduler.fatal.what


def test_last_takes_the_agents_own_last_answer() -> None:
    bench = Bench(retries=0, on_failure="last")
    for agent_id, number in enumerate(("11", "22")):
        bench.begin(asking(), agent_id)
        bench.reply(number)
    for agent_id in (0, 1):
        bench.begin(asking(), agent_id, round_=2)
    bench.reply("rubbish", "rubbish")
    assert bench.endings.values == {0: 11, 1: 22}
    assert bench.endings.errors == {}


def test_last_without_a_last_one_excludes() -> None:
    assert isinstance(exhausted(on_failure="last").endings.errors[0], AnswerFailed)


def test_last_never_takes_an_answer_of_another_form() -> None:
    async def think_then_answer(agent: Agent) -> Any:
        await agent.model.chat(agent.memory.with_user("Think."), Text())
        return await asking()(agent)

    bench = Bench(retries=0, on_failure="last")
    bench.begin(think_then_answer)
    bench.reply("Half of the others will say 33.")
    bench.reply("11")
    bench.begin(think_then_answer, round_=2)
    bench.reply("I thought long.")
    bench.reply("rubbish")
    assert bench.endings.values == {0: 11}


def test_fail_ends_the_run_and_says_where() -> None:
    bench = exhausted(on_failure="fail")
    error = bench.scheduler.fatal
    assert isinstance(error, SimtuiError)
    assert error.where == "agent 0, round 1"
    assert "unparsed" in error.what
    assert 'on_failure = "fail"' in error.hint


# replies that are none


@pytest.mark.parametrize(
    ("finish", "kind"),
    [(Finish.TIMEOUT, Problem.TIMED_OUT), (Finish.ERROR, Problem.SERVER)],
)
def test_what_is_not_the_models_fault_is_not_quoted_to_it(finish: Finish, kind: Problem) -> None:
    bench = Bench(retries=1)
    bench.begin(asking())
    [first] = bench.reply(Result(0, "no reply within 5 s", finish))
    [again] = bench.reply("5")
    assert bench.conversation(again) == bench.conversation(first)
    assert again.key != first.key
    assert bench.record.failures[0][1] == kind
    assert bench.record.failures[0][2], "the ledger says what happened"
    assert bench.endings.values == {0: 5}


def test_what_does_not_fit_into_the_context_is_not_asked_again() -> None:
    bench = Bench(retries=3)
    bench.begin(asking())
    bench.reply(Result(0, "", Finish.CONTEXT))
    assert [failure[1::2] for failure in bench.record.failures] == [("context cut", "exclude")]
    assert isinstance(bench.endings.errors[0], AnswerFailed)


def test_an_answer_to_half_a_conversation_counts_and_is_marked() -> None:
    bench = Bench()
    bench.begin(asking())
    bench.reply(Result(0, "33", dropped=4))
    assert bench.endings.values == {0: 33}
    assert bench.record.replies == [(pack(1, 0), 33, "context cut")]
    assert bench.record.failures == [(0, "context cut", "the 4 oldest messages were left out", "taken")]


def test_a_reply_that_was_cut_off_is_no_number() -> None:
    bench = Bench(retries=1)
    bench.begin(asking())
    bench.reply(Result(0, "4", Finish.LENGTH))
    assert bench.endings.n == 0
    assert bench.record.failures[0][1] == "truncated"
    [again] = bench.sent()
    assert "too long" in bench.conversation(again)[-1][1]


def test_a_text_may_be_cut_off() -> None:
    bench = Bench()
    bench.begin(asking(Text()))
    bench.reply(Result(0, "Once upon a", Finish.LENGTH))
    assert bench.endings.values == {0: "Once upon a"}


@pytest.mark.parametrize("answer", [GUESS, Text(), Choice(("x", "y"))], ids=["number", "text", "choice"])
def test_a_megabyte_is_no_answer_and_is_not_sent_back(answer: Answer) -> None:
    bench = Bench(retries=1)
    bench.begin(asking(answer))
    bench.reply("x" * 1_000_000)
    [again] = bench.sent()
    assert len(again.tail) < 2_000
    assert bench.record.failures[0][1] == "out of range"
    assert "1000000 characters" in bench.record.failures[0][2]
    assert len(bench.record.failures[0][2]) < 200


def test_a_reply_that_nobody_waits_for_is_dropped() -> None:
    bench = Bench()
    bench.begin(asking())
    [request] = bench.sent()
    stranger = Result(pack(9, 9), "1")
    bench.model.take([stranger, Result(request.key, "1"), Result(request.key, "2")])
    assert bench.endings.values == {0: 1}
    assert len(bench.record.replies) == 1


def test_one_agents_bad_reply_keeps_no_other_waiting() -> None:
    bench = Bench(retries=0)
    for agent_id in range(3):
        bench.begin(asking(), agent_id)
    bench.reply("1", "rubbish", "3")
    assert bench.endings.values == {0: 1, 2: 3}
    assert set(bench.endings.errors) == {1}


def test_calls_run_out_with_an_error_in_the_agent() -> None:
    async def insatiable(agent: Agent) -> Any:
        while True:
            await asking()(agent)

    bench = Bench()
    bench.begin(insatiable)
    for _ in range(STEP_CALLS - 1):
        bench.reply("1")
    assert isinstance(bench.endings.errors[0], TooManyCalls)


def test_asking_again_can_exhaust_the_calls_too() -> None:
    async def insatiable(agent: Agent) -> Any:
        for _ in range(STEP_CALLS - 2):
            await asking()(agent)
        await asking()(agent)

    bench = Bench(retries=2)
    bench.begin(insatiable)
    for _ in range(STEP_CALLS - 2):
        bench.reply("1")
    bench.reply("rubbish")
    assert isinstance(bench.endings.errors[0], TooManyCalls)


@pytest.mark.parametrize("answer", [Number(0, 100, reasoning=50), Json(Offer)], ids=["reasoning", "json"])
def test_a_fallback_needs_no_reasoning(answer: Any) -> None:
    fallback = "50" if isinstance(answer, Number) else '{"price": 1, "item": "pear"}'
    bench = exhausted(asking(answer), on_failure="fallback", fallback=fallback)
    assert bench.endings.values == {0: 50 if isinstance(answer, Number) else Offer(1, "pear")}
