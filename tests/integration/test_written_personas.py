"""Real runs whose personas a model writes before the first round."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from app.branch import make_branch
from app.main import cli
from app.replay import replay
from engine.cluster.control import PeopleReport, Snapshot, WritingReport
from engine.errors import UsageError
from engine.journal.run_directory import RunDirectory
from engine.models.settings import Dummy, LlamaCpp, Policy
from engine.population.persona.settings import Persona, Writer
from engine.preset.load import from_toml
from engine.preset.schema import Budget, Engine, Population, Preset
from engine.preset.write import to_toml
from tests.fakes.biographers import LivesSettings
from tests.fakes.packages import install
from tests.fakes.runs import Run, play

pytestmark = pytest.mark.usefixtures("trial_scenario")

SIZE = 20
ATTRIBUTES = {"job": {"from": "shares", "shares": {"nurse": 0.5, "cook": 0.5}}}
Make = Callable[..., Preset]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make presets: `author` is the model that writes, `retries` how often it is asked again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "more").mkdir()
    install(tmp_path / "more", "lives", "tests.fakes.biographers:Lives", monkeypatch)
    monkeypatch.setenv(
        "PYTHONPATH", f"{tmp_path / 'packages'}:{tmp_path / 'more'}:{Path(__file__).parents[2]}"
    )

    def build(
        author: Any = "second_try",
        *,
        start: str = "fork",
        retries: int = 4,
        max_words: int = 200,
        by_model: bool = True,
        **more: Any,
    ) -> Preset:
        limits = {"min_words": 5, "max_words": max_words, "retries": retries}
        told = Writer(prompt="Tell of a {{ job }}.", model="author", names=("job",), **limits)
        author = Policy(policy=author, price_in=1.0, price_out=1.0) if isinstance(author, str) else author
        return Preset(
            name="lives",
            scenario=LivesSettings(rounds=2, gate=str(tmp_path / "gate")),
            population=msgspec.convert(
                {"size": SIZE, "attributes": ATTRIBUTES}
                | {"persona": Persona(template="You are a {{ job }}.", writer=told if by_model else None)},
                Population,
            ),
            model=Policy(policy="number"),
            models={"author": author},
            engine=Engine(workers=2, start=start),  # type: ignore[arg-type]
            **more,
        )

    return build


def people(run: Run) -> PeopleReport:
    return next(event for event in run.events if isinstance(event, PeopleReport))


def texts(run: Run) -> list[tuple[int, str, int]]:
    return run.query("SELECT agent, text, written FROM personas ORDER BY agent")


@pytest.mark.parametrize("start", ["fork", "spawn", "inline"])
def test_agents_get_what_the_model_wrote(make: Make, tmp_path: Path, start: str) -> None:
    run = play(make(start=start), tmp_path / "run")
    assert run.finished.state == "done"
    report = people(run).writing
    assert report is not None
    refused = {"too short": 10, "fact missing": 10, "other language": 10}
    assert report == WritingReport("author", SIZE, SIZE, 0, 30, 0, report.seconds, refused)
    told = texts(run)
    assert [agent for agent, _, _ in told] == list(range(SIZE))
    assert all(text.startswith("She is a ") and written for _, text, written in told)
    prompts = run.query("SELECT agent, messages FROM replies WHERE round = 1 ORDER BY agent")
    assert [json.loads(messages)[0][1].rpartition(" ")[0] for _, messages in prompts] == [
        text for _, text, _ in told
    ]
    assert run.query("SELECT calls FROM usage WHERE round = 0 AND model = 'author'") == [(30,)]
    assert run.query("SELECT count(*) FROM answers") == [(2 * SIZE,)]
    assert people(run).diversity is not None
    states = {event.state for event in run.events if isinstance(event, Snapshot)}
    assert states <= {"starting", "writing", "running", "done"}
    assert run.notices == ""
    found = replay(RunDirectory(run.directory))
    assert found.agrees, found.as_text(5)


def test_a_second_run_pays_nothing_and_has_the_same_people(make: Make, tmp_path: Path) -> None:
    first, second = (play(make(), tmp_path / name) for name in ("first", "second"))
    told = people(second).writing
    assert told is not None
    assert (told.asked, told.cached, told.written) == (0, 30, SIZE)
    assert texts(first) == texts(second)
    assert second.query("SELECT count(*), sum(samples) FROM replies WHERE round = 0") == [(30, 0)]


def test_an_interrupted_run_goes_on_where_it_was(make: Make, tmp_path: Path) -> None:
    preset = make("kills_the_run")
    run = play(preset, tmp_path / "run")
    assert run.finished.state == "failed"
    assert run.query("SELECT count(*) FROM replies WHERE round = 0") == [(SIZE,)]
    assert texts(run) == []
    again = Run(preset, tmp_path / "run", resumed=True)
    assert again.to_the_end().state == "done"
    told = people(again).writing
    assert told is not None
    assert (told.asked, told.cached, told.written) == (10, SIZE, SIZE)
    assert again.query("SELECT calls FROM usage WHERE round = 0 AND model = 'author'") == [(30,)]
    assert all(written for _, _, written in texts(again))


def test_a_run_that_is_resumed_later_writes_nothing_anew(make: Make, tmp_path: Path) -> None:
    preset = make(budget=Budget(tokens=None, wall_s=0.0001))
    stopped = Run(preset, tmp_path / "run")
    stopped.to_the_end()
    again = Run(msgspec.structs.replace(preset, budget=Budget()), tmp_path / "run", resumed=True)
    assert again.to_the_end().state == "done"
    last = Run(msgspec.structs.replace(preset, budget=Budget()), tmp_path / "run", resumed=True)
    last.to_the_end()
    told, before = people(last).writing, people(again).writing
    assert told == before
    assert told is not None
    assert not [event for event in last.events if isinstance(event, Snapshot) and event.state == "writing"]


def test_a_service_that_dies_is_asked_again(make: Make, tmp_path: Path) -> None:
    run = play(make("dies"), tmp_path / "run")
    assert run.finished.state == "done"
    assert "model-author was killed by SIGKILL" in run.notices
    assert all(written for _, _, written in texts(run))


@pytest.mark.parametrize("author", ["rubbish", "megabyte", Dummy(latency_s=1.0, timeout_s=0.001)])
def test_rubbish_ends_in_the_template_and_the_ledger(make: Make, tmp_path: Path, author: Any) -> None:
    run = play(make(author, retries=2), tmp_path / "run")
    assert run.finished.state == "done"
    told = people(run).writing
    assert told is not None
    assert (told.written, told.fallen_back, told.asked) == (0, SIZE, 3 * SIZE)
    assert {(text, written) for _, text, written in texts(run)} == {
        ("You are a nurse.", 0),
        ("You are a cook.", 0),
    }
    ledger = run.query("SELECT action, count(DISTINCT key) FROM failures WHERE round = 0 GROUP BY action")
    assert ledger == [("asked again", 2 * SIZE), ("template", SIZE)]
    details = run.query("SELECT DISTINCT detail FROM failures WHERE round = 0")
    assert all(detail for (detail,) in details)


def test_a_budget_ends_the_writing_and_it_goes_on_with_a_larger_one(make: Make, tmp_path: Path) -> None:
    preset = make("rubbish", budget=Budget(failures=15))
    run = play(preset, tmp_path / "run")
    assert (run.finished.state, run.finished.where) == ("budget", "budget.failures")
    again = Run(msgspec.structs.replace(preset, budget=Budget()), tmp_path / "run", resumed=True)
    assert again.to_the_end().state == "done"


def branched(run: Run, path: Path, *sets: str) -> Run:
    made = make_branch(RunDirectory(run.directory), 1, sets, str(path))
    branch = Run(from_toml(made.preset.read_bytes(), "branch"), path, resumed=True)
    assert branch.to_the_end().state == "done"
    return branch


def test_a_branch_has_the_personas_that_were_written(make: Make, tmp_path: Path) -> None:
    run = play(make(), tmp_path / "run")
    branch = branched(run, tmp_path / "branch", "scenario.when=2")
    assert texts(branch) == texts(run)
    assert people(branch).writing == people(run).writing
    assert branch.query("SELECT count(*) FROM people WHERE job = 'cook'") == [(10,)]
    with pytest.raises(UsageError, match="the population cannot change"):
        branched(run, tmp_path / "other", "population.persona.template=x")


def test_a_branch_may_have_people_of_another_kind_from_then_on(make: Make, tmp_path: Path) -> None:
    run = play(make(by_model=False), tmp_path / "run")
    branch = branched(run, tmp_path / "branch", "population.persona.template=I am a {{ job }}.")
    asked = branch.query("SELECT round, messages FROM replies WHERE agent = 0 ORDER BY key")
    told = [json.loads(messages)[0][1] for _, messages in asked]
    assert [text.split()[0] for text in told] == ["You", "I"]
    assert {text.split()[0] for _, text, _ in texts(branch)} == {"I"}


def test_who_an_agent_is_can_be_read(make: Make, tmp_path: Path) -> None:
    run = play(make(), tmp_path / "run")
    told = CliRunner().invoke(cli, ["show", str(run.directory), "3"], catch_exceptions=False).stdout
    (text,) = (text for agent, text, _ in texts(run) if agent == 3)
    assert text in " ".join(told.split())
    assert "Persona, attempt 1 (author" in told
    shown = (
        CliRunner().invoke(cli, ["show", str(run.directory), "3", "--json"], catch_exceptions=False).stdout
    )
    assert json.loads(shown)["person"]["persona"] == text
    page = CliRunner().invoke(cli, ["show", str(run.directory)], catch_exceptions=False).stdout
    assert "Personas: 20 of 20 written by author; 30 requests, 0 replies known before, " in page
    with closing(sqlite3.connect(run.directory / "run.db")) as db:
        assert db.execute("SELECT job, count(*) FROM people GROUP BY job").fetchall() == [
            ("cook", 10),
            ("nurse", 10),
        ]
    checked = CliRunner().invoke(cli, ["verify", str(run.directory), "--json"], catch_exceptions=False)
    assert json.loads(checked.stdout)["ok"], checked.stdout


def test_a_handful_can_be_written_to_look_at(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(to_toml(make()))
    shown = CliRunner().invoke(
        cli, ["sample", str(path), "-n", "4", "--write", "--json"], catch_exceptions=False
    )
    found = json.loads(shown.stdout)["people"]
    assert len(found) == 4, shown.stderr
    assert "Personas: 4 of 4 written by author; " in shown.stderr
    assert all(one["persona"].startswith(f"She is a {one['attributes']['job']}") for one in found)
    again = CliRunner().invoke(
        cli, ["sample", str(path), "-n", "4", "--write", "--json"], catch_exceptions=False
    )
    assert again.stdout == shown.stdout
    assert "; 0 requests, " in again.stderr


def test_rubbish_is_told_with_the_sample(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(to_toml(make("rubbish", budget=Budget(tokens=1))))
    shown = CliRunner().invoke(cli, ["sample", str(path), "-n", "2", "--write"], catch_exceptions=False)
    assert "You are a " in shown.stdout
    assert "Personas: 0 of 2 written by author, 2 from the template; 10 requests" in shown.stderr


def test_without_a_writer_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no model writes the personas"):
        CliRunner().invoke(cli, ["sample", "school_class", "--write"], catch_exceptions=False)


@pytest.mark.real_model
def test_the_embedded_model_writes_and_is_paid_once(make: Make, tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp")
    author = LlamaCpp(temperature=0.5, contexts=1)
    preset = make(author, retries=1, max_words=30)
    small = msgspec.structs.replace(preset.population, size=3)
    preset = msgspec.structs.replace(preset, population=small)
    first, second = (play(preset, tmp_path / name) for name in ("first", "second"))
    told, again = people(first).writing, people(second).writing
    assert told is not None
    assert again is not None
    assert told.asked >= 3
    assert (told.people, told.written + told.fallen_back) == (3, 3)
    assert (again.asked, again.cached, again.written) == (0, told.asked, told.written)
    assert texts(first) == texts(second)
    [(calls, tokens)] = first.query("SELECT calls, tokens_out FROM usage WHERE round = 0")
    assert (calls, tokens > 3) == (told.asked, True)
