"""Where a server is: from what a preset says to the paths that are asked."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from engine.errors import ModelError

_HOST = re.compile(r"[A-Za-z0-9._:-]+")
_PATH = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@%/-]*")


class Address(NamedTuple):
    """One server."""

    tls: bool
    host: str
    port: int
    root: str
    """Path below which are /health, /metrics and /version."""
    api: str
    """Path below which are /chat/completions and /models."""

    @property
    def name(self) -> str:
        """How the server is called in messages and in the manifest."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' * self.tls}://{host}:{self.port}{self.root}"


def address(text: str) -> Address:
    """Read a base URL, with or without /v1 at its end. Raises ModelError."""
    try:
        url = urlsplit(text)
        host, port = url.hostname or "", url.port
    except ValueError:
        raise _refused("this is not a base URL") from None
    if url.username is not None or url.password is not None or url.query or url.fragment:
        raise _refused("a base URL must not hold a user, a password or a query, for it is kept with the run")
    if url.scheme not in ("http", "https") or not _HOST.fullmatch(host) or not _PATH.fullmatch(url.path):
        raise _refused("this is not a base URL")
    tls = url.scheme == "https"
    path = url.path.rstrip("/")
    # hosted APIs have paths of their own (".../openai"), which end where the preset says
    return Address(tls, host, port or (443 if tls else 80), path.removesuffix("/v1"), path or "/v1")


def _refused(what: str) -> ModelError:
    return ModelError(
        what,
        where="model.servers",
        hint='for example "http://gpu1:8000"; a key is named by model.api_key_variable or model.api_key_file',
    )
