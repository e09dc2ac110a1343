"""docs/architecture.md names no module that is not there, and leaves no package out."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`([\w/]+\.py)`", DOC))


def test_every_module_named_exists() -> None:
    assert len(NAMED) > 25
    known = [
        path.relative_to(ROOT).as_posix()
        for folder in ("app", "engine")
        for path in (ROOT / folder).rglob("*.py")
    ]
    known.append("simtui.py")
    missing = [name for name in NAMED if not any(path == name or path.endswith(f"/{name}") for path in known)]
    assert missing == []


def test_every_package_is_named() -> None:
    packages = {f"engine/{path.parent.name}" for path in (ROOT / "engine").glob("*/__init__.py")}
    rows = set(re.findall(r"^\| `([\w/]+)` \|", DOC, re.MULTILINE))
    assert rows == packages | {"app"}
