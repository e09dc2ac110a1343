"""How this simtui was installed, and so how more of it is."""

from __future__ import annotations

import shlex
import sys
from importlib import metadata
from urllib.parse import unquote, urlsplit

import msgspec


def how_to_install(extra: str) -> str:
    """Return the command that adds an optional part, such as "analysis", to this very installation.

    One that came from a folder or a file names that again; pip would look for a published package otherwise.
    """
    if getattr(sys, "frozen", False):
        return f"install simtui with pip, with its part [{extra}]: this program was built without it"
    return shlex.join([sys.executable, "-m", "pip", "install", *_requirement(extra, _origin())])


class _Folder(msgspec.Struct):
    editable: bool = False


class _Repository(msgspec.Struct):
    vcs: str


class _Origin(msgspec.Struct):
    """What pip notes of a package that came from no index (PEP 610)."""

    url: str
    dir_info: _Folder | None = None
    vcs_info: _Repository | None = None


def _origin() -> _Origin | None:
    try:
        noted = metadata.distribution("simtui").read_text("direct_url.json")
        return msgspec.json.decode(noted or "null", type=_Origin | None)
    except (metadata.PackageNotFoundError, msgspec.DecodeError):
        return None


def _requirement(extra: str, origin: _Origin | None) -> list[str]:
    if origin is None:
        return [f"simtui[{extra}]"]
    if origin.dir_info is None:
        return [f"simtui[{extra}] @ {f'{origin.vcs_info.vcs}+' if origin.vcs_info else ''}{origin.url}"]
    folder = unquote(urlsplit(origin.url).path)
    return [*(["-e"] if origin.dir_info.editable else []), f"{folder}[{extra}]"]
