"""The commands that read runs, from arguments to what is printed."""

import json
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app import main
from engine.journal.lock import Lock
from engine.journal.run_directory import RunDirectory
from engine.models.answers import Choice, Text
from tests.fakes.played import play

ROUNDS = (("10", "20", "no", "**60**"), ("11", "21", "90", None))
EVIL = "[/oops]\x1b]0;title\x07\u202e\x9b2J"


class Told:
    """What a command printed, and its exit code."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        """The one object that was printed."""
        assert self.out.count("\n") == 1
        assert self.out.isascii()
        return json.loads(self.out)

    @property
    def widest(self) -> int:
        """Columns of the widest line; lines that are there to be copied or searched are never broken."""
        return max(
            len(line)
            for line in self.out.splitlines()
            if not line.startswith(("Run: ", "Failures: ", "A  ", "B  "))
        )


Simtui = Callable[..., Told]


@pytest.fixture
def simtui(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Simtui:
    def call(*arguments: object) -> Told:
        monkeypatch.setattr(sys, "argv", ["simtui", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited:
            main.main()
        told = Told(int(exited.value.code or 0), *capsys.readouterr())
        assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(told.out + told.err)
        assert "Traceback" not in told.err
        return told

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return call


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return play(tmp_path / "data" / "simtui" / "runs" / "game-1", ROUNDS)


def change(run: RunDirectory, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(run.run_file)) as connection, connection:
        connection.execute(sql, values)


# runs


def test_runs_are_listed_newest_first_with_what_goes_on_with_them(simtui: Simtui, run: RunDirectory) -> None:
    later = datetime(2026, 3, 2, tzinfo=UTC).isoformat()
    play(run.path.parent / "game 2", ROUNDS[:1], state="interrupted", started=later, ended=later)
    told = simtui("runs")
    first, second = told.out.split("\ndone")
    assert first.startswith("interrupted  game 2\n")
    assert "simtui --resume 'game 2'" in first
    assert second.split()[0] == "game-1"
    assert "round 2/2  4 agents  dummy  154 tokens" in second
    assert "--resume" not in second
    assert told.widest <= 80


def test_folders_given_are_listed_too_and_each_run_once(
    simtui: Simtui, run: RunDirectory, tmp_path: Path
) -> None:
    play(tmp_path / "elsewhere" / "game-3", ROUNDS)
    told = simtui("runs", tmp_path / "elsewhere", run.path, "--json")
    assert [Path(found["run_directory"]).name for found in told.json["runs"]] == ["game-1", "game-3"]


def test_what_is_known_of_a_run_is_in_json(simtui: Simtui, run: RunDirectory) -> None:
    (found,) = simtui("runs", "--json").json["runs"]
    assert {**found, "bytes": 0} == {
        "name": "demo", "run_directory": str(run.path), "state": "done", "pid": None,
        "started": "2026-03-01T09:05:00Z", "last_sign": "2026-03-01T09:05:00Z", "seconds": 0.0, "bytes": 0,
        "n_agents": 4, "n_rounds": 2, "rounds_done": 2, "share_of_round": None, "backends": ["dummy"],
        "usage": [{
            "model": "default", "calls": 7, "tokens_in": 140, "tokens_out": 14, "tokens_cached": 70,
            "cost": None, "currency": "",
        }],
        "resume": None,
    }  # fmt: skip
    assert found["bytes"] > 10_000


def test_broken_and_foreign_folders_are_named(simtui: Simtui, run: RunDirectory) -> None:
    (run.path.parent / "foreign").mkdir()
    half = play(run.path.parent / f"half {EVIL}".replace("/", "-"), ROUNDS)
    half.manifest.unlink()
    told = simtui("runs")
    assert told.code == 0
    listed, broken = told.out.split("Not readable as a run:\n")
    assert "game-1" in listed
    assert "there is no manifest" in broken
    assert broken.endswith("Besides, 1 folder without a run: foreign\n")
    found = simtui("runs", "--json").json
    assert (len(found["unreadable"]), found["others"]) == (1, [str(run.path.parent / "foreign")])


def test_of_many_foreign_folders_some_are_named(simtui: Simtui, tmp_path: Path) -> None:
    for n in range(8):
        (tmp_path / "folder" / f"f{n}").mkdir(parents=True)
    lines = simtui("runs", tmp_path / "folder").out.splitlines()
    assert lines == [
        f"No runs in {tmp_path}/data/simtui/runs, {tmp_path}/folder",
        "Besides, 8 folders without a run: f0, f1, f2, f3, f4, ...",
    ]


def test_a_run_that_never_began_is_told_from_one_that_is_broken(simtui: Simtui, run: RunDirectory) -> None:
    run.run_file.unlink()
    run.manifest.unlink()
    assert "game-1: this run has not begun, or was ended before it did" in simtui("runs").out
    told = simtui("show", "game-1")
    assert told.code == 1
    assert "has not begun" in told.err


def test_without_runs_it_says_where_it_looked(simtui: Simtui, tmp_path: Path) -> None:
    assert simtui("runs").out == f"No runs in {tmp_path}/data/simtui/runs\n"
    assert simtui("runs", "--json").json == {"runs": [], "unreadable": [], "others": []}
    assert simtui("runs", tmp_path / "none").code == 2


# show


def test_a_run_is_shown_with_its_making_its_rounds_and_its_failures(
    simtui: Simtui, run: RunDirectory
) -> None:
    told = simtui("show", "game-1")
    assert told.widest <= 80
    for part in (
        "A demo",
        "seed 1",
        "population.size 4",
        "simtui ",
        "dummy",
        "latency_s 0.1",
        "Rounds",
        "unparsed",
    ):
        assert part in told.out
    assert f"Run: {run.run_file}" in told.out
    assert "go on with" not in told.out


def test_a_run_that_can_go_on_says_how(simtui: Simtui, tmp_path: Path) -> None:
    run = play(tmp_path / "dead", ROUNDS, state="running", ended=None, resumed=["2026-03-01T10:00:00+00:00"])
    told = simtui("show", run.run_file)
    assert told.out.endswith(f"go on with: simtui --resume {run.path}\n")
    assert "state     died" in told.out
    assert "resumed   2026-03-01T10:00:00" in told.out


def test_a_run_in_json(simtui: Simtui, run: RunDirectory) -> None:
    told = simtui("show", "game-1", "--json").json
    assert told["settings"]["scenario.name"] == "guess_average"
    assert [(end["round"], end["n_answered"]) for end in told["rounds"]] == [(1, 3), (2, 3)]
    assert told["failures"] == {"exception": 1, "repaired": 1, "unparsed": 1}
    assert told["manifest"]["seed"] == 1
    assert told["models"][0]["backend"] == "dummy"


def test_a_preset_that_cannot_be_read_any_more_is_told_and_the_rest_shown(
    simtui: Simtui, run: RunDirectory
) -> None:
    run.preset.write_text("no [toml")
    assert "not TOML" in " ".join(simtui("show", "game-1").out.split())
    assert "not TOML" in simtui("show", "game-1", "--json").json["preset_problem"]
    run.preset.unlink()
    assert "cannot be read" in " ".join(simtui("show", "game-1").out.split())


def test_the_life_of_an_agent(simtui: Simtui, run: RunDirectory) -> None:
    told = simtui("show", "game-1", 3)
    assert told.widest <= 80
    lines = [line.split(maxsplit=1) for line in told.out.splitlines() if line]
    assert lines == [
        ["Agent", "3"],
        ["Round", "1, call 0 (default, 20 tokens in, 2 out, 0.50 s)"],
        ["system", "Name a number."],
        ["user", "You are player 3. Round 1: which number?"],
        ["reply", "**60**"],
        ["value", "60"],
        ["problem", "repaired: reply with one number from 0 to 100 (taken)"],
        ["Round", "2, the agent itself"],
        ["failure", "exception: ValueError: no (agent stopped)"],
        ["traceback", "Trace"],
    ]


def test_what_a_prompt_repeats_is_not_shown_again_but_one_round_is_whole(
    simtui: Simtui, run: RunDirectory
) -> None:
    assert simtui("show", "game-1", 0).out.count("Name a number.") == 1
    assert "(messages as above: 1)" in simtui("show", "game-1", 0).out
    second = simtui("show", "game-1", 0, "--round", 2).out
    assert "Name a number." in second
    assert "Round 1" not in second


def test_the_life_of_an_agent_in_json_is_whole(simtui: Simtui, run: RunDirectory) -> None:
    told = simtui("show", "game-1", 0, "--json").json
    assert [chapter["round"] for chapter in told["rounds"]] == [1, 2]
    call = told["rounds"][1]["calls"][0]
    assert call["prefix"] == [["system", "Name a number."]]
    assert (call["text"], call["value"]) == ("11", 11.0)


def test_mail_is_shown_with_who_sent_it(simtui: Simtui, run: RunDirectory) -> None:
    change(run, "INSERT INTO messages VALUES (NULL, 'tell', 2, 0, 0, 1, '\"hello\"', NULL, NULL)")
    change(run, "INSERT INTO messages VALUES (5, 'ask', 2, 1, 0, 0, NULL, '7', NULL)")
    shown = simtui("show", "game-1", 0, "--round", 2).out
    assert 'from       agent 1\nmessage    "hello"' in shown
    assert "to         agent 1, a question\nmessage    (not kept" in shown
    assert "answer     7" in shown


def test_texts_that_were_not_kept_are_said_to_be_so(simtui: Simtui, tmp_path: Path) -> None:
    run = play(tmp_path / "run", ROUNDS, transcripts="none")
    assert simtui("show", run.path, 0).out.count("(not kept") == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["game-1", 4], "there is no agent 4\n  Agents are numbered from 0; the last one is 3."),
        (["game-1", "player_3"], "'player_3' is no number; agents have no names but are numbered from 0"),
        (["game-1", "9" * 500], "numbered from 0"),
        (["game-1", "9" * 5000], "numbered from 0"),
        (["game-1", 3, "--round", 3], "there is no round 3\n  The run has 2 rounds."),
        (["game-1", -1], "-1"),
        (["game-1", "x"], "'x'"),
        (["game-1", "--round", 1], "--round belongs to an AGENT"),
        (["game-2"], "there is no such run"),
        (["x" * 300], "there is no such run"),
        ([EVIL], "there is no such run"),
    ],
)
def test_what_is_not_there_is_wrong_usage(
    simtui: Simtui, run: RunDirectory, arguments: Sequence[object], said: str
) -> None:
    told = simtui("show", *arguments)
    assert (told.code, told.out) == (2, "")
    assert said in told.err


def test_an_agent_to_whom_nothing_happened(simtui: Simtui, run: RunDirectory) -> None:
    change(run, "DELETE FROM replies WHERE agent = 3")
    change(run, "DELETE FROM failures")
    told = "Agent 3\n\nNothing has happened to it here: no prompt, no message, no failure.\n"
    assert simtui("show", "game-1", 3).out == simtui("show", "game-1", 3, "--round", 2).out == told


# export


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_a_table_is_written_to_a_file_and_never_over_one(
    simtui: Simtui, run: RunDirectory, tmp_path: Path, form: str
) -> None:
    pytest.importorskip("pyarrow")
    out = tmp_path / f"out.{form}"
    told = simtui("export", "game-1", "--format", form, "--out", out)
    assert (told.code, told.out) == (0, "")
    assert told.err.startswith("6 rows, ")
    before = out.read_bytes()
    again = simtui("export", "game-1", "--format", form, "--table", "replies", "--out", out)
    assert again.code == 2
    assert "already" in again.err
    assert out.read_bytes() == before
    assert (
        simtui("export", "game-1", "--format", form, "--table", "replies", "--out", out, "--force").code == 0
    )
    assert out.read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", out.name]


def test_text_goes_to_standard_output(simtui: Simtui, run: RunDirectory) -> None:
    told = simtui("export", "game-1", "--format", "csv")
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines()[:2] == ["round,agent,value,key", "1,0,10.0,8796093022208"]


def test_but_not_to_a_terminal(simtui: Simtui, run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    told = simtui("export", "game-1", "--format", "csv")
    assert (told.code, told.out) == (2, "")
    assert "is a terminal" in told.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "parquet"], "is not text"),
        (["--format", "xlsx"], "xlsx"),
        (["--format", "csv", "--table", "nothing"], "There are answers, "),
        ([], "--format"),
    ],
)
def test_exports_that_cannot_be(
    simtui: Simtui, run: RunDirectory, arguments: Sequence[str], said: str
) -> None:
    told = simtui("export", "game-1", *arguments)
    assert (told.code, told.out) == (2, "")
    assert said in told.err


# compare


def test_runs_are_compared_in_their_making_and_in_their_rounds(
    simtui: Simtui, run: RunDirectory, tmp_path: Path
) -> None:
    other = play(tmp_path / "other", (("15", "25", "35", "45"), ("1", "2", "3", "4")), simtui="9.9")
    other.preset.write_text(other.preset.read_text().replace("seed = 1", "seed = 2"))
    told = simtui("compare", "game-1", other.path)
    assert told.widest <= 80
    assert "  seed\n    A  1\n    B  2\n" in told.out
    assert '    B  "9.9"' in told.out
    assert "B against A" in told.out
    assert "permutation" in told.out
    assert "Welch" in told.out
    assert "After round 1" in told.out
    row = next(line.split() for line in told.out.splitlines() if line.startswith("    1"))
    assert row[:4] == ["1", "30", "30", "0"]


def test_a_comparison_in_json_has_everything(simtui: Simtui, run: RunDirectory, tmp_path: Path) -> None:
    other = play(tmp_path / "other", (("15", "25", "35", "45"),))
    told = simtui("compare", "game-1", other.path, "game-1", "--json").json
    assert [(each["a"], each["b"]) for each in told["comparisons"]] == [(0, 1), (0, 2)]
    (round_,) = told["comparisons"][0]["rounds"]
    assert round_["n_a"] == 3
    assert round_["numbers"]["interval"]["low"] < 0 < round_["numbers"]["interval"]["high"]
    assert told["comparisons"][1]["rounds"][0]["numbers"]["difference"] == 0


def test_choices_are_shown_with_their_shares(simtui: Simtui, tmp_path: Path) -> None:
    options = tuple(f"option {n}" for n in range(12))
    a = play(tmp_path / "a", [options], answer=Choice(options))
    b = play(tmp_path / "b", [("option 1",) * 12], answer=Choice(options))
    told = simtui("compare", a.path, b.path)
    assert told.widest <= 80
    line = next(line for line in told.out.splitlines() if line.lstrip().startswith("option 1 "))
    assert "8.3%" in line
    assert "100.0%" in line
    assert "+91.7%" in line
    assert "... and 2 more options" in told.out


def test_what_cannot_be_compared_is_said(simtui: Simtui, run: RunDirectory, tmp_path: Path) -> None:
    other = play(tmp_path / "other", [[f"text {n}" for n in range(60)]], answer=Text())
    other.preset.unlink()
    told = simtui("compare", "game-1", other.path)
    assert "Round 1 not compared: numbers in A, texts in B." in told.out
    assert "settings not compared" in told.out
    long = play(tmp_path / "long", [[f"text {n}" for n in range(60)]] * 3, answer=Text())
    numbers = play(tmp_path / "numbers", [("1",)] * 3)
    told = simtui("compare", numbers.path, long.path)
    assert "Rounds 1 to 3 not compared: numbers in A, texts in B." in told.out
    empty = play(tmp_path / "empty", [("1",)])
    change(empty, "DELETE FROM rounds")
    assert "no round that both have finished" in simtui("compare", "game-1", empty.path).out


@pytest.mark.parametrize("names", [["game-1"], ["game-1"] * 27])
def test_two_runs_at_least_and_as_many_as_there_are_letters(
    simtui: Simtui, run: RunDirectory, names: list[str]
) -> None:
    assert "Name 2 to 26 runs" in simtui("compare", *names).err


# verify


def test_a_sound_run_is_verified(simtui: Simtui, run: RunDirectory) -> None:
    told = simtui("verify", "game-1", "--no-replay")
    assert told.code == 0
    assert told.widest <= 80
    assert [line.split()[0] for line in told.out.splitlines()] == ["ok"] * 13
    assert simtui("verify", "game-1", "--no-replay", "--json").json["ok"] is True


def test_what_is_wrong_is_listed_with_exit_code_1(simtui: Simtui, run: RunDirectory) -> None:
    change(run, "UPDATE replies SET value = 99.0")
    change(run, "UPDATE replies SET text = ? WHERE agent = 0", EVIL)
    told = simtui("verify", "game-1", "--no-replay")
    assert told.code == 1
    assert "wrong      values are what the replies say (7)" in told.out
    assert "round 1, agent 1, call 0: the text gives 20.0, the file has 99.0" in told.out
    found = simtui("verify", "game-1", "--no-replay", "--json")
    assert (found.code, found.json["ok"]) == (1, False)


# bad input, for every command that takes a run

READERS = (
    ["show"],
    ["show", "0"],
    ["export", "--format", "csv", "--out", "x.csv"],
    ["compare"],
    ["verify", "--no-replay"],
)


@pytest.mark.parametrize("command", READERS, ids=" ".join)
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda run: run.run_file.unlink(), "there is no run file"),
        (lambda run: run.run_file.write_bytes(run.run_file.read_bytes()[:9000]), "malformed"),
        (lambda run: run.run_file.write_bytes(b"hello" * 1000), "not a database"),
        (lambda run: run.run_file.write_bytes(b""), "nothing has been written to this run file"),
        (lambda run: change(run, "PRAGMA application_id = 7"), "not a run file of simtui"),
        (lambda run: change(run, "PRAGMA user_version = 99"), "this simtui knows schemas up to"),
    ],
    ids=["no file", "half", "no database", "empty", "another program", "newer"],
)
def test_a_bad_run_file_is_told_by_every_command(
    simtui: Simtui,
    run: RunDirectory,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    spoil: Any,
    said: str,
) -> None:
    monkeypatch.chdir(run.path.parent)
    spoil(run)
    names = ["game-1"] * (2 if command == ["compare"] else 1)
    told = simtui(command[0], *names, *command[1:])
    assert told.code == 1
    assert said in told.out + told.err
    assert [path.name for path in run.path.parent.iterdir()] == ["game-1"]


def test_hostile_text_reaches_no_terminal(simtui: Simtui, tmp_path: Path) -> None:
    run = play(tmp_path / "run", [(EVIL, "1")], name=EVIL, resumed=[EVIL], answer=Text())
    change(run, "UPDATE meta SET value = ? WHERE key = 'description'", EVIL)
    change(run, "UPDATE models SET name = ?, description = ?", EVIL, EVIL)
    change(run, "UPDATE failures SET detail = ?, traceback = ?", EVIL, EVIL)
    other = play(
        tmp_path / "other", [(EVIL + "x", "1")], models={EVIL: EVIL}, answer=Choice((EVIL + "x", "1"))
    )
    for arguments in (
        ["runs", tmp_path],
        ["show", run.path],
        ["show", run.path, 0],
        ["compare", run.path, other.path],
    ):
        for option in ([], ["--json"]):
            assert simtui(*arguments, *option).code == 0
    assert "[/oops]" in simtui("show", run.path, 0).out


def test_a_live_run_is_read_but_not_verified(simtui: Simtui, run: RunDirectory) -> None:
    lock = Lock(run.lock)
    assert "running" in simtui("runs").out
    assert simtui("show", "game-1").code == 0
    told = simtui("verify", "game-1")
    assert told.code == 1
    assert "is running this run" in told.err
    lock.release()
