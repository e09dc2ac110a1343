"""The preset of a sample."""

import pytest

from engine.errors import UsageError
from engine.forecast.sample import ROUNDS, sample_of
from engine.models.settings import Dummy
from engine.preset.schema import Budget, Population, Preset
from engine.scenarios.guess_average import GuessAverageSettings
from engine.scenarios.scenario import ScenarioSettings


def preset(size: int = 1000, rounds: int = 5, groups: int = 1) -> Preset:
    return Preset(
        name="trial",
        scenario=GuessAverageSettings(rounds=rounds, groups=groups),
        population=Population(size=size),
        model=Dummy(answer_cache=True),
        budget=Budget(tokens=5, wall_s=1, failures=0),
    )


@pytest.mark.parametrize(
    ("size", "groups", "wanted", "agents", "sample_groups"),
    [
        (1000, 1, 40, 40, 1),
        (10, 1, 40, 10, 1),
        (1000, 100, 40, 40, 4),  # four groups of ten
        (1000, 4, 40, 40, 1),  # part of one group
        (1000, 300, 10, 8, 2),  # groups of three and four: two of the larger
        (30, 10, 40, 30, 10),
    ],
)
def test_groups_keep_their_size_where_there_is_room(
    size: int, groups: int, wanted: int, agents: int, sample_groups: int
) -> None:
    sample = sample_of(preset(size, groups=groups), wanted)
    assert (sample.population.size, sample.scenario.groups) == (agents, sample_groups)


@pytest.mark.parametrize(("rounds", "seen"), [(1, 1), (2, 2), (50, ROUNDS)])
def test_only_the_first_rounds_are_run(rounds: int, seen: int) -> None:
    assert sample_of(preset(rounds=rounds), 10).scenario.rounds == seen


def test_everything_is_measured_and_money_stays_protected() -> None:
    sample = sample_of(preset(), 10)
    assert not sample.model.answer_cache
    assert sample.budget == Budget(tokens=5)
    assert sample.journal.transcripts == "none"


def test_a_scenario_may_need_more_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    def problems(self: ScenarioSettings, size: int) -> list[tuple[str, str, str]]:
        return [("rounds", "pairs need an even number", "an even number")] if size % 2 else []

    monkeypatch.setattr(GuessAverageSettings, "problems", problems)
    assert sample_of(preset(), 10)
    with pytest.raises(UsageError, match="sample of 11 agents is not possible: rounds: pairs need"):
        sample_of(preset(), 11)
