"""Those who are born take part in all that a group does; those who retire are missed by nobody."""

import json
from pathlib import Path

import pytest

from engine.population.settings import Births
from engine.scenarios import registry
from tests.fakes.nursery import Family, NurserySettings
from tests.fakes.play import play

SIZE, GROUPS = 6, 2


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_children_hear_events_and_parents_and_retire(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.BUILT_IN, "nursery", "tests.fakes.nursery:Family")
    monkeypatch.setattr(Family, "policies", {"none": lambda turn: ""})
    stats = play(
        tmp_path,
        NurserySettings(rounds=6, groups=GROUPS),
        SIZE,
        "none",
        workers=workers,
        population={"births": Births(per_group=5)},
    )
    values = [sorted(filter(None, json.loads(str(round_["values"])))) for round_ in stats]
    parents = {0: [0, 1, 2], 1: [3, 4, 5]}
    child_of = {0: 6, 1: 7, 2: 8, 3: 11, 4: 12, 5: 13}
    retired = {child for child in child_of.values() if child % 2 == 0}

    def told_to(parent: int, round_: int) -> list[int]:
        """Cries of round 2, in which children subscribe, may come before or after that."""
        group = next(members for members in parents.values() if parent in members)
        return sorted([*group, parent]) if round_ > 3 else []

    for round_, found in enumerate(values, start=1):
        children = {child: parent for parent, child in child_of.items()} if round_ > 1 else {}
        there = {c: p for c, p in children.items() if round_ <= 4 or c not in retired}
        if round_ > 3:
            assert [v for v in found if v[0] in there] == sorted(
                [child, parent, told_to(parent, round_)] for child, parent in there.items()
            )
        gone = {p for c, p in children.items() if round_ > 4 and c in retired}
        expected = [
            [p, f"agent {child_of[p]} has retired" if p in gone else int(round_ > 1)] for p in range(SIZE)
        ]
        assert [v for v in found if v[0] < SIZE] == expected
