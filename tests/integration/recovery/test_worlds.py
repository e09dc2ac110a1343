"""The scenarios with a clock and an environment: the same on any number of workers, whatever dies."""

from pathlib import Path
from random import Random

import msgspec
import pytest

from engine.models.policy import PolicyBackend
from engine.models.protocol import Catalogue, Request, Result
from engine.preset.load import from_toml
from engine.preset.schema import Preset
from engine.scenarios import registry
from tests.fakes.stage import Stage
from tests.integration.recovery.test_any_order import check_same, folder, on, play_with_kills

PRESET = """
name = "worlds"
seed = {seed}
[scenario]
name = "{name}"
rounds = 5
groups = 2
[scenario.clock]
start = "19:00"
[scenario.activity]
pattern = "online"
[[scenario.activity.parts]]
where = "age < 30"
pattern = "always"
[population]
size = 14
[population.attributes.age]
from = "distribution"
distribution = "randint"
parameters = {{ low = 18, high = 60 }}
[population.networks.friends]
kind = "small_world"
neighbours = 4
[model]
backend = "policy"
policy = "{policy}"
[engine]
workers = 2
"""

WORLDS = [("social_feed", "user"), ("grid_town", "mixer")]


def preset_of(name: str, policy: str, seed: int) -> Preset:
    preset = from_toml(PRESET.format(name=name, policy=policy, seed=seed).encode(), "preset.toml")
    parameters = {"post": 0.5, "repost": 0.3} if name == "social_feed" else {}
    return msgspec.structs.replace(
        preset,
        model=msgspec.structs.replace(preset.model, parameters=parameters),  # type: ignore[type-var]
    )


def stage_of(preset: Preset, path: Path, order: Random, **setup: object) -> Stage:
    rules = registry.find(preset.scenario.scenario_name).policies

    def reply(request: Request, catalogue: Catalogue) -> str:
        found: list[Result] = []
        backend = PolicyBackend(preset.model, catalogue, rules, preset.scenario, preset.seed)  # type: ignore[arg-type]
        backend.submit([request], found.extend)
        return found[0].text

    return Stage(preset, path, order, model=reply, **setup)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "policy"), WORLDS)
def test_the_same_whatever_dies(name: str, policy: str, seed: int, tmp_path: Path) -> None:
    preset, dice = preset_of(name, policy, seed), Random(seed)
    quiet = stage_of(on(1, preset), folder(tmp_path / "quiet"), dice).play()
    assert 20 < len(quiet.asked) < 14 * 5
    play_with_kills(preset, folder(tmp_path / "stormy"), dice, stage_of=stage_of)
    stage_of(on(5, preset), folder(tmp_path / "five"), dice).play()
    check_same(tmp_path / "quiet", tmp_path / "stormy")
    check_same(tmp_path / "quiet", tmp_path / "five")
    again = stage_of(preset, folder(tmp_path / "replay"), dice, resumed=True, replay_of=tmp_path / "stormy")
    assert again.play().asked == []
    told = ([report.outcome.stats for report in stage.coordinator.reports] for stage in (quiet, again))
    assert next(told) == next(told)
