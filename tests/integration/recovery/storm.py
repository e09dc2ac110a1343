"""Kill at random whatever a run consists of, and look whether it comes to the same end all the same.

    python -m tests.integration.recovery.storm [RUNS] [FIRST_SEED]

Each run is a small one with real processes. It is stopped, killed in part or as a whole some times, and taken
up again on other numbers of workers. Then it is compared with the same run undisturbed, or replayed: no row
lost, none doubled, no other value. No reply that was in the journal at the time of a kill is asked for again.
"""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import msgspec
import psutil

from app.replay import replay
from engine.draws import mix
from engine.errors import JournalError
from engine.journal.reader import Reader
from engine.journal.run_directory import RunDirectory
from engine.models.settings import Policy
from engine.population.settings import Population
from engine.preset.schema import Engine, Journal, Preset
from tests.fakes.improvise import SCENARIOS, CoupledSettings, ImproviseSettings
from tests.fakes.journals import WHATEVER_THE_TURNS, content, differences, keys
from tests.fakes.packages import known
from tests.fakes.runs import Run
from tests.fakes.stage import Stage, by_facts
from tests.fakes.waiting import wait_until

PACE_S = 0.004
"""How long the model thinks: a run takes about a second."""
MOST_KILLS = 4
MOST_SERVICES = 3
"""A model service that dies more often in one go ends the run."""
ENDING = ("stop", "SIGINT", "coordinator", "everything")
KILLS = (*ENDING, "worker", "two workers", "service")


@dataclass
class Counts:
    """What a number of runs came to."""

    runs: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    asked_again: int = 0
    """Requests made twice: the first reply was not in the journal yet when something died."""
    doubled: int = 0
    """Requests made although the reply was in the journal: must be 0."""
    replays: int = 0
    different: list[str] = field(default_factory=list)
    """Rows lost, doubled, or with another value than undisturbed: must be none."""

    def __str__(self) -> str:
        kills = ", ".join(f"{what} {n}" for what, n in sorted(self.kills.items()))
        return (
            f"{self.runs} runs, {self.kills.total()} kills ({kills}); {self.asked} replies asked for, "
            f"{self.asked_again} of them again as they were not written yet, {self.doubled} although they "
            f"were; {len(self.different)} rows lost, doubled or different; {self.replays} replays"
        )


def any_preset(dice: Random, log: Path) -> Preset:
    """Return any small run whose model keeps a log."""
    settings = dice.choice([ImproviseSettings, CoupledSettings])(
        plan=dice.getrandbits(32),
        groups=dice.choice([1, 1, 3]),
        rounds=dice.randint(2, 4),
        asking=dice.choice([0.0, 0.5]),
        stateful=dice.random() < 0.3,
        log=str(log),
        pace_s=PACE_S,
    )
    return Preset(
        name="storm",
        scenario=settings,
        population=Population(size=dice.randint(6, 16)),
        model=Policy(policy="echo"),
        journal=Journal(snapshot_every=dice.choice([0, 1, 2])),
        engine=Engine(workers=dice.choice([1, 2, 3]), failure_budget=1.0),
    )


def has_begun(run: Run) -> bool:
    """Tell whether there is something to go on with; if not, the run file says so."""
    try:
        with Reader(run.directory / "run.db") as file:
            file.rounds()
    except JournalError as error:
        if "no run file" in error.what or "nothing has been written" in error.what:
            return False
        raise
    return True


