"""The manifest says what was run with what, and is never half written."""

import json
import platform
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from importlib import metadata
from pathlib import Path

import msgspec
import pytest

from engine.errors import JournalError
from engine.journal.manifest import Manifest, describe_run, read_manifest, write_manifest

NOW = datetime(2026, 3, 1, 9, 5, 7, tzinfo=timezone(timedelta(hours=2)))


@pytest.fixture
def manifest() -> Manifest:
    return describe_run("demo", 5, b"name = 'demo'", NOW)


def test_it_says_what_was_run(manifest: Manifest) -> None:
    assert (manifest.name, manifest.seed, manifest.state) == ("demo", 5, "running")
    assert manifest.started == "2026-03-01T07:05:07+00:00"
    assert manifest.preset_sha256 == sha256(b"name = 'demo'").hexdigest()


def test_it_says_with_what(manifest: Manifest) -> None:
    assert manifest.simtui == metadata.version("simtui")
    assert manifest.python == platform.python_version()
    assert manifest.libraries["sqlite-utils"] == metadata.version("sqlite-utils")
    assert "pytest" not in manifest.libraries
    (host,) = manifest.hosts
    assert (host.name, host.platform) == (platform.node(), platform.platform())
    assert host.cores >= 1
    assert host.memory_bytes > 2**20


def test_a_version_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(package: str) -> str:
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "version", unknown)
    monkeypatch.setattr(metadata, "requires", unknown)
    manifest = describe_run("demo", 5, b"", NOW)
    assert (manifest.simtui, manifest.libraries) == ("unknown", {})


def test_the_end_is_noted(manifest: Manifest, tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    write_manifest(manifest, path)
    models = {"small": {"sha256": "ab"}}
    ended = msgspec.structs.replace(manifest.ended_as("done", NOW + timedelta(hours=1)), models=models)
    write_manifest(ended, path)
    assert read_manifest(path) == ended
    told = json.loads(path.read_text())
    assert (told["state"], told["ended"]) == ("done", "2026-03-01T08:05:07+00:00")
    assert told["models"] == models
    assert told["started"] == manifest.started
    assert [file.name for file in tmp_path.iterdir()] == ["manifest.json"]


def test_an_earlier_one_stays_whole_when_writing_breaks(
    manifest: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "manifest.json"
    write_manifest(manifest, path)

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_manifest(manifest.ended_as("done", NOW), path)
    assert read_manifest(path) == manifest


def test_without_room_for_a_second_file_the_first_is_written_over(
    manifest: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "manifest.json"
    write_manifest(manifest, path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    shorter = msgspec.structs.replace(manifest, libraries={})
    write_manifest(shorter, path)
    assert read_manifest(path) == shorter
    assert [file.name for file in tmp_path.iterdir()] == ["manifest.json"]


def test_a_folder_that_is_not_there(manifest: Manifest, tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be written: No such file") as caught:
        write_manifest(manifest, tmp_path / "nowhere" / "manifest.json")
    assert caught.value.where.endswith("manifest.json")


@pytest.mark.parametrize("content", [None, b"", b"[1]", b'{"name": 5}', b"\xff"])
def test_what_is_no_manifest_says_so(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "manifest.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(JournalError, match=r"no manifest|not a manifest") as caught:
        read_manifest(path)
    assert caught.value.where == str(path)


def test_times_without_a_zone_are_local() -> None:
    local = NOW.astimezone().replace(tzinfo=None)
    assert describe_run("demo", 5, b"", local).started == NOW.astimezone(UTC).isoformat()
