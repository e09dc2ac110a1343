"""Runs all checks on a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.errors import JournalError, SimtuiError
from engine.journal.lock import holder
from engine.journal.manifest import Manifest, read_manifest
from engine.journal.reader import Reader
from engine.journal.run_directory import RunDirectory
from engine.verify import content, counts, file_checks, manifest_checks
from engine.verify.check import Check, Subject, Test

TESTS: Sequence[Test] = (
    file_checks.integrity,
    file_checks.schema,
    file_checks.keys,
    file_checks.references,
    file_checks.totals,
    manifest_checks.manifest,
    content.shared_parts,
    content.replies,
    counts.rounds,
    counts.replies,
)


def verify(run: RunDirectory, further: Sequence[Test] = ()) -> list[Check]:
    """Check the files of a run that nobody is writing; `further` tests come last.

    A file that cannot be opened is a finding, too. Raises JournalError if a process runs the run.
    """
    if (pid := holder(run.lock)) is not None:
        raise JournalError(
            f"process {pid or 'unknown'} is running this run",
            where=str(run.path),
            hint="Verify it when it has ended; `simtui runs` shows how far it is.",
        )
    described, of_manifest = _manifest(run.manifest)
    opened = Check("run.db can be read")
    checks = [of_manifest, opened]
    try:
        with Reader(run.run_file) as file:
            subject = Subject(run, file, described, file.meta())
            opened.add()
            for test in (*TESTS, *further):
                checks += _findings(test, subject)
    except JournalError as error:
        opened.add(str(error))
    return checks


def _manifest(path: Path) -> tuple[Manifest | None, Check]:
    check = Check("manifest can be read")
    try:
        described = read_manifest(path)
    except JournalError as error:
        check.add(str(error))
        return None, check
    check.add()
    return described, check


def _findings(test: Test, subject: Subject) -> list[Check]:
    try:
        return list(test(subject))
    except SimtuiError as error:
        failed = Check(test.__name__.replace("_", " "))
        failed.add(str(error))
        return [failed]
