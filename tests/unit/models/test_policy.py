"""Scripted players behind the batch protocol."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from engine.errors import ModelError
from engine.keys import pack
from engine.models.answers import Number
from engine.models.policy import PolicyBackend, Rule, Turn
from engine.models.protocol import Catalogue, Finish, Request, Result
from engine.models.settings import Policy
from tests.fakes.model_calls import calls, user

GUESS = Number(0, 100)


def backend(rule: Rule, catalogue: Catalogue | None = None, seed: int = 1) -> PolicyBackend:
    rules = {"rule": rule}
    return PolicyBackend(
        Policy(policy="rule", parameters={"tau": 1.5}), catalogue or Catalogue(), rules, "settings", seed
    )


def ask(rule: Rule, n: int, *, answer: Number = GUESS, round_: int = 1, seed: int = 1) -> list[Result]:
    catalogue = Catalogue()
    requests = calls(catalogue, answer, [user("?")] * n, round_=round_)
    got: list[Result] = []
    backend(rule, catalogue, seed).submit(requests, got.extend)
    assert [result.key for result in got] == [request.key for request in requests]
    return got


def test_a_rule_sees_the_situation_and_answers_for_the_model() -> None:
    seen: list[Turn] = []

    def rule(turn: Turn) -> str:
        seen.append(turn)
        return "42"

    catalogue = Catalogue()
    [request] = calls(catalogue, GUESS, [user("?")])
    request = Request(request.key, request.prefix, request.form, request.tail, {"average": 3.0})
    got: list[Result] = []
    backend(rule, catalogue).submit([request], got.extend)
    assert [(result.text, result.finish) for result in got] == [("42", Finish.STOP)]
    [turn] = seen
    assert (turn.facts, turn.settings, turn.parameters) == ({"average": 3.0}, "settings", {"tau": 1.5})


def texts(results: list[Result]) -> list[str]:
    return [result.text for result in results]


def test_a_trait_is_an_agents_own_for_the_whole_run() -> None:
    def rule(turn: Turn) -> str:
        return str(turn.trait)

    first, later = ask(rule, 50, round_=1), ask(rule, 50, round_=9)
    assert texts(first) == texts(later)
    assert len(set(texts(first))) == 50
    assert texts(ask(rule, 50, seed=2)) != texts(first)


def test_random_numbers_are_a_calls_own() -> None:
    def rule(turn: Turn) -> str:
        return str(turn.rng.random())

    first, later = ask(rule, 50, round_=1), ask(rule, 50, round_=2)
    assert len({*texts(first), *texts(later)}) == 100
    assert texts(ask(rule, 50)) == texts(first), "and the same whenever it is asked"


def test_a_rule_that_fails_fails_that_request_alone() -> None:
    seen = Counter[str]()

    def rule(turn: Turn) -> str:
        seen["asked"] += 1
        if seen["asked"] == 2:
            raise ZeroDivisionError("by zero")
        return "1"

    got = ask(rule, 3)
    assert [result.finish for result in got] == [Finish.STOP, Finish.ERROR, Finish.STOP]
    assert got[1].text == "ZeroDivisionError: by zero"


def test_an_answer_after_reasoning_gets_its_mark() -> None:
    answer = Number(0, 100, reasoning=50)
    [result] = ask(lambda turn: "7", 1, answer=answer)
    assert answer.parse(result.text) == 7


def opened(policy: str, rules: dict[str, Callable[[Turn], str]]) -> dict[str, Any]:
    made = PolicyBackend(Policy(policy=policy), Catalogue(), rules, None, 1)
    return asyncio.run(made.open())


def test_an_unknown_rule_is_refused_with_those_there_are() -> None:
    rules = {"nash": str, "level_k": str}
    assert opened("nash", rules) == {"policy": "nash", "parameters": {}}
    with pytest.raises(ModelError) as caught:
        opened("nahs", rules)
    assert caught.value.where == "model.policy"
    assert caught.value.hint == "it offers: level_k, nash"
    with pytest.raises(ModelError, match="it offers: none"):
        opened("nash", {})


def test_keys_are_not_traits() -> None:
    """Agents next to each other are not alike."""
    [traits] = [[float(text) for text in texts(ask(lambda turn: str(turn.trait), 1_000))]]
    assert abs(sum(traits) / 1_000 - 0.5) < 0.04
    assert pack(1, 0) != pack(1, 1)
