"""The cyclic garbage collector, told to leave a million living agents alone."""

from __future__ import annotations

import gc

YOUNG_OBJECTS = 50_000
"""New objects between two looks at the young ones, at least. With Python's default of 700, and full looks at
everything that lives, collection takes a third of the CPU time of a round of a million agents."""

OBJECTS_OF_AN_AGENT = 10
"""So many has one that waits for its model (itself, its memory, turn, coroutine, call, ...)."""


def spare_the_living(n_agents: int = 0) -> None:
    """Look at young objects rarely and at old ones hardly ever; what exists now is never looked at again.

    Where `n_agents` live, there may be as much garbage as all of them are: looking at each once while it
    waits costs 1 us of a step.
    """
    gc.freeze()
    gc.set_threshold(max(YOUNG_OBJECTS, OBJECTS_OF_AN_AGENT * n_agents), 500, 1000)
