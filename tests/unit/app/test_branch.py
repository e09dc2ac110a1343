"""The run directory of a branch."""

import shutil
from pathlib import Path

import pytest

from app.branch import make_branch
from engine.cluster.endpoints import Endpoints
from engine.cluster.setup import Setup
from engine.errors import SimtuiError, UsageError
from engine.journal.ancestry import shared_with
from engine.journal.batch import JournalBatch
from engine.journal.manifest import Parent, read_manifest
from engine.journal.reader import Reader
from engine.journal.run_directory import RunDirectory
from engine.preset.load import from_toml
from tests.fakes.journal import ended, reply
from tests.fakes.run_directories import PRESET, make_run


def played(tmp_path: Path) -> RunDirectory:
    rows = [reply(round_, agent, value=1.0) for round_ in (1, 2) for agent in range(4)]
    return make_run(tmp_path / "run", JournalBatch(rows), [ended(1), ended(2)])


def test_a_branch_knows_its_parent_and_both_presets(tmp_path: Path) -> None:
    parent = played(tmp_path)
    made = make_branch(parent, 1, ["model.latency_s=2.5"], str(tmp_path / "branch"))
    manifest = read_manifest(made.manifest)
    assert manifest.parent == Parent(run=str(parent.path), round=1)
    assert (manifest.state, manifest.ended) == ("branched", None)
    assert "latency_s = 2.5" in made.preset.read_text()
    assert "latency_s = 2.5" not in made.before.read_text()
    with Reader(made.run_file) as file:
        assert [round_.round for round_ in file.rounds()] == [1]


def test_without_a_place_it_lies_beside_its_parent(tmp_path: Path) -> None:
    made = make_branch(played(tmp_path), 1, ["model.latency_s=2.5"], None)
    assert made.path.parent == tmp_path
    assert made.path.name.startswith("demo-branch-")


@pytest.mark.parametrize(
    ("sets", "what"),
    [
        (["population.size=5"], "population.size is the same in all branches"),
        (["scenario.groups=2"], "scenario.groups is the same in all branches"),
        (["seed=2"], "seed is the same in all branches"),
        (["scenario.rounds=1"], "after round 1 there is no round left"),
        (["model.nonsense=1"], "nonsense"),
    ],
)
def test_what_cannot_be_branched(tmp_path: Path, sets: list[str], what: str) -> None:
    parent = played(tmp_path)
    with pytest.raises(SimtuiError, match=what):
        make_branch(parent, 1, sets, str(tmp_path / "branch"))
    assert not (tmp_path / "branch").exists()


def test_a_round_that_is_not_there_leaves_nothing_behind(tmp_path: Path) -> None:
    parent = played(tmp_path)
    with pytest.raises(UsageError, match="is not a finished round"):
        make_branch(parent, 7, ["scenario.rounds=9"], str(tmp_path / "branch"))
    assert not (tmp_path / "branch").exists()


@pytest.mark.parametrize(
    ("n_rounds", "said"),
    [(0, "It has not finished any round yet."), (1, "It has finished one round: --round 1."), (2, "1 to 2")],
)
def test_which_rounds_can_be_shared_is_told(tmp_path: Path, n_rounds: int, said: str) -> None:
    parent = make_run(tmp_path / "run", ends=[ended(n) for n in range(1, n_rounds + 1)])
    with pytest.raises(UsageError, match="is not a finished round") as caught:
        make_branch(parent, 7, ["scenario.rounds=9"], None)
    assert said in caught.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("missing", ["run.db", "manifest.json", "preset.toml"])
def test_half_a_run_cannot_be_branched_and_leaves_nothing_behind(tmp_path: Path, missing: str) -> None:
    parent = played(tmp_path)
    (parent.path / missing).unlink()
    with pytest.raises(SimtuiError) as caught:
        make_branch(parent, 1, [], None)
    assert missing in caught.value.where
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def long_played(tmp_path: Path) -> RunDirectory:
    rows = [reply(round_, agent, value=1.0) for round_ in range(1, 7) for agent in range(4)]
    return make_run(tmp_path / "run", JournalBatch(rows), [ended(n) for n in range(1, 7)], rounds=7)


@pytest.mark.parametrize(
    ("at", "shared"),
    [
        (6, [(1.0, 2), (2.0, 4), (3.0, 6)]),
        (4, [(1.0, 2), (2.0, 4)]),
        (3, [(1.0, 2), (2.0, 3)]),
        (2, [(1.0, 2)]),
        (1, [(1.0, 1)]),
    ],
)
def test_a_branch_of_a_branch_knows_by_what_its_rounds_were_played(
    tmp_path: Path, at: int, shared: list[tuple[float, int]]
) -> None:
    """The latency tells the presets apart."""
    run = long_played(tmp_path)
    for n, round_ in enumerate((2, 4, at), 2):
        before = run
        run = make_branch(before, round_, [f"model.latency_s={n}"], str(tmp_path / f"branch-{n}"))
        if n < 4:  # as if it had been played
            shutil.copyfile(tmp_path / "run" / "run.db", run.run_file)
    parts = shared_with(run)
    latencies = [from_toml(part.preset.read_bytes(), "").model.latency_s for part in parts]  # type: ignore[union-attr]
    assert list(zip(latencies, (part.last for part in parts), strict=True)) == shared
    assert parts[-1].run == str(before.path)
    assert "latency_s = 4" in run.preset.read_text()


@pytest.mark.parametrize(("sets", "number"), [([], 1), (["model.latency_s=2.5"], 2)])
def test_a_changed_model_has_a_number_of_its_own(tmp_path: Path, sets: list[str], number: int) -> None:
    """The replies of the shared rounds came from the model of then."""
    made = make_branch(played(tmp_path), 1, sets, str(tmp_path / "branch"))
    before, after = (from_toml(path.read_bytes(), "preset") for path in (made.before, made.preset))
    setup = Setup(after, made.path, Endpoints.in_folder(""), made.path, before=before, branched_at=1)
    assert [role.number for role in setup.roles] == [number]
    assert [role.number for role in setup.phases[0][1].roles] == [1]


def test_models_of_a_branch_of_a_branch_have_numbers_of_their_own() -> None:
    """A model that comes back is another one to the journal, too: its replies are not those of then."""
    toml = PRESET.format(agents=4, rounds=9)
    slow, fast = (from_toml(f"{toml}latency_s = {latency}".encode(), "") for latency in (2.0, 1.0))
    place = Path("nowhere")
    for presets, number in (([slow, fast, slow], 3), ([slow, fast, fast], 2), ([slow, slow, fast], 2)):
        first, before, now = presets
        setup = Setup(
            now, place, Endpoints.in_folder(""), place, before=before, branched_at=4, earlier=((first, 2),)
        )
        assert [role.number for role in setup.roles] == [number]
        assert [first for first, _ in setup.phases] == [1, 3, 5]