class Storm:
    """One run, killed again and again."""

    def __init__(self, seed: int, folder: Path, counts: Counts) -> None:
        self._dice = Random(seed)
        self._folder = folder
        self._counts = counts
        self._log = folder / "asked"
        self._preset = any_preset(self._dice, self._log)
        self._written: list[tuple[set[int], int]] = []
        """Calls in the journal, and how many had been asked for, whenever something was to be killed."""
        self._n_services = 0

    def play(self) -> None:
        """Play the run through and count."""
        run = Run(self._preset, self._folder / "run")
        for _ in range(self._dice.randint(1, MOST_KILLS)):
            self._wait_for_a_moment(run)
            if run.has_ended:
                break
            run = self._kill(run)
        last_word = run.to_the_end()
        assert last_word.state == "done", last_word
        run.check_that_nothing_is_left()
        self._compare()

    def _asked(self) -> list[int]:
        """Return a number for each request, of which nothing but its key decides."""
        return [int(line) for line in self._log.read_text().split()] if self._log.exists() else []

    def _numbers(self, calls: Iterable[int]) -> set[int]:
        return {Random(mix(self._preset.seed, key)).getrandbits(63) for key in calls}

    def _wait_for_a_moment(self, run: Run) -> None:
        """Wait until some more requests have come, or none: also runs that start can be killed."""
        target = len(self._asked()) + self._dice.choice([0, 1, self._dice.randrange(100)])
        wait_until(lambda: len(self._asked()) >= target or run.has_ended, f"{target} requests have come")
        run.look()

    def _note(self) -> None:
        committed = keys(self._folder / "run" / "run.db")
        self._written.append((committed, len(self._asked())))

    def _kill(self, run: Run) -> Run:
        what = self._dice.choice(KILLS)
        victims = self._victims(run, what)
        if not victims:
            what, victims = "coordinator", [run.coordinator]
        self._counts.kills[what] += 1
        self._note()
        match what:
            case "stop":
                run.client.stop("the storm says so")
            case _:
                number = signal.SIGINT if what == "SIGINT" else signal.SIGKILL
                for victim in victims:
                    with suppress(psutil.NoSuchProcess):
                        victim.send_signal(number)
        return self._again(run) if what in ENDING else run

    def _victims(self, run: Run, what: str) -> list[psutil.Process]:
        match what:
            case "everything":
                return run.look()
            case "service":
                self._n_services += 1
                found = run.services or run.workers
                return found[:1] if self._n_services <= MOST_SERVICES else []
            case "worker" | "two workers":  # a worker that was replaced looks like a service
                found = run.workers or run.services
                return found[: 1 if what == "worker" else 2]
            case _:
                return [run.coordinator]

    def _again(self, run: Run) -> Run:
        """Take a run up again when it has ended, if it has not come to its end."""
        done = run.to_the_end().state == "done"
        run.check_that_nothing_is_left()
        if done:
            return run
        if not has_begun(run):
            shutil.rmtree(run.directory)
            return Run(self._preset, run.directory)
        self._note()
        self._n_services = 0
        engine = msgspec.structs.replace(self._preset.engine, workers=self._dice.choice([1, 2, 3]))
        return Run(msgspec.structs.replace(self._preset, engine=engine), run.directory, resumed=True)

    def _compare(self) -> None:
        counts, asked = self._counts, self._asked()
        counts.runs += 1
        counts.asked += len(asked)
        counts.asked_again += len(asked) - len(set(asked))
        for committed, n_asked in self._written:
            counts.doubled += len(self._numbers(committed).intersection(asked[n_asked:]))
        counts.different += self._replayed() if self._preset.scenario.stateful else self._unlike_undisturbed()

    def _unlike_undisturbed(self) -> list[str]:
        quiet = self._folder / "quiet"
        quiet.mkdir()
        Stage(self._preset, quiet, self._dice, model=by_facts).play()
        return differences(
            *(content(path / "run.db", WHATEVER_THE_TURNS) for path in (quiet, self._folder / "run"))
        )

    def _replayed(self) -> list[str]:
        """Where agents count their answers, the order of questions matters, which only the journal knows."""
        found = replay(RunDirectory(self._folder / "run"))
        self._counts.replays += 1
        return [] if found.agrees else [found.as_text(5)]


def main(arguments: list[str]) -> int:
    """Play so many runs (200), from a seed on (0), and print what they came to."""
    n_runs, first = (int(text) for text in [*arguments, *("200", "0")[len(arguments) :]])
    counts = Counts()
    with tempfile.TemporaryDirectory() as folder, known(Path(folder), SCENARIOS):
        for seed in range(first, first + n_runs):
            path = Path(folder) / f"{seed}"
            path.mkdir()
            Storm(seed, path, counts).play()
            print(f"\r{seed - first + 1}/{n_runs}", end="", file=sys.stderr, flush=True)
            if counts.doubled or counts.different:
                print(f"seed {seed}:", *counts.different, sep="\n  ")
                break
    print(f"\n{counts}")
    return 1 if counts.doubled or counts.different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
