"""The consoles that everything people read is printed on."""

from __future__ import annotations

from typing import TextIO, cast

from rich.console import Console

from app.streams import Lasting


def console(stream: TextIO, *, no_color: bool = False) -> Console:
    """Return a console that prints text as it is: no markup, no highlighting, no emoji codes.

    It goes silent when the stream's other end is gone. NO_COLOR and TERM=dumb are respected.
    """
    return Console(
        file=cast("TextIO", Lasting(stream)),
        markup=False,
        highlight=False,
        emoji=False,
        no_color=no_color or None,
    )
