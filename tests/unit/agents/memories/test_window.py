"""The last exchanges are remembered, the others not."""

from __future__ import annotations

import pytest

from engine.agents.memories.settings import SlidingWindow
from tests.unit.agents.memories.conftest import PERSONA, Remembering


@pytest.mark.parametrize("exchanges", [0, 1, 3])
def test_so_many_exchanges_are_in_a_prompt(exchanges: int) -> None:
    bench = Remembering(SlidingWindow(exchanges=exchanges))
    for n in range(6):
        prompt = bench.exchange(f"question {n}", str(n))
        expected = [text for k in range(max(0, n - exchanges), n) for text in (f"question {k}", str(k))]
        assert [text for _, text in prompt] == [*expected, f"question {n}"]
    assert bench.left_out == ["2 messages, 3 tokens"] * (5 - exchanges)


def test_an_agent_does_not_forget_who_it_is() -> None:
    bench = Remembering(SlidingWindow(exchanges=1), persona=PERSONA)
    bench.exchange(f"{PERSONA} first")
    assert bench.exchange("second")[0] == ("user", f"{PERSONA} first")
    assert bench.exchange("third")[0] == ("system", PERSONA)


def test_what_is_forgotten_is_counted_though_the_question_cannot_be_asked() -> None:
    bench = Remembering(SlidingWindow(exchanges=1, budget_tokens=32))
    bench.exchange("first")
    bench.exchange("second")
    bench.ask("word " * 40)
    bench.run_ready()
    assert bench.left_out == ["2 messages, 2 tokens"]
    assert "over budget" in [kind for _, kind, _, _ in bench.record.failures]


def test_what_happened_between_is_part_of_an_exchange() -> None:
    bench = Remembering(SlidingWindow(exchanges=1))
    bench.exchange("first")
    memory = bench.agents[0].memory
    memory.note("It rains.")
    memory.note("It still rains.")
    bench.exchange("second")
    assert [text for _, text in bench.exchange("third")] == [
        "It rains.",
        "It still rains.",
        "second",
        "1",
        "third",
    ]
