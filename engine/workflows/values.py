"""Values on their way: msgpack of exactly what was given, or an error that names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.workflows.failures import Unsendable
from engine.workflows.methods import UNTYPED, Method

PENDING = 1
"""The extension type of a value that is yet to come."""
_SCALARS = frozenset({int, float, str, bool, type(None), bytes})
_HINT = "Values cross as msgpack: numbers, texts, lists, dicts, and msgspec structs, dataclasses, tuples or \
sets where an annotation says so."


def refuse(value: Any) -> Any:
    """Refuse a type that msgpack does not have."""
    raise NotImplementedError(type(value).__name__)


_ENCODER = msgspec.msgpack.Encoder(enc_hook=refuse)


def encode(value: Any, method: Method, parameter: str = "return", encoder: Any = _ENCODER) -> bytes:
    """Encode a value so that it is the same on the other side; raises Unsendable if it would not be."""
    data = encode_parts(value, method, parameter, encoder)
    if type(value) not in _SCALARS:
        _check(value, data, method, parameter)
    return data


def encode_parts(value: Any, method: Method, parameter: str, encoder: Any) -> bytes:
    """Encode without comparing, as of a value with parts that are yet to come."""
    try:
        return bytes(encoder.encode(value))
    except NotImplementedError as error:
        raise _unsendable(f"contains what cannot be sent, of type {error}", method, parameter) from None
    except (TypeError, OverflowError, RecursionError, ValueError) as error:
        raise _unsendable(f"cannot be sent: {error}", method, parameter) from None


def _check(value: Any, data: bytes, method: Method, parameter: str) -> None:
    try:
        back = method.decoder(parameter).decode(data)
    except msgspec.ValidationError as error:
        raise _unsendable(f"is not what its annotation says: {error}", method, parameter) from None
    # Not a number differs from itself, but not in writing.
    if back != value and repr(back) != repr(value):
        kind = type(value).__name__
        raise _unsendable(f"is a {kind} that would arrive as {back!r:.60}", method, parameter)


def _unsendable(what: str, method: Method, parameter: str) -> Unsendable:
    of = "the result" if parameter == "return" else f"the argument {parameter!r}"
    return Unsendable(f"{of} {what}", where=method.label, hint=_HINT)


def decode(data: bytes, method: Method, parameter: str, values: Mapping[int, Any]) -> Any:
    """Decode an argument, with values put in where they were yet to come."""
    if not values:
        return method.decoder(parameter).decode(data)

    def put_in(code: int, payload: memoryview) -> Any:
        if code != PENDING:
            raise ValueError(f"extension {code} is not known")
        return values[int.from_bytes(payload, "little")]

    return method.convert(msgspec.msgpack.decode(data, ext_hook=put_in), parameter)


def decode_result(data: bytes, method: Method | None) -> Any:
    """Decode what a method has returned."""
    return (method.decoder() if method else UNTYPED).decode(data)
