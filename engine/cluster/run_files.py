"""What the coordinator writes: the journal, the manifest and the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from multiprocessing_logging import MultiProcessingHandler

from engine.cluster import people_rows
from engine.cluster.children import LogQueue
from engine.cluster.control import PeopleReport, Usage, WritingReport
from engine.cluster.people_report import people_report, told
from engine.cluster.round_rows import usage_by_round
from engine.cluster.setup import Setup
from engine.cluster.writing import Writing
from engine.errors import JournalError
from engine.journal.lock import Lock
from engine.journal.manifest import Manifest, describe_run, read_manifest, write_manifest
from engine.journal.personas import COMPLETE
from engine.journal.reader import Reader
from engine.journal.rounds import Round
from engine.journal.run_directory import RunDirectory
from engine.journal.writer import Writer
from engine.models.settings import ModelSettings
from engine.population.people import People
from engine.scenarios import trusted
from engine.scenarios.scenario import Scenario


class RunFiles:
    """The files of one run, open from its start to its end."""

    def __init__(self, setup: Setup, now: Callable[[], float]) -> None:
        """Open the journal and write a first manifest. Raises JournalError. `now` is seconds since 1970."""
        self._now = now
        self._paths = RunDirectory(setup.directory)
        self._setup = setup
        preset = setup.preset
        self._lock = Lock(self._paths.lock)
        if not setup.resumed:
            _check_that_it_is_new(self._paths)
        self.known_rounds = _known_rounds(setup.past) if setup.past else []
        """Rounds that the journal of a resumed run already has."""
        self.known_usage = _known_usage(setup.past) if setup.past and not setup.replay_of else {}
        """What they took, by round."""
        self._manifest = self._description()
        write_manifest(self._manifest, self._paths.manifest)
        self.writer = Writer(self._paths.run_file, now=now, flush=preset.journal.durability == "disk")
        self.writer.meta(
            {
                "name": preset.name,
                "description": preset.description,
                "scenario": preset.scenario.scenario_name,
                "agents": preset.population.size,
                "places": setup.placement.n_ids - preset.population.size,
                "rounds": preset.scenario.rounds,
                "groups": preset.scenario.groups,
                "seed": preset.seed,
                "dynamic": int(setup.scenario_type.dynamic),
                "all_act": int(setup.scenario_type.acts is Scenario.acts),
            }
        )

        self.people = self._note_people(setup.people) if setup.people and not setup.replay_of else None
        """Who the agents are; None if they differ by their numbers alone, or if personas must be written."""

    def _description(self) -> Manifest:
        """Return the manifest of this run as it begins, or goes on. Raises JournalError."""
        preset = self._setup.preset
        now = describe_run(preset.name, preset.seed, self._paths.preset.read_bytes(), self._date())
        code = trusted.digest(preset.scenario.scenario_name)
        now = msgspec.structs.replace(now, scenario_sha256=code)
        if not self._setup.resumed or self._setup.replay_of:
            return now
        before = read_manifest(self._paths.manifest)
        if code != before.scenario_sha256 and not before.parent:
            raise JournalError(
                "the file of the scenario is not the one that this run began with",
                where="--trust",
                hint="The run directory has a copy of that one.",
            )
        return before.resumed_as(now)

    def loaded(self, descriptions: dict[str, dict[str, Any]]) -> None:
        """Note what the model services have loaded. Raises JournalError."""
        self._manifest = msgspec.structs.replace(self._manifest, models=descriptions)
        write_manifest(self._manifest, self._paths.manifest)
        for role in self._setup.roles:
            settings = self._setup.models[role.name]
            backend = str(settings.__struct_config__.tag)
            description = descriptions.get(f"model-{role.name}", {})
            self.writer.model(role.number, role.name, backend, description, _prices(settings))
        self.writer.slices([part.name for part in self._setup.preset.slices])

    def written(self, writing: Writing) -> PeopleReport:
        """Note personas that a model has written. Raises JournalError."""
        people = self._setup.people
        assert people is not None
        self.writer.personas(writing.personas())
        self.writer.commit()
        return self._report(people, writing.report())

    def _note_people(self, people: People) -> PeopleReport | None:
        """Note who the agents are, as far as the file does not say so yet."""
        known = _known_people(self._setup.past) if self._setup.past else {}
        is_new = "attributes" not in known
        if is_new:
            self.writer.people(people.n, people_rows.attributes(people))
            for part, content in told(people).items():
                self.writer.population(part, content)
        if self._setup.must_write:
            self.writer.commit()
            return None
        before = msgspec.json.decode(known.get(COMPLETE, "null"), type=PeopleReport | None)
        writing = before.writing if before else None
        if is_new and writing is None:
            self.writer.personas(people_rows.templated(people, self._setup.preset.journal.transcripts))
        return self._report(people, writing)

    def _report(self, people: People, writing: WritingReport | None) -> PeopleReport:
        report = people_report(people, self._setup.placement, writing)
        self.writer.population(COMPLETE, report)
        self.writer.commit()
        return report

    def close(self, state: str) -> None:
        """Write what waits and the last manifest. Raises JournalError, but closes all the same."""
        try:
            self.writer.close()
        finally:
            write_manifest(self._manifest.ended_as(state, self._date()), self._paths.manifest)
            self._lock.release()

    def _date(self) -> datetime:
        return datetime.fromtimestamp(self._now(), UTC)


def _check_that_it_is_new(paths: RunDirectory) -> None:
    if paths.run_file.exists() and paths.run_file.stat().st_size:
        raise JournalError(
            "there is a run in this directory already",
            where=str(paths.path),
            hint="Resume that one, or name another directory for this one.",
        )


def _known_rounds(run_file: Path) -> list[Round]:
    with Reader(run_file) as reader:
        return reader.rounds()


def _prices(model: ModelSettings) -> tuple[float, float, float, str] | None:
    """Return the prices as the journal keeps them, if there are any."""
    if model.price_in is None or model.price_out is None:
        return None
    cached = model.price_in if model.price_cached is None else model.price_cached
    return model.price_in, model.price_out, cached, model.currency


def _known_usage(run_file: Path) -> dict[int, list[Usage]]:
    with Reader(run_file) as reader:
        return usage_by_round(reader.usage())


def _known_people(run_file: Path) -> dict[str, str]:
    with Reader(run_file) as reader:
        return reader.population()


class RunLog:
    """Brings the log records of all processes of the run into one file."""

    def __init__(self, path: Path, queue: LogQueue) -> None:
        """Open the file. Raises JournalError."""
        try:
            to_file = logging.FileHandler(path, encoding="utf-8")
        except OSError as error:
            raise JournalError(
                f"the log cannot be written: {error.strerror}",
                where=str(path),
                hint="Free space there, or make the folder writable.",
            ) from error
        to_file.setFormatter(logging.Formatter("%(asctime)s %(processName)s %(levelname)s %(message)s"))
        # The library makes a queue of its own, for forks alone; this one was there before the first child.
        self._handler = MultiProcessingHandler("run-log", sub_handler=to_file)
        self._handler.queue = queue
        root = logging.getLogger()
        root.handlers = [self._handler]
        root.setLevel(logging.INFO)

    def close(self) -> None:
        """Write what is still on its way."""
        self._handler.close()
