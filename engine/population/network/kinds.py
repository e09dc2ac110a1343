"""The networks that follow a model: one function a kind, from settings to ties."""

from __future__ import annotations

import numpy as np

from engine.population.network.chance import Ties, pairs_within
from engine.population.network.graph import Array, check_size
from engine.population.network.settings import Homophily, Preferential, Random, SmallWorld
from engine.population.streams import Ints, stream, uniform

ROUNDS = 60
"""How often what came out twice is drawn again."""


def random(settings: Random, n: int, seed: int) -> Ties:
    """Return ties of everybody to anybody."""
    return pairs_within(n, settings.mean_degree / max(1, n - 1), seed)


def small_world(settings: SmallWorld, n: int, seed: int) -> Ties:
    """Return a ring of ties, some of which lead elsewhere."""
    check_size(n * settings.neighbours / 2)
    one = np.repeat(np.arange(n), settings.neighbours // 2)
    other = (one + np.tile(np.arange(1, settings.neighbours // 2 + 1), n)) % n
    numbers = np.arange(len(one))
    moved = uniform(stream(seed, "moved"), numbers) < settings.rewired
    draw = moved.copy()
    for attempt in range(ROUNDS):
        if not draw.any():
            break
        other[draw] = np.floor(uniform(stream(seed, "to", attempt), numbers[draw]) * n).astype(np.int64)
        draw = moved & _given_before(n, one, other, moved)
    return one, other


def preferential(settings: Preferential, n: int, seed: int) -> Ties:
    """Return ties of newcomers to those there, in proportion to how many neighbours they have.

    Batagelj and Brandes (2005): an end of an earlier tie, drawn evenly, is a person drawn by their degree.
    Which end a newcomer's tie leads to may itself be the drawn end of an earlier tie; such chains are
    followed for all ties at once. The first people all know each other.
    """
    m = settings.ties
    check_size(n * m)
    core_one, core_other = pairs_within(m + 1, 1.0, seed)
    newcomers = np.repeat(np.arange(m + 1, n), m)
    before = len(core_one) + (newcomers - m - 1) * m  # the ties that there are when the newcomer comes
    one = np.concatenate([core_one, newcomers])
    pointers = np.zeros(len(one), dtype=np.int64)
    pointers[len(core_one) :] = _ends(before, stream(seed, "end"), np.arange(len(newcomers)))
    other = _followed(one, core_other, pointers)
    targets = other[len(core_one) :].reshape(-1, m)  # a view: each row a newcomer's
    rows = np.arange(len(targets))
    for attempt in range(ROUNDS):
        again = _repeated(targets[rows])
        if not again.any():
            break
        draw = (rows[:, None] * m + np.arange(m))[again]
        rows = np.unique(draw // m)
        ends = _ends(before[draw], stream(seed, "again", attempt), draw)
        targets.ravel()[draw] = np.where(ends % 2, other[ends // 2], one[ends // 2])
    return one, other


def _ends(before: Ints, seed: int, numbers: Ints) -> Ints:
    """Return one of the ends of the ties that there are before: 2e is the first end of tie e, 2e + 1 the
    second."""
    ends: Ints = np.floor(uniform(seed, numbers) * 2 * before).astype(np.int64)
    return ends


def _followed(one: Ints, core_other: Ints, pointers: Ints) -> Ints:
    """Return the person that each pointer leads to; pointer 2e is the first end of tie e, 2e + 1 the
    second."""
    other = np.concatenate([core_other, np.full(len(one) - len(core_other), -1)])
    rows = np.arange(len(core_other), len(one))
    at = pointers[rows]
    while len(rows):
        tie, is_second = at // 2, at % 2 == 1
        is_core = tie < len(core_other)
        found = ~is_second | is_core
        other[rows[found]] = np.where(is_second, other[tie], one[tie])[found]
        rows, at = rows[~found], pointers[tie[~found]]
    return other


def _repeated(rows: Array) -> Array:
    """Return which entries of each row of an array have been in that row before."""
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    again = np.zeros(rows.shape, dtype=bool)
    again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    found = np.zeros(rows.shape, dtype=bool)
    np.put_along_axis(found, order, again, axis=1)
    return found


def homophily(settings: Homophily, alike: Ints, seed: int) -> Ties:
    """Return ties of which a share is among those alike, the others among all."""
    n = len(alike)
    wanted = round(n * settings.mean_degree / 2)
    check_size(wanted)
    order = np.argsort(alike, kind="stable")
    sizes = np.bincount(alike)
    starts = np.cumsum(sizes) - sizes
    keys = np.empty(0, dtype=np.int64)
    for attempt in range(ROUNDS):
        missing = wanted - len(keys)
        if missing <= 0:
            break
        numbers = np.arange(missing + missing // 50 + 10)
        u = [uniform(stream(seed, side, attempt), numbers) for side in ("one", "other", "alike")]
        one, anybody = (np.floor(x * n).astype(np.int64) for x in u[:2])
        group = alike[one]
        one_alike = order[starts[group] + np.floor(u[1] * sizes[group]).astype(np.int64)]
        among_alike = (u[2] < settings.homophily) & (sizes[group] > 1)
        other = np.where(among_alike, one_alike, anybody)
        is_tie = one != other
        new = _keys(n, one[is_tie], other[is_tie])
        keys = _first_of_each(np.concatenate([keys, new]))[:wanted]
    return keys // n, keys % n


def groups(codes: Ints) -> Ties:
    """Return the ties of everybody with everybody of the same group."""
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes).astype(np.int64)
    check_size(float((sizes * (sizes - 1) / 2).sum()))
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    ranks = np.arange(len(codes)) - starts
    one = np.repeat(np.arange(len(codes)), ranks)  # each with all of the group that come before
    within = np.arange(len(one)) - np.repeat(np.cumsum(ranks) - ranks, ranks)
    return order[one], order[starts[one] + within]


def _keys(n: int, one: Array, other: Array) -> Ints:
    keys: Ints = np.minimum(one, other).astype(np.int64) * n + np.maximum(one, other)
    return keys


def _first_of_each(keys: Ints) -> Ints:
    places = np.unique(keys, return_index=True)[1]
    places.sort()
    return keys[places]


def _given_before(n: int, one: Ints, other: Ints, moved: Array) -> Array:
    """Return which moved ties lead back to oneself, or are there already."""
    keys = _keys(n, one, other)
    order = np.lexsort((moved, keys))  # of equal ties, one that was not moved comes first
    again = np.zeros(len(keys), dtype=bool)
    again[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    return np.asarray(again | (one == other))
