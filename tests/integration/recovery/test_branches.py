"""A branch that is interrupted and taken up again comes to the same as one that is not."""

from pathlib import Path
from random import Random

import msgspec
import pytest

from engine.journal.branch import copy_rounds
from engine.models.settings import Policy
from engine.preset.schema import Engine, Journal, Population, Preset
from tests.fakes.improvise import CoupledSettings, ImproviseSettings
from tests.fakes.journals import WHATEVER_THE_TURNS, content, differences, keys
from tests.fakes.stage import Stage

ROUNDS = 5


def any_preset(dice: Random) -> Preset:
    settings = dice.choice([ImproviseSettings, CoupledSettings])(
        plan=dice.getrandbits(32), rounds=ROUNDS, groups=dice.choice([1, 2]), asking=dice.choice([0.0, 0.4])
    )
    return Preset(
        name="any",
        scenario=settings,
        population=Population(size=dice.randint(2, 9)),
        model=Policy(policy="echo"),
        journal=Journal(snapshot_every=dice.choice([0, 1, 2])),
        engine=Engine(workers=dice.choice([1, 2, 5]), failure_budget=1.0),
    )


def branch(source: Path, at: Path, last_round: int) -> Path:
    at.mkdir()
    copy_rounds(source / "run.db", at / "run.db", last_round)
    return at


@pytest.mark.parametrize("seed", range(25))
def test_an_interrupted_branch(seed: int, tmp_path: Path) -> None:
    dice = Random(seed)
    before, last_round = any_preset(dice), dice.randint(1, ROUNDS - 1)
    parent = tmp_path / "parent"
    parent.mkdir()
    Stage(before, parent, dice).play()
    scenario = msgspec.structs.replace(before.scenario, style="otherwise ")
    after = msgspec.structs.replace(before, scenario=scenario)
    setup = {"resumed": True, "before": before, "branched_at": last_round}

    quiet = branch(parent, tmp_path / "quiet", last_round)
    Stage(after, quiet, dice, **setup).play()

    stormy = branch(parent, tmp_path / "stormy", last_round)
    for _ in range(2):
        known = keys(stormy / "run.db")
        stage = Stage(after, stormy, dice, **setup).go_on(dice.randrange(150))
        assert known.isdisjoint(stage.asked)
        if stage.is_over:
            break
        stage.kill()
    else:
        known = keys(stormy / "run.db")
        assert known.isdisjoint(Stage(after, stormy, dice, **setup).play().asked)
    assert differences(*(content(path / "run.db", WHATEVER_THE_TURNS) for path in (quiet, stormy))) == []


@pytest.mark.parametrize("seed", range(15))
def test_a_branch_of_a_branch(seed: int, tmp_path: Path) -> None:
    """It shares what its parent shares and what that has played, asks for the rest, and can be repeated."""
    dice = Random(seed)
    first = any_preset(dice)
    second, third = (
        msgspec.structs.replace(first, scenario=msgspec.structs.replace(first.scenario, style=style))
        for style in ("second ", "third ")
    )
    parent = tmp_path / "parent"
    parent.mkdir()
    Stage(first, parent, dice).play()
    child = branch(parent, tmp_path / "child", 2)
    Stage(second, child, dice, resumed=True, before=first, branched_at=2).play()
    twig = branch(child, tmp_path / "twig", 4)
    setup = {"resumed": True, "before": second, "branched_at": 4, "earlier": ((first, 2),)}
    known = keys(twig / "run.db")
    for _ in range(2):
        stage = Stage(third, twig, dice, **setup).go_on(dice.randrange(60))
        assert known.isdisjoint(stage.asked)
        if not stage.is_over:
            stage.kill()
    if not stage.is_over:
        Stage(third, twig, dice, **setup).play()
    shared = {"replies": "SELECT key, prompt, value FROM replies WHERE round <= 4"}
    assert differences(*(content(path / "run.db", shared) for path in (child, twig))) == []
    (tmp_path / "again").mkdir()
    again = Stage(third, tmp_path / "again", dice, replay_of=twig, **setup).play()
    assert again.asked == []
    diverged = {"failures": "SELECT * FROM failures WHERE kind = 'diverged'"}
    assert content(tmp_path / "again" / "run.db", diverged) == {"failures": []}
