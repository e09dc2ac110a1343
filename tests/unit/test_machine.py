"""Cores that a process may use."""

import os

import pytest

from engine.machine import n_cores
from tests.unit.test_repository import ROOT


def test_only_the_cores_that_this_process_may_use_count() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert n_cores() == 1
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize(("known", "n"), [(8, 8), (None, 1)])
def test_where_the_system_does_not_tell_all_cores_count(
    monkeypatch: pytest.MonkeyPatch, known: int | None, n: int
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: known)
    assert n_cores() == n


def test_nothing_else_counts_cores() -> None:
    """`os.sched_getaffinity` is missing on macOS."""
    for folder in ("app", "engine"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name != "machine.py":
                assert "sched_getaffinity" not in path.read_text("utf-8"), path
                assert "cpu_affinity" not in path.read_text("utf-8"), path
