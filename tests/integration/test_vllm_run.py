"""Whole runs on servers: answers and facts reach the journal, secrets do not, trouble is told in words."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from engine.models.settings import Launch, Vllm
from engine.preset.schema import Preset
from tests.fakes.fake_vllm import install
from tests.fakes.processes import alive, stub
from tests.fakes.runs import Run, play, trial
from tests.fakes.waiting import wait_until

pytestmark = pytest.mark.usefixtures("trial_scenario")


def preset(model: Vllm, size: int = 60) -> Preset:
    return msgspec.structs.replace(trial(size, 2, rounds=2), model=model)


def test_a_run_on_two_servers(tmp_path: Path) -> None:
    with stub() as (one, _), stub() as (other, _):
        run = play(preset(Vllm(servers=(one, other))), tmp_path / "run")
    assert run.finished.exit_code == 0
    assert run.query("SELECT count(*), count(value) FROM replies") == [(120, 120)]
    ((samples,),) = run.query("SELECT max(samples) FROM replies")
    assert samples > 1  # all ask the same
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    (facts,) = manifest["models"].values()
    assert facts["identity"]["model"] == "stub"
    assert set(facts["servers"]) == {one, other}


def test_the_key_is_written_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER_KEY", "sk-0123456789")
    with stub() as (url, _):
        run = play(preset(Vllm(servers=(url,), api_key_variable="SERVER_KEY"), 5), tmp_path / "run")
    assert run.finished.exit_code == 0
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert len(files) >= 3
    assert [path.name for path in files if b"sk-0123456789" in path.read_bytes()] == []


def test_no_server_is_told_and_the_run_ends(tmp_path: Path) -> None:
    model = Vllm(servers=("http://127.0.0.1:1",), patience_s=0)
    run = play(preset(model), tmp_path / "run")
    assert run.finished.exit_code == 1
    assert "http://127.0.0.1:1 cannot be reached" in str(run.finished)


def test_servers_that_the_run_starts_end_with_it(tmp_path: Path) -> None:
    variables = {"PIDS": str(tmp_path / "pids"), "CUDA_VISIBLE_DEVICES": ""}
    launch = Launch(model="w", environment=str(install(tmp_path / "e")), replicas=1, variables=variables)
    run = Run(preset(Vllm(launch=launch), 5), tmp_path / "run")
    run.to_the_end()
    run.check_that_nothing_is_left()
    assert run.finished.exit_code == 0
    (log,) = (tmp_path / "run").rglob("0.log")
    assert "serve w" in log.read_text()
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    wait_until(lambda: not any(map(alive, map(int, pids))), "the server and its child have ended")
