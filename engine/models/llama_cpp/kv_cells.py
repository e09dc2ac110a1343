"""Keys and values of a run of tokens, taken out of and put back into a context.

llama.cpp saves a sequence as one block of bytes; this module cuts such a block into parts by token and builds
one from parts, so that conversations with the same beginning share that beginning's memory. The layout is
that of llama-kv-cache.cpp, state_write. Whatever does not fit it exactly (sliding windows, recurrent and
multi-position models) raises UnknownLayout and is simply not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

_INT = np.dtype("<i4")
_LONG = np.dtype("<i8")
_TOKEN = np.dtype([("position", _INT), ("sequences", _INT), ("sequence", _INT)])
_MAX_FIELD = 1 << 24
"""No count or size in a header is larger than this."""


class UnknownLayout(Exception):
    """This block is not laid out as expected, so it cannot be cut."""


class Layout(NamedTuple):
    """What the blocks of one context have in common."""

    head: bytes
    """Magic number and the sequence that was saved; both are ignored or checked by llama.cpp itself."""
    streams: int
    layers: int
    key_type: int
    key_bytes: int
    """Bytes of one token's keys in one layer."""
    value_type: int
    value_bytes: int
    """Bytes of one token's values in one layer; of one element when transposed."""
    elements: int
    """Elements of one token's values in one layer when transposed, else 0."""

    def block(self, tokens: int, ahead: int = 0) -> np.dtype[np.void]:
        """Return the type of a whole block whose tokens are in stream `ahead`."""
        keys = _rows(tokens, self.key_bytes)
        values = (
            _columns(tokens, self.value_bytes, self.elements)
            if self.elements
            else _rows(tokens, self.value_bytes)
        )
        return np.dtype(
            [
                ("head", np.uint8, (8,)),
                ("streams", _INT),
                ("ahead", _INT, (ahead,)),
                ("count", _INT),
                ("marks", _TOKEN, (tokens,)),
                ("transposed", _INT),
                ("layers", _INT),
                ("keys", keys, (self.layers,)),
                ("values", values, (self.layers,)),
                ("behind", _INT, (self.streams - 1 - ahead,)),
            ]
        )


class Cells(NamedTuple):
    """Keys and values of consecutive tokens."""

    keys: npt.NDArray[Any]
    """layers x tokens x bytes"""
    values: npt.NDArray[Any]
    """layers x tokens x bytes, or layers x elements x tokens when transposed"""
    layout: Layout

    @property
    def tokens(self) -> int:
        """How many tokens."""
        return int(self.keys.shape[1])

    @property
    def nbytes(self) -> int:
        """Memory taken."""
        return self.keys.nbytes + self.values.nbytes

    def part(self, start: int, end: int) -> Cells:
        """Return the cells of some of the tokens, as views."""
        values = self.values[:, :, start:end] if self.layout.elements else self.values[:, start:end]
        return Cells(self.keys[:, start:end], values, self.layout)

    def copy(self) -> Cells:
        """Return the same cells in memory of their own."""
        return Cells(self.keys.copy(), self.values.copy(), self.layout)


def cut(block: Bytes, tokens: int) -> Cells:
    """Return the cells in a saved sequence of so many tokens, as views. Raises UnknownLayout."""
    layout, ahead = _layout(block, tokens)
    kind = layout.block(tokens, ahead)
    _expect(kind.itemsize == len(block))
    whole = block.view(kind)[0]
    marks, keys, values = whole["marks"], whole["keys"], whole["values"]
    _expect(bool((marks["position"] == np.arange(tokens)).all() and (marks["sequences"] == 1).all()))
    _expect(not whole["ahead"].any() and not whole["behind"].any())
    _expect(bool((keys["type"] == layout.key_type).all() and (keys["bytes"] == layout.key_bytes).all()))
    _expect(
        bool((values["type"] == layout.value_type).all() and (values["bytes"] == layout.value_bytes).all())
    )
    _expect(not layout.elements or bool((values["elements"] == layout.elements).all()))
    return Cells(keys["cells"], values["cells"], layout)


def join(parts: Sequence[Cells]) -> Bytes:
    """Return the block that restores a sequence made of these cells, in this order."""
    layout = parts[0].layout
    tokens = sum(part.tokens for part in parts)
    block = np.empty(1, layout.block(tokens))
    whole = block[0]
    whole["head"], whole["streams"] = np.frombuffer(layout.head, np.uint8), layout.streams
    whole["count"], whole["behind"] = tokens, 0
    whole["marks"]["position"], whole["marks"]["sequences"], whole["marks"]["sequence"] = (
        np.arange(tokens),
        1,
        0,
    )
    whole["transposed"], whole["layers"] = bool(layout.elements), layout.layers
    keys, values = whole["keys"], whole["values"]
    keys["type"], keys["bytes"] = layout.key_type, layout.key_bytes
    values["type"], values["bytes"] = layout.value_type, layout.value_bytes
    if layout.elements:
        values["elements"] = layout.elements
    _fill(Cells(keys["cells"], values["cells"], layout), parts)
    return block.view(np.uint8)


def _fill(whole: Cells, parts: Sequence[Cells]) -> None:
    at = 0
    for part in parts:
        target = whole.part(at, at + part.tokens)
        target.keys[...], target.values[...] = part.keys, part.values
        at += part.tokens


def _layout(block: Bytes, tokens: int) -> tuple[Layout, int]:
    """Read the headers: the layout, and in which stream the tokens are."""
    streams = _number(block, 8)
    ahead = next((n for n in range(streams) if _number(block, 12 + 4 * n)), streams)
    _expect(ahead < streams and _number(block, 12 + 4 * ahead) == tokens > 0)
    at = 16 + 4 * ahead + tokens * _TOKEN.itemsize
    transposed, layers, key_type = (_number(block, at + 4 * n) for n in range(3))
    key_bytes = _number(block, at + 12, _LONG)
    values_at = at + 8 + layers * _rows(tokens, key_bytes).itemsize
    value_type = _number(block, values_at)
    value_bytes = _number(block, values_at + 4, _INT if transposed else _LONG)
    elements = _number(block, values_at + 8) if transposed else 0
    _expect(transposed in (0, 1) and (not transposed or value_bytes in (1, 2, 4)))
    head = block[:8].tobytes()
    return Layout(head, streams, layers, key_type, key_bytes, value_type, value_bytes, elements), ahead


def _number(block: Bytes, at: int, kind: np.dtype[Any] = _INT) -> int:
    _expect(0 <= at <= len(block) - kind.itemsize)
    value = int(block[at : at + kind.itemsize].view(kind)[0])
    _expect(0 <= value < _MAX_FIELD)
    return value


def _rows(tokens: int, size: int) -> np.dtype[np.void]:
    return np.dtype([("type", _INT), ("bytes", _LONG), ("cells", np.uint8, (tokens, size))])


def _columns(tokens: int, size: int, elements: int) -> np.dtype[np.void]:
    cells = (f"<u{size}", (elements, tokens))
    return np.dtype([("type", _INT), ("bytes", _INT), ("elements", _INT), ("cells", *cells)])


def _expect(holds: bool) -> None:
    if not holds:
        raise UnknownLayout
