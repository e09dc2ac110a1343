"""The command that adds an optional part, for each way in which simtui can have been installed."""

import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine import installation

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("noted", "arguments"),
    [
        (None, ["simtui[analysis]"]),
        ("{nonsense", ["simtui[analysis]"]),
        ('{"url": "file:///x%20y/simtui", "dir_info": {}}', ["/x y/simtui[analysis]"]),
        (
            '{"url": "file:///checkout/simtui", "dir_info": {"editable": true}}',
            ["-e", "/checkout/simtui[analysis]"],
        ),
        (
            '{"url": "file:///x/simtui-0.1.0-py3-none-any.whl", "archive_info": {}}',
            ["simtui[analysis] @ file:///x/simtui-0.1.0-py3-none-any.whl"],
        ),
        (
            '{"url": "https://example.org/simtui.git", "vcs_info": {"vcs": "git", "commit_id": "1"}}',
            ["simtui[analysis] @ git+https://example.org/simtui.git"],
        ),
    ],
)
def test_more_comes_from_where_simtui_came_from(
    monkeypatch: pytest.MonkeyPatch, noted: str | None, arguments: list[str]
) -> None:
    found = SimpleNamespace(read_text={"direct_url.json": noted}.get)
    monkeypatch.setattr(installation.metadata, "distribution", {"simtui": found}.__getitem__)
    said = shlex.split(installation.how_to_install("analysis"))
    assert said == [sys.executable, "-m", "pip", "install", *arguments]


def test_a_program_without_python_cannot_be_added_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert "built without it" in installation.how_to_install("llama")


def test_nothing_tells_to_install_a_package_that_is_not_published() -> None:
    for folder, pattern in (("app", "**/*.py"), ("engine", "**/*.py"), ("docs", "*.md"), (".", "*.md")):
        for path in (ROOT / folder).glob(pattern):
            text = path.read_text("utf-8")
            assert "install simtui[" not in text, path
            assert "install 'simtui[" not in text, path
