"""What is recalled is what is recent, important and like the question."""

from __future__ import annotations

import pytest

from engine.agents.memories.composition import REMEMBERED
from engine.agents.memories.retrieval import RATE, Stream
from engine.agents.memories.settings import Retrieval
from engine.models.protocol import Finish, Result
from tests.unit.agents.memories.conftest import PERSONA, Remembering

ONLY_RELEVANT = {"recency_weight": 0.0, "importance_weight": 0.0}


def noted(kind: Retrieval, *notes: tuple[str, int, float]) -> Remembering:
    """Return a bench whose agent has noted things: text, round, importance."""
    bench = Remembering(kind)
    bench.exchange("Hello?")
    memory = bench.agents[0].memory
    for text, round_, importance in notes:
        bench.agents[0].world.round = round_
        memory.note(text, importance)
    return bench


def recalled(bench: Remembering, question: str, round_: int) -> list[str]:
    """Ask, and return what came to mind, in the order in which it is told."""
    asked = bench.exchange(question, "1", round_)[-1][1]
    told, _, last = asked.rpartition("\n\n")
    assert last == question
    return [line.removeprefix("- ") for line in told.splitlines()[1:]]


NOTES = [("The well is dry.", 1, 1.0), ("The king died.", 2, 10.0), ("Bread is cheap.", 8, 1.0)]


@pytest.mark.parametrize(
    ("weights", "question", "found"),
    [
        ((1.0, 0.0, 0.0), "What about the well?", "Bread is cheap."),
        ((0.0, 1.0, 0.0), "What about the well?", "The king died."),
        ((0.0, 0.0, 1.0), "What about the well?", "The well is dry."),
        ((1.0, 0.0, 1.01), "Is the well dry?", "The well is dry."),
    ],
)
def test_each_part_of_the_score_has_its_weight(
    weights: tuple[float, float, float], question: str, found: str
) -> None:
    recency, importance, relevance = weights
    kind = Retrieval(
        recall=1, recency_weight=recency, importance_weight=importance, relevance_weight=relevance
    )
    assert recalled(noted(kind, *NOTES), question, 9) == [found]


def test_the_score_is_the_sum_of_the_three() -> None:
    """By hand, round 9, decay 0.5: recency 2^-8, 2^-7, 2^-1; importance 1, 10, 1; BM25 of "dry" b, 0, 0.

    Scaled: 0, 0.0079, 1; 0, 1, 0; 1, 0, 0. Weighted 1, 1.2, 1.1: 1.1, 1.2079, 1.
    """
    kind = Retrieval(decay=0.5, importance_weight=1.2, relevance_weight=1.1, exchanges=9)
    bench = noted(kind, *NOTES)
    memory = bench.agents[0].memory
    assert isinstance(memory, Stream)
    bench.agents[0].world.round = 9
    assert memory.ranked("dry") == [1, 0, 2]


def test_what_is_told_comes_in_order_of_time() -> None:
    bench = noted(Retrieval(recall=3, exchanges=9), *NOTES)
    assert recalled(bench, "What of bread?", 9) == [text for text, _, _ in NOTES]


def test_recalling_something_keeps_it_fresh() -> None:
    bench = noted(Retrieval(recall=1, exchanges=9, **ONLY_RELEVANT), *NOTES)
    recalled(bench, "What of the king?", 9)
    memory = bench.agents[0].memory
    assert isinstance(memory, Stream)
    assert [entry.recalled for entry in memory.entries] == [1, 9, 8]


def test_exchanges_grow_old_and_are_recalled() -> None:
    bench = Remembering(Retrieval(exchanges=1, recall=1, **ONLY_RELEVANT))
    bench.exchange("What is the price of pears?", "7")
    bench.exchange("And of wood?", "8")
    assert bench.exchange("Say the price of pears again.", "9") == [
        ("user", "And of wood?"),
        ("assistant", "8"),
        (
            "user",
            f'{REMEMBERED}\n- What is the price of pears? You replied: "7"\n\nSay the price of pears again.',
        ),
    ]
    assert bench.left_out == []


def test_what_there_is_no_room_for_is_recalled_no_more_and_counted() -> None:
    kind = Retrieval(recall=3, exchanges=9, budget_tokens=32, **ONLY_RELEVANT)
    bench = noted(kind, ("wood " * 12, 1, 5.0), ("wood and bread", 2, 5.0), ("bread " * 12, 3, 5.0))
    assert recalled(bench, "bread", 4) == ["wood and bread", ("bread " * 12).strip()]
    assert bench.left_out == ["1 messages, 12 tokens"]
    memory = bench.agents[0].memory
    assert isinstance(memory, Stream)
    assert len(memory.entries) == 3, "they may be recalled another time"


def test_the_model_rates_what_gets_old() -> None:
    bench = Remembering(Retrieval(exchanges=1, importance="model"), persona=PERSONA)
    for n in range(2):
        bench.exchange(f"question {n}")
    bench.ask("question 2")
    [rating] = bench.reply("8")
    assert bench.after_rules(rating) == [
        ("system", PERSONA),
        ("user", RATE.format('question 0 You replied: "1"')),
    ]
    bench.reply("3")
    memory = bench.agents[0].memory
    assert isinstance(memory, Stream)
    assert [entry.importance for entry in memory.entries] == [8]
    assert bench.endings.values == {0: 3}


def test_what_the_model_does_not_rate_is_middling() -> None:
    bench = Remembering(Retrieval(exchanges=0, importance="model"), retries=0, on_failure="fail")
    bench.exchange("question 0")
    bench.ask("question 1")
    bench.reply(Result(0, "", Finish.TIMEOUT))
    bench.reply("3")
    memory = bench.agents[0].memory
    assert isinstance(memory, Stream)
    assert [entry.importance for entry in memory.entries] == [5]
    assert bench.scheduler.fatal is None
