"""Runs against each other: answers of every kind, in agents and in groups."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.compare.answers import MAX_OPTIONS, Answers, Kind, in_common, read_answers
from engine.compare.comparison import MIN_GROUPS, Comparison, compare
from engine.compare.differences import Difference, circumstances, differences
from engine.journal.manifest import read_manifest
from engine.journal.reader import Reader
from engine.models.answers import Choice, Text
from tests.fakes.played import play

Rounds = Sequence[Sequence[str | None]]


def compared(folder: Path, *runs: Rounds, **options: Any) -> list[Comparison]:
    with ExitStack() as stack:
        files = [
            stack.enter_context(Reader(play(folder / str(n), rounds, **options).run_file))
            for n, rounds in enumerate(runs)
        ]
        return compare(files)


def test_rounds_that_both_have_are_compared_with_their_n(tmp_path: Path) -> None:
    a = [("10", "20", "30", "no"), ("1", "2", "3", "4")]
    b = [("10", "30", "50", "70")]
    (found,) = compared(tmp_path, a, b)
    (round_,) = found.rounds
    assert (found.a, found.b, round_.round) == (0, 1, 1)
    assert (round_.n_a, round_.n_b, round_.n_both, round_.n_same) == (3, 4, 3, 1)
    assert round_.numbers is not None
    assert round_.numbers.difference == 20
    assert round_.p == round_.p_adjusted == round_.numbers.p


def test_several_runs_are_compared_with_the_first(tmp_path: Path) -> None:
    found = compared(tmp_path, [("1", "2")], [("1", "2")], [("5", "6")])
    assert [(c.a, c.b) for c in found] == [(0, 1), (0, 2)]
    assert [c.rounds[0].numbers and c.rounds[0].numbers.difference for c in found] == [0, 4]


def test_p_is_adjusted_over_the_rounds(tmp_path: Path) -> None:
    a, b = ("1", "2", "3", "4", "5"), ("11", "12", "13", "14", "15")
    (found,) = compared(tmp_path, [a, a], [b, a])
    first, second = found.rounds
    assert first.p is not None
    assert first.p_adjusted == pytest.approx(2 * first.p)
    assert second.p_adjusted == 1


def test_choices_are_counted(tmp_path: Path) -> None:
    (found,) = compared(
        tmp_path, [("yes", "no", "no")], [("yes", "yes", "yes")], answer=Choice(("yes", "no"))
    )
    (round_,) = found.rounds
    assert round_.choices is not None
    assert [(o.name, o.n_a, o.n_b) for o in round_.choices.options] == [("yes", 1, 3), ("no", 2, 0)]
    assert round_.n_same == 1


def test_free_texts_are_named_and_not_compared(tmp_path: Path) -> None:
    texts = [tuple(f"I think {n}" for n in range(MAX_OPTIONS + 1))]
    (found,) = compared(tmp_path, texts, texts, answer=Text())
    (round_,) = found.rounds
    assert (round_.kind_a, round_.numbers, round_.choices, round_.p) == (Kind.TEXTS, None, None, None)
    assert (round_.n_both, round_.n_same) == (MAX_OPTIONS + 1, MAX_OPTIONS + 1)


@pytest.mark.parametrize("b", [[("no", "no")], [(None, None)]])
def test_a_round_without_answers(tmp_path: Path, b: Rounds) -> None:
    (found,) = compared(tmp_path, [("1", "2")], b)
    (round_,) = found.rounds
    assert (round_.kind_a, round_.kind_b, round_.n_b, round_.p) == (Kind.NUMBERS, Kind.NONE, 0, None)


def test_after_the_first_round_many_groups_are_compared_as_groups(tmp_path: Path) -> None:
    said = tuple(str(n) for n in range(2 * MIN_GROUPS))
    (found,) = compared(tmp_path, [said, said], [said, said], groups=MIN_GROUPS)
    first, second = found.rounds
    assert (first.unit, second.unit) == ("agent", "group")
    assert first.numbers is not None
    assert second.numbers is not None
    assert (first.numbers.a.n, second.numbers.a.n, second.numbers.a.sd) == (
        10,
        MIN_GROUPS,
        pytest.approx(3.1623, abs=1e-4),
    )


def test_too_few_groups_are_not(tmp_path: Path) -> None:
    said = ("1", "2", "3", "4")
    (found,) = compared(tmp_path, [said, said], [said, said], groups=2)
    assert [round_.unit for round_ in found.rounds] == ["agent", "agent"]


def test_answers_come_by_agent_whatever_the_order_of_arrival(tmp_path: Path) -> None:
    with Reader(play(tmp_path / "run", [("5", None, "7")]).run_file) as file:
        answers = read_answers(file, 1)
        assert (answers.agents.tolist(), answers.values.tolist()) == ([0, 2], [5.0, 7.0])
        assert read_answers(file, 9).kind is Kind.NONE


def test_agents_in_common_are_found_by_number() -> None:
    a = Answers(np.array([1, 3, 5]), np.array([10.0, 30.0, 50.0]))
    b = Answers(np.array([3, 4, 5]), np.array(["thirty", "x", "50"], object))
    assert in_common(a, a) == (3, 3)
    assert in_common(a, b) == (2, 0)


def test_only_what_is_not_the_same_everywhere_is_a_difference() -> None:
    sides = [
        {"a": 1, "b": 2, "c": [1]},
        {"a": 1, "b": 3, "c": [1], "d": None},
        {"a": 1, "b": 2, "c": [2], "e": 0},
    ]
    assert differences(sides) == [
        Difference("b", (2, 3, 2)),
        Difference("c", ([1], [1], [2])),
        Difference("e", (None, None, 0)),
    ]
    assert differences([{"x": 1}]) == []


def test_circumstances_leave_out_what_is_of_the_run_itself(tmp_path: Path) -> None:
    models = {"model-default": {"file": "a.gguf", "prices": {"in": 2}}}
    made = circumstances(read_manifest(play(tmp_path / "run", [("1",)], models=models).manifest))
    assert made["models.model-default.file"] == "a.gguf"
    assert made["models.model-default.prices.in"] == 2
    assert "hosts.0.cpu" in made
    assert "simtui" in made
    assert not {"started", "ended", "state", "name", "seed", "preset_sha256"} & made.keys()
