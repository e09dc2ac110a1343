"""The `[population.networks.NAME]` tables: one struct a kind of network, told apart by `kind`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

Degree = Annotated[float, Meta(gt=0, le=10_000)]
Probability = Annotated[float, Meta(ge=0, le=1)]
Names = Annotated[tuple[str, ...], Meta(min_length=1, max_length=10)]


class NetworkSettings(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True
):
    """What every network has."""


class Random(NetworkSettings, frozen=True, kw_only=True, tag="random"):
    """Every two people know each other with the same probability (Erdős and Rényi; Gilbert's G(n, p))."""

    mean_degree: Degree
    """Mean number of neighbours."""


class SmallWorld(NetworkSettings, frozen=True, kw_only=True, tag="small_world"):
    """A ring in which everybody knows the nearest, with some ties moved at random (Watts and Strogatz
    1998)."""

    neighbours: Annotated[int, Meta(ge=2, le=10_000)]
    """Neighbours on the ring before ties are moved, half of them on each side; an even number."""
    rewired: Probability = 0.1
    """Share of the ties whose far end is moved to somebody at random."""


class Preferential(NetworkSettings, frozen=True, kw_only=True, tag="preferential"):
    """Who comes later ties to the well-connected (Barabási and Albert 1999); a few get very many
    neighbours."""

    ties: Annotated[int, Meta(ge=1, le=5_000)]
    """Ties that each newcomer makes; the mean number of neighbours is about twice that."""


class Blocks(NetworkSettings, frozen=True, kw_only=True, tag="blocks"):
    """The probability of a tie depends on the two people's categories (stochastic block model)."""

    attribute: str
    """The attribute whose categories are the blocks."""
    degrees: dict[str, dict[str, Annotated[float, Meta(ge=0, le=10_000)]]]
    """Mean number of neighbours that somebody of a block has in each block, for example
    { north = { north = 8, south = 1 }, south = { south = 8 } }; the other direction follows from it."""


class Homophily(NetworkSettings, frozen=True, kw_only=True, tag="homophily"):
    """People know people like themselves."""

    attributes: Names
    """The attributes in which likeness counts; all of them have to agree."""
    mean_degree: Degree
    """Mean number of neighbours."""
    homophily: Probability
    """Share of the ties that are made among those alike; the others are made among all (so it is Coleman's
    index: 0 is chance, 1 total separation)."""


class Spatial(NetworkSettings, frozen=True, kw_only=True, tag="spatial"):
    """People know all who live within a certain distance (random geometric graph)."""

    mean_degree: Degree
    """Mean number of neighbours; the distance follows from it."""
    position: Annotated[tuple[str, ...], Meta(min_length=2, max_length=3)] | None = None
    """Attributes that are the coordinates of a person; a random place in a square without borders (its
    opposite sides meet) if not given."""


class Groups(NetworkSettings, frozen=True, kw_only=True, tag="groups"):
    """Everybody knows everybody of the same group."""

    attributes: Names
    """The attributes whose combinations are the groups, for example ["household"]."""


class EdgeList(NetworkSettings, frozen=True, kw_only=True, tag="edge_list"):
    """Ties from a file."""

    file: str
    """A CSV file with a header, or a Parquet file; relative to the preset's folder."""
    ends: Annotated[tuple[str, ...], Meta(min_length=2, max_length=2)] = ("from", "to")
    """The two columns that name the people of a tie."""
    key: str | None = None
    """The attribute that the file names people by; their number, from 0, if not given."""
    delimiter: Annotated[str, Meta(min_length=1, max_length=1)] = ","
    """What separates the columns of a CSV file."""


Network = Random | SmallWorld | Preferential | Blocks | Homophily | Spatial | Groups | EdgeList
