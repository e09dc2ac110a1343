"""manifest.json: what was run, with what, on what, from when to when."""

from __future__ import annotations

import os
import platform
import re
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
import psutil

from engine.errors import JournalError

CHANGEABLE = ("engine", "budget", "journal")
"""Tables of the preset whose settings do not change what the agents do; others would make it another run."""


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """A machine that took part."""

    name: str
    platform: str
    cpu: str
    cores: int
    memory_bytes: int


class Parent(msgspec.Struct, frozen=True, kw_only=True):
    """The run that a branch shares its first rounds with."""

    run: str
    round: int
    """The last round that they share."""
    parent: Parent | None = None
    """What the parent shared with its own, as far as that is before these rounds."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What it takes to reproduce a run. Times are ISO 8601, UTC."""

    name: str
    """The preset's."""
    state: str = "running"
    """"running", "done", "failed" or "interrupted"; a run that was killed stays "running"."""
    started: str
    parent: Parent | None = None
    resumed: list[str] = []
    """When it was taken up again."""
    ended: str | None = None
    seed: int
    preset_sha256: str
    """Of preset.toml beside it."""
    scenario_sha256: str | None = None
    """Of the user's own file that the scenario is in; a copy of it is beside this one."""
    models: dict[str, Any] = {}
    """What each model's backend says of it: file hash, version, mode."""
    hosts: list[Host]
    simtui: str
    """Version."""
    python: str
    """Version."""
    libraries: dict[str, str]
    """Versions of what simtui uses."""
    settings_sha256: str = ""
    """Of what preset.toml sets outside of the tables that a resumed run may change."""

    def resumed_as(self, again: Manifest) -> Manifest:
        """Return the manifest of the same run taken up again; `again` describes it as if it started now."""
        return msgspec.structs.replace(
            again,
            started=self.started,
            resumed=[*self.resumed, again.started],
            models=self.models,
            parent=self.parent,
        )

    def ended_as(self, state: str, now: datetime) -> Manifest:
        """Return the manifest of the same run at its end."""
        return msgspec.structs.replace(self, state=state, ended=_timestamp(now))


def settings_hash(preset: bytes) -> str:
    """Return the hash of the settings of a preset.toml that a resumed run may not change."""
    found = tomllib.loads(preset.decode())
    fixed = {table: value for table, value in found.items() if table not in CHANGEABLE}
    return sha256(msgspec.json.encode(fixed, order="deterministic")).hexdigest()


def describe_run(name: str, seed: int, preset: bytes, now: datetime) -> Manifest:
    """Return the manifest of a run that starts now and here; `preset` is the content of preset.toml."""
    return Manifest(
        name=name,
        started=_timestamp(now),
        seed=seed,
        preset_sha256=sha256(preset).hexdigest(),
        settings_sha256=settings_hash(preset),
        hosts=[describe_host()],
        simtui=_version("simtui") or "unknown",
        python=platform.python_version(),
        libraries=dict(_libraries()),
    )


def describe_host() -> Host:
    """Describe this machine."""
    return Host(
        name=platform.node(),
        platform=platform.platform(),
        cpu=_cpu(),
        cores=psutil.cpu_count() or 1,
        memory_bytes=psutil.virtual_memory().total,
    )


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Write a manifest, replacing an earlier one as a whole. Raises JournalError."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    try:
        _replace(path, text)
    except OSError as error:
        raise JournalError(
            f"the manifest cannot be written: {error.strerror}",
            where=str(path),
            hint="Free space there, or make the folder writable.",
        ) from error


def read_manifest(path: Path) -> Manifest:
    """Read a manifest. Raises JournalError."""
    hint = "A run directory has a manifest.json beside its run.db."
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except OSError as error:
        raise JournalError(f"there is no manifest: {error.strerror}", where=str(path), hint=hint) from error
    except msgspec.DecodeError as error:
        raise JournalError(
            f"this is not a manifest of simtui: {error}", where=str(path), hint=hint
        ) from error


def _replace(path: Path, text: bytes) -> None:
    """Put a file in place of another at once; where the disk is full, into the blocks that it has."""
    draft = path.with_name(path.name + ".new")
    try:
        with draft.open("wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        if not path.exists():
            raise
        with path.open("r+b") as file:
            file.write(text)
            file.truncate()


def _timestamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _libraries() -> Iterator[tuple[str, str]]:
    """Yield the packages that simtui may run with, as far as they are installed."""
    try:
        requirements = metadata.requires("simtui") or []
    except metadata.PackageNotFoundError:
        return
    for requirement in requirements:
        found = re.match(r"[A-Za-z0-9._-]+", requirement)
        for_tests = re.search(r"extra == .dev", requirement)
        if found and not for_tests and (version := _version(found[0])):
            yield found[0], version


def _cpu() -> str:
    """Return the processor's model; `platform.processor` is empty on Linux."""
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        found = None
    return found[1] if found else platform.processor()
