"""The API key: from an environment variable or a file, into the header of requests, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.errors import ModelError
from engine.models.settings import Vllm


class ApiKey:
    """A key that does not show itself."""

    def __init__(self, secret: str = "") -> None:
        self._secret = secret

    @property
    def headers(self) -> dict[str, str]:
        """The headers that carry the key."""
        return {"Authorization": f"Bearer {self._secret}"} if self._secret else {}

    def hidden(self, text: str) -> str:
        """Return a text without the key: servers quote it in their errors."""
        return text.replace(self._secret, "(secret)") if self._secret else text


def api_key(settings: Vllm, environment: Mapping[str, str]) -> ApiKey:
    """Return the key that the preset names, which may be none. Raises ModelError."""
    variable, file = settings.api_key_variable, settings.api_key_file
    if variable and file:
        raise ModelError("there are two places for the API key", where="model.api_key_file", hint="name one")
    if variable:
        return _key(environment.get(variable, ""), f"the environment variable {variable} is not set or empty")
    if not file:
        return ApiKey()
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ModelError(
            f"the file with the API key cannot be read ({type(error).__name__})", where=file
        ) from None
    return _key(text, f"the file {file} is empty")


def _key(text: str, otherwise: str) -> ApiKey:
    secret = text.strip()
    if not secret:
        raise ModelError(f"there is no API key: {otherwise}", where="model")
    if not (secret.isascii() and secret.isprintable()) or " " in secret:
        raise ModelError("the API key has characters that no key has", where="model")
    return ApiKey(secret)
