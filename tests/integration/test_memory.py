"""Real runs whose agents forget: what is counted and told, and the budget with a real model's tokens."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from app.main import cli
from app.replay import replay
from engine.agents.memories.settings import AnyMemory, FullHistory, Retrieval, RunningSummary, SlidingWindow
from engine.journal.run_directory import RunDirectory
from engine.models.settings import Dummy, LlamaCpp
from engine.population.persona.settings import Persona
from engine.preset.schema import Engine, Population, Preset
from engine.scenarios.guess_average import GuessAverageSettings
from tests.fakes.runs import Run, play

DOCS = Path(__file__).parents[2] / "docs/memory.md"


def preset(memory: AnyMemory, **changes: Any) -> Preset:
    made = Preset(
        name="forgetful",
        scenario=GuessAverageSettings(rounds=4),
        population=Population(size=3, persona=Persona(template="You are a careful person.")),
        model=Dummy(latency_s=0),
        memory=memory,
        engine=Engine(workers=2),
    )
    return msgspec.structs.replace(made, **changes)


def test_what_was_left_out_is_told(tmp_path: Path) -> None:
    run = play(preset(SlidingWindow(exchanges=1)), tmp_path / "run")
    assert run.finished.state == "done"
    assert run.reports[-1].n_affected == 0
    shown = CliRunner().invoke(cli, ["show", str(run.directory)], catch_exceptions=False).stdout
    told = re.search(r"Left out: 12 messages \((\d+) tokens\) of 6 prompts, by \[memory\]", shown)
    assert told is not None, shown
    assert "Failures: none" in shown
    sql = re.search(r"```sql\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert sql is not None
    with closing(sqlite3.connect(run.directory / "run.db")) as db:
        rows = db.execute(sql[1]).fetchall()
    assert [row[:3] for row in rows] == [(3, 3, 6), (4, 3, 6)]
    assert sum(tokens for *_, tokens in rows) == int(told[1])
    checked = CliRunner().invoke(cli, ["verify", str(run.directory)], catch_exceptions=False)
    assert checked.exit_code == 0, checked.stdout


@pytest.mark.real_model
def test_a_vocabulary_counts_for_models_that_have_none_at_hand(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp")
    exact, bound = (
        play(preset(FullHistory(budget_tokens=180, vocabulary=file)), tmp_path / str(file))
        for file in ("embedded", None)
    )
    assert exact.finished.state == bound.finished.state == "done"
    assert exact.query("SELECT count(*) FROM failures WHERE kind = 'over budget'") == [(0,)]
    assert bound.query("SELECT count(*) FROM failures WHERE kind = 'over budget'") == [(12,)]


def test_embeddings_that_there_can_be_none_of_end_the_run_before_it_begins(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp")
    nowhere = Retrieval(relevance="embedding", embedding_path=str(tmp_path / "no.gguf"))
    run = play(preset(nowhere), tmp_path / "run")
    assert run.finished.state == "failed"
    assert run.finished.where == "memory.embedding_path"


def tokens_in(run: Run) -> list[tuple[int, int]]:
    return run.query("SELECT call, tokens_in FROM replies ORDER BY key")


@pytest.mark.real_model
@pytest.mark.parametrize(
    ("kind", "chores"),
    [
        (RunningSummary(exchanges=1, every=1, max_words=15, budget_tokens=190), True),
        (Retrieval(exchanges=1, recall=2, budget_tokens=240, relevance="embedding"), False),
    ],
    ids=["summary", "retrieval"],
)
def test_no_prompt_has_more_of_the_models_tokens_than_the_budget(
    kind: AnyMemory, chores: bool, tmp_path: Path
) -> None:
    pytest.importorskip("llama_cpp")
    model = LlamaCpp(contexts=1, max_tokens=24, temperature=0.7)
    run = play(preset(kind, model=model), tmp_path / "run")
    assert run.finished.state == "done", run.finished
    tokens = [n for _, n in tokens_in(run)]
    assert len(tokens) >= 12
    assert kind.budget_tokens is not None
    assert 0.75 * kind.budget_tokens < max(tokens) <= kind.budget_tokens
    assert any(call > 0 for call, _ in tokens_in(run)) == chores
    prompts = [text for (text,) in run.query("SELECT messages FROM replies")]
    assert all("You are a careful person." in text for text in prompts)
    assert any("What you remember of earlier: " in text for text in prompts) == chores
    assert any("What comes to your mind" in text for text in prompts) != chores
    checked = CliRunner().invoke(cli, ["verify", str(run.directory)], catch_exceptions=False)
    assert checked.exit_code == 0, checked.stdout
    found = replay(RunDirectory(run.directory))
    assert found.agrees, found.as_text(5)
