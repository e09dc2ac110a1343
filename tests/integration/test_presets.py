"""The presets that come along pass the check; those without a language model give what theory says."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from app import settings
from app.main import cli
from engine import client
from engine.cluster.control import Finished, RoundReport
from engine.preset.schema import Preset
from engine.scenarios.guess_average_rules import cognitive_hierarchy, level_k, poisson

SHIPPED = settings.shipped()


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_it_passes_the_check(path: Path) -> None:
    checked = CliRunner().invoke(cli, ["check", path.stem])
    assert checked.exit_code == 0, checked.output
    assert checked.output.startswith("OK: ")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_it_says_in_one_line_what_it_is_for(path: Path) -> None:
    comment, name, description, *_ = path.read_text(encoding="utf-8").splitlines()
    assert comment.startswith("# ")
    assert name == f'name = "{path.stem}"'
    assert description.startswith("description = ")


def play(name: str, directory: Path) -> tuple[Preset, list[RoundReport]]:
    """Play a preset that comes along in two workers, as the command line does."""
    loaded = settings.load(name, ["engine.workers=2"], environ={}, user_config=directory / "none.toml")
    events = list(client.start(loaded.preset, loaded.toml, directory).events())
    assert isinstance(events[-1], Finished)
    assert events[-1].state == "done", events[-1]
    return loaded.preset, [event for event in events if isinstance(event, RoundReport)]


def test_level_k_players_take_a_power_of_the_ratio_of_the_last_average(tmp_path: Path) -> None:
    preset, rounds = play("guess_average_level_k", tmp_path)
    level = int(preset.model.parameters["level"])  # type: ignore[union-attr]
    average = 50.0
    for report in rounds:
        average = round(level_k(level, average, 2 / 3), 2)
        stats = report.outcome.stats
        assert stats["mean"] == pytest.approx(average)
        assert stats["sd"] == pytest.approx(0, abs=1e-9)
    assert [report.round for report in rounds] == [1, 2, 3, 4]


def test_a_cognitive_hierarchy_has_the_published_mean(tmp_path: Path) -> None:
    """For tau 1.5 it is 33.5; levels 1 and 2 choose 33.3 and 26.7."""
    _, (report,) = play("guess_average_cognitive_hierarchy", tmp_path)
    mean = sum(s * c for s, c in zip(poisson(1.5), cognitive_hierarchy(1.5, 50, 2 / 3), strict=True))
    assert mean == pytest.approx(33.5, abs=0.05)
    assert report.outcome.stats["mean"] == pytest.approx(mean, abs=0.4)  # two standard errors
    shares = [count / 10_000 for count in report.outcome.histogram]
    assert shares[6] == pytest.approx(0.335 + 0.223 / 20, abs=0.015)
    assert shares[5] == pytest.approx(0.251 + 0.223 / 20, abs=0.015)


def test_nice_strategies_win_the_tournament(tmp_path: Path) -> None:
    """Axelrod (1980): all that are never the first to defect end above all that are."""
    _, rounds = play("prisoners_dilemma_tournament", tmp_path)
    stats = rounds[-1].outcome.stats
    assert rounds[-1].round == 200
    nice = [stats[name] for name in ("tit for tat", "tit for two tats", "grim", "pavlov")]
    others = [stats[name] for name in ("always defect", "random")]
    assert min(map(float, nice)) > 1.2 * max(map(float, others))  # type: ignore[arg-type]
    assert stats["matches"] == 12 * 11 / 2
