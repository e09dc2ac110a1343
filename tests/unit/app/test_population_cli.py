"""`simtui sample` and `simtui population`: what they print, as pages and as JSON."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from app import settings
from app.main import cli
from engine.errors import UsageError

TEXT = """\
name = "trial"
scenario.name = "guess_average"
model.backend = "dummy"
[population]
size = 100
[population.attributes.job]
from = "shares"
shares = { cook = 0.2, "nurse\\u001b[2J" = 0.8 }
[population.attributes.age]
from = "distribution"
distribution = "uniform"
parameters = { low = 20, high = 69 }
type = "integer"
[population.attributes.married]
from = "shares"
type = "boolean"
shares = { true = 0.5, false = 0.5 }
[population.persona]
template = "You are {{ age }} and work as {{ job|article }}."
"""


@pytest.fixture
def preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(settings.platformdirs, "user_config_path", lambda app: tmp_path / app)
    path = tmp_path / "p.toml"
    path.write_text(TEXT)
    return str(path)


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False, env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    return result.stdout


def test_people_are_printed_to_be_read(preset: str) -> None:
    page = printed("sample", preset, "-n", "3")
    assert page.count(" of 100\n") == 3
    assert page == printed("sample", preset, "-n", "3")
    assert page != printed("sample", preset, "-n", "3", "--set", "seed=2")
    assert "\x1b" not in page
    person = printed("sample", preset, "--person", "7").splitlines()
    assert person[0] == "Person 7 of 100"
    assert [line.split()[0] for line in person[1:4]] == ["job", "age", "married"]
    assert person[3].split()[1] in ("yes", "no")
    assert person[4].startswith(f"You are {person[2].split()[1]} and work as a ")


def test_people_as_json(preset: str) -> None:
    found = json.loads(printed("sample", preset, "--person", "7", "--person", "0", "--json"))
    assert [one["person"] for one in found["people"]] == [7, 0]
    assert 20 <= found["people"][0]["attributes"]["age"] <= 69
    assert found["people"][0]["persona"].startswith("You are")


def test_nobody_beyond_the_last(preset: str) -> None:
    with pytest.raises(UsageError, match="there is no person 100"):
        printed("sample", preset, "--person", "100")


def test_the_report_says_target_and_achieved(preset: str) -> None:
    page = printed("population", preset)
    rows = [line.split() for line in page.splitlines()]
    assert ["job", "quota", "2", "cook", "+0.0", "0.00", "1", "1.000"] in rows
    assert ["cook", "20.0", "20", "+0.0", "+0.000%"] in rows
    assert "\x1b" not in page


def test_the_report_as_json(preset: str) -> None:
    found = json.loads(printed("population", preset, "--json"))
    assert found["size"] == 100
    assert [c["kind"] for c in found["comparisons"]] == ["quota", "distribution", "quota"]
    assert found["comparisons"][0]["figures"][0] == {"labels": ["cook"], "target": 20.0, "achieved": 20}
    assert found["comparisons"][0]["largest_deviation"] == 0


def test_long_tables_are_cut_to_what_is_furthest_off(preset: str) -> None:
    shares = "{ " + ", ".join(f"c{i} = 0.025" for i in range(40)) + " }"
    arguments = ("population", preset, "--set", f"population.attributes.job.shares={shares}")
    assert "the 8 of 40 figures that are furthest off" in printed(*arguments)
    assert printed(*arguments, "--all").count("c39") == 1


def test_a_picture_is_drawn(preset: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "o.png"
    printed("population", preset, "--plot", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="is no picture"):
        printed("population", preset, "--plot", str(tmp_path / "o.txt"))
    with pytest.raises(UsageError, match="cannot be written"):
        printed("population", preset, "--plot", str(tmp_path / "no" / "o.png"))


def test_files_are_looked_for_beside_the_preset(preset: str) -> None:
    Path(preset).with_name("m.csv").write_text("sex\nm\nf\n")
    text = TEXT + '[population.microdata]\nfile = "m.csv"\n[population.attributes.sex]\nfrom = "microdata"\n'
    Path(preset).write_text(text)
    assert (
        json.loads(printed("sample", preset, "-n", "1", "--json"))["people"][0]["attributes"]["sex"] in "mf"
    )


def test_what_is_wrong_is_told_with_its_line(preset: str) -> None:
    Path(preset).write_text(TEXT.replace("cook = 0.2", "cook = 0.3"))
    with pytest.raises(
        UsageError, match=r"p\.toml:8: population\.attributes\.job\.shares: the shares add up to 1\.1"
    ):
        printed("population", preset)


def test_networks_are_described(preset: str) -> None:
    network = '[population.networks.friends]\nkind = "small_world"\nneighbours = 4\nrewired = 0.0\n'
    Path(preset).write_text(TEXT + network)
    rows = [line.split() for line in printed("population", preset).splitlines()]
    assert ["mean", "number", "of", "neighbours", "4.00"] in rows
    assert ["clustering", "0.500"] in rows
    assert ["ties", "between", "2", "workers", "3.0%"] in rows
    found = json.loads(printed("population", preset, "--json"))["networks"]
    assert [(one["name"], one["ties"], one["crossing"]["2"]) for one in found] == [("friends", 200, 0.03)]
    assert "knows 4: 5, 6, 8, 9" in printed("sample", preset, "--person", "7")


def test_personas_are_described(preset: str) -> None:
    rows = [line.split() for line in printed("population", preset).splitlines()]
    assert ["name", "age", "100.0%"] in rows
    assert ["name", "married", "0.0%"] in rows
    personas = json.loads(printed("population", preset, "--json"))["personas"]
    assert (personas["texts"], personas["coverage"]["job"]) == (100, 1.0)


def test_people_without_attributes_say_how_to_describe_them(preset: str) -> None:
    Path(preset).write_text(
        'name = "p"\nscenario.name = "guess_average"\npopulation.size = 9\nmodel.backend = "dummy"\n'
    )
    for command in ("sample", "population"):
        page = printed(command, preset)
        assert "describes no attributes" in page
        assert "[population.attributes.NAME]" in page
        assert "Person" not in page


def test_nothing_of_a_narrow_page_is_cut_off(preset: str) -> None:
    name = "a_rather_long_name_of_an_attribute"
    text = f'[population.attributes.{name}]\nfrom = "table"\ngiven = ["job", "married"]\ncolumns = ["x"]\n'
    Path(preset).write_text(TEXT + text + 'rows = [["*", "*", 1]]\n')
    page = CliRunner().invoke(cli, ["population", preset], env={"COLUMNS": "80"}).stdout
    assert max(map(len, page.splitlines())) <= 80
    assert "\u2026" not in page
