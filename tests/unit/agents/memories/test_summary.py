"""What is forgotten is summed up by the model, in calls like any other."""

from __future__ import annotations

from typing import Any

import pytest

from engine.agents.memories.settings import RunningSummary
from engine.agents.memories.summary import EARLIER, INSTRUCTION, first_words
from engine.keys import unpack
from engine.models.protocol import Finish, Result
from tests.unit.agents.memories.conftest import PERSONA, Remembering

KIND = RunningSummary(exchanges=1, every=2, max_words=6)


def three(bench: Remembering) -> Remembering:
    """Play three exchanges, after which a summary is due."""
    for n in range(3):
        bench.exchange(f"question {n}", str(n))
    bench.ask("question 3")
    return bench


def test_older_exchanges_become_a_summary() -> None:
    bench = three(Remembering(KIND))
    [asked] = bench.reply("I said 0 and 1.")
    assert bench.after_rules(asked) == [
        ("user", "question 0"),
        ("assistant", "0"),
        ("user", "question 1"),
        ("assistant", "1"),
        ("user", INSTRUCTION.format(6)),
    ]
    [question] = bench.reply("3")
    assert bench.after_rules(question) == [
        ("user", EARLIER + "I said 0 and 1."),
        ("user", "question 2"),
        ("assistant", "2"),
        ("user", "question 3"),
    ]
    assert [unpack(request.key).call for request in (asked, question)] == [0, 1]
    assert bench.endings.values == {0: 3}
    assert bench.left_out == []


def test_a_new_summary_is_made_of_the_one_before() -> None:
    bench = three(Remembering(KIND))
    bench.reply("I said 0 and 1.")
    bench.reply("3")
    bench.exchange("question 4", "4")
    bench.ask("question 5")
    [asked] = bench.reply("I said much.")
    assert [text for _, text in bench.after_rules(asked)][:3] == [
        EARLIER + "I said 0 and 1.",
        "question 2",
        "2",
    ]
    [question] = bench.reply("5")
    assert bench.after_rules(question)[0] == ("user", EARLIER + "I said much.")


def test_who_the_agent_is_is_told_with_the_summary_too() -> None:
    bench = three(Remembering(KIND, persona=PERSONA))
    [asked] = bench.reply("I said 0 and 1.")
    [question] = bench.reply("3")
    for request in (asked, question):
        assert bench.after_rules(request)[0] == ("system", PERSONA)


def test_a_long_summary_is_cut() -> None:
    bench = three(Remembering(KIND))
    bench.reply("one two three four five six seven")
    [question] = bench.reply("3")
    assert bench.after_rules(question)[0] == ("user", EARLIER + "one two three four five six ...")
    assert first_words(" a\n b ", 2) == "a b"


@pytest.mark.parametrize(
    "policy",
    [{"on_failure": "exclude"}, {"on_failure": "fail"}, {"on_failure": "fallback", "fallback": 50}],
    ids=lambda policy: policy["on_failure"],
)
def test_without_a_summary_things_stay_as_they_are(policy: dict[str, Any]) -> None:
    bench = three(Remembering(KIND, retries=0, **policy))
    bench.reply(Result(0, "no server", Finish.ERROR))
    assert bench.record.failures[-1][1::2] == ("server error", "done without")
    [question] = bench.reply("3")
    assert [text for _, text in bench.after_rules(question)] == [
        *("question 0", "0", "question 1", "1", "question 2", "2"),
        "question 3",
    ]
    assert bench.scheduler.fatal is None
    assert bench.endings.values == {0: 3}


def test_a_full_budget_has_a_summary_written_at_once() -> None:
    bench = Remembering(RunningSummary(exchanges=1, every=100, max_words=6, budget_tokens=64))
    bench.exchange("long " * 50)
    bench.ask("word " * 20)
    [asked] = bench.reply("It was long.")
    assert bench.after_rules(asked) == [("user", INSTRUCTION.format(6))], "no room for what it is about"
    assert bench.left_out == ["2 messages, 51 tokens"]
    [question] = bench.reply("3")
    assert [text for _, text in bench.after_rules(question)] == [EARLIER + "It was long.", "word " * 20]
