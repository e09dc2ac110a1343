"""Whether manifest, preset and database are of one run."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from engine.verify.check import Check, Subject


def manifest(subject: Subject) -> Iterator[Check]:
    """The manifest has the hash of preset.toml, and the name, seed and state that the database has."""
    check, described = Check("manifest, preset and database are of one run"), subject.manifest
    if described is None or described.state == "branched":
        check.unchecked.append("the branch has not run yet" if described else "the manifest cannot be read")
        yield check
        return
    try:
        found = sha256(subject.run.preset.read_bytes()).hexdigest()
    except OSError as error:
        check.add(f"preset.toml cannot be read: {error.strerror}")
    else:
        same = found == described.preset_sha256
        check.add(None if same else "preset.toml is not the one whose hash the manifest has")
    for name in ("name", "seed"):
        expected = getattr(described, name)
        check.add(
            None
            if subject.meta.get(name) == expected
            else f"{name} is {expected!r} in the manifest, {subject.meta.get(name)!r} in run.db"
        )
    check.add(_state(subject, described.state))
    yield check


def _state(subject: Subject, state: str) -> str | None:
    n, n_rounds = len(subject.file.rounds()), subject.fact("rounds")
    if state == "done" and n != n_rounds:
        return f"the run is done, but run.db has {n} rounds of {n_rounds}"
    return None
