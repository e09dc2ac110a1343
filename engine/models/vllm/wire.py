"""What servers send: replies read strictly, and everything else sorted by what is to be done about it."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from engine.models.protocol import Finish

MAX_TEXT = 300


class Kind(StrEnum):
    """Kinds of failure, by what follows from each."""

    BUSY = "too busy"
    """Ask for less, wait, and send it again."""
    SICK = "failed"
    """Send it again elsewhere; too many of these in a row, and the server is left alone."""
    GONE = "unreachable"
    """The request was not taken up; leave the server alone at once."""
    MISFIT = "not as configured"
    """No request of this run can work there: wrong key, wrong model, not this kind of server."""
    TOO_LONG = "prompt too long"
    REFUSED = "refused"
    """This request cannot work anywhere."""


class Failure(NamedTuple):
    """A request without a reply; `text` is fit to be shown."""

    kind: Kind
    text: str
    retry_after_s: float | None = None


class Said(NamedTuple):
    """One of the replies to a request."""

    text: str
    finish: Finish
    logprob: float | None = None
    """Of all its tokens, if the server tells."""


class Reply(NamedTuple):
    """The replies to one request, and what they cost together."""

    said: list[Said]
    model: str
    tokens_in: int
    tokens_out: int
    tokens_cached: int


_Count = Annotated[int, Meta(ge=0, le=1 << 48)]


class _Message(msgspec.Struct, gc=False):
    content: str | None = None
    refusal: str | None = None


class _Token(msgspec.Struct, gc=False):
    logprob: float


class _Logprobs(msgspec.Struct, gc=False):
    content: list[_Token] | None = None


class _Choice(msgspec.Struct, gc=False):
    message: _Message
    logprobs: _Logprobs | None = None
    finish_reason: str | None = None


class _Details(msgspec.Struct, gc=False):
    cached_tokens: _Count | None = None


class _Usage(msgspec.Struct, gc=False):
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    prompt_tokens_details: _Details | None = None


class _Completion(msgspec.Struct, gc=False):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    model: str | None = None
    error: Any = None


_decoder = msgspec.json.Decoder(_Completion)
_FINISH = {"stop": Finish.STOP, "length": Finish.LENGTH, "repetition": Finish.LENGTH}
_BUSY = {429, 503, 529}
_MISFIT = {401, 403, 404, 405}
_REFUSED = {400, 413, 422}
_TOO_LONG = re.compile(
    r"maximum context length|context_length_exceeded|exceed_context_size|longer than the maximum model length"
    r"|exceeds the available context|exceeds? (?:the )?(?:model'?s )?(?:maximum )?context",
    re.IGNORECASE,
)
_NO_USAGE = _Usage()


def read(body: bytes, n: int) -> Reply | Failure:
    """Read a response with status 200 to a request for `n` replies.

    A reply counts only if the server says that the model ended it, or that it was cut at its limit: not for
    having status 200, and not for having come to an end.
    """
    try:
        found = _decoder.decode(body)
    except msgspec.DecodeError:
        try:
            found = _decoder.decode(body.decode(errors="replace").encode())
        except msgspec.DecodeError as error:
            return Failure(Kind.SICK, shown(f"sent a reply that cannot be read ({error})"))
    if found.error:
        return failure(_code_in(found.error), body)
    if len(found.choices) != n:
        return Failure(Kind.SICK, f"sent {len(found.choices)} replies where {n} were asked for")
    said = []
    for choice in found.choices:
        one = _said(choice)
        if isinstance(one, Failure):
            return one
        said.append(one)
    usage = found.usage or _NO_USAGE
    details = usage.prompt_tokens_details
    return Reply(
        said,
        found.model or "",
        usage.prompt_tokens or 0,
        usage.completion_tokens or 0,
        (details.cached_tokens or 0) if details else 0,
    )


def _said(choice: _Choice) -> Said | Failure:
    message, reason = choice.message, choice.finish_reason
    if message.refusal or reason == "content_filter":
        return Failure(Kind.REFUSED, shown(f"declined: {message.refusal or 'content filter'}"))
    finish = _FINISH.get(reason or "")
    if finish is None:
        return Failure(Kind.SICK, shown(f"broke off a reply ({reason or 'no reason given'})"))
    told = choice.logprobs.content if choice.logprobs else None
    return Said(message.content or "", finish, sum(t.logprob for t in told) if told else None)


def failure(status: int, body: bytes, retry_after_s: float | None = None) -> Failure:
    """Sort a response that is no reply."""
    text = shown(f"HTTP {status}: {message_in(body)}")
    if status in _BUSY:
        return Failure(Kind.BUSY, text, retry_after_s)
    if status in _REFUSED:
        return Failure(Kind.TOO_LONG if _TOO_LONG.search(text) else Kind.REFUSED, text)
    if status in _MISFIT or 300 <= status < 400:
        return Failure(Kind.MISFIT, text)
    return Failure(Kind.SICK, text)


def message_in(body: bytes) -> str:
    """Return the message of an error body, whatever its shape."""
    try:
        found = msgspec.json.decode(body[:100_000])
    except msgspec.DecodeError:
        return body[:MAX_TEXT].decode(errors="replace")
    error = found.get("error", found) if isinstance(found, dict) else found
    if isinstance(error, dict):
        parts = (error.get(key) for key in ("message", "detail", "code", "type"))
        return " ".join(str(part) for part in parts if part and not isinstance(part, dict | list))
    return str(error)


def shown(text: str) -> str:
    """Return a server's text fit to be shown: one line, of bounded length, nothing unprintable."""
    return "".join(c if c.isprintable() else " " for c in text[: 4 * MAX_TEXT]).strip()[:MAX_TEXT]


def _code_in(error: object) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500
