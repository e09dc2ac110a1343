"""What docs/populations.md says is so."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from engine.cluster.slices import codes_of
from engine.population.build import build
from engine.population.functions import FUNCTIONS
from engine.population.network.settings import Network
from engine.population.settings import AnyAttribute, Population
from engine.population.template import FILTERS
from engine.preset.load import from_toml

PAGE = (Path(__file__).parents[2] / "docs" / "populations.md").read_text(encoding="utf-8")
PRESETS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_the_first_population_can_be_built() -> None:
    found = build(msgspec.convert(tomllib.loads(PRESETS[0])["population"], Population), 1)
    assert all(comparison.largest_deviation < 1 for comparison in found.report.comparisons)
    assert found.persona(0).startswith("You are ")


def test_the_tables_can_be_fitted() -> None:
    table = tomllib.loads(PRESETS[1])["population"]
    found = build(msgspec.convert({"size": 1000, **table}, Population), 1)
    assert all(comparison.largest_deviation == pytest.approx(0) for comparison in found.report.comparisons)


def test_the_microdata_can_be_read(tmp_path: Path) -> None:
    table = tomllib.loads(PRESETS[2])["population"]
    table["microdata"]["file"] = str(tmp_path / "survey.csv")
    (tmp_path / "survey.csv").write_text("AGEP,sex,W\n10,1,5\n30,2,7\n40,1,NA\n70,2,9\n50,1,2\n")
    found = build(msgspec.convert({"size": 100, **table}, Population), 1)
    assert found.report.comparisons[0].largest_deviation == 0
    assert found.report.notes == ["1 records of the microdata had values missing"]


def test_the_slices_are_the_studys() -> None:
    text = f'name = "doc"\nscenario.name = "guess_average"\nmodel.backend = "dummy"\n{PRESETS[3]}'
    preset = from_toml(text.encode(), "doc.toml")
    codes = codes_of(preset, None)
    assert codes is not None
    assert sorted(Counter(codes.tolist()).items()) == [(0, 500), (1, 500), (2, 500)]


def listed(kinds: object) -> set[str]:
    return {str(kind.__struct_config__.tag) for kind in kinds.__args__}  # type: ignore[attr-defined]


@pytest.mark.parametrize("kinds", [AnyAttribute, Network])
def test_every_kind_is_told(kinds: object) -> None:
    assert listed(kinds) <= set(re.findall(r'^\| `"(\w+)"` \|', PAGE, re.MULTILINE))


def test_every_function_and_filter_is_told() -> None:
    assert set(FUNCTIONS) <= set(re.findall(r"`(\w+)\(", PAGE))
    filters = re.search(r"and these filters: (.*?)\. Loops", PAGE)
    assert filters
    assert set(re.findall(r"`(\w+)`", filters[1])) == set(FILTERS)
