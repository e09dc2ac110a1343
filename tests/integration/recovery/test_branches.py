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
