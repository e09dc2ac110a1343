"""Who lives where: agents to groups, groups to workers, by arithmetic alone.

Groups are contiguous ranges of agent ids whose sizes differ by one at most, and so are the slices of a group
that is spread over several workers. Nothing is stored per agent, and no remainder is lost.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from itertools import cycle, pairwise
from typing import NamedTuple


class Share(NamedTuple):
    """Members of one group that live on one worker."""

    worker: int
    group: int
    members: range
    block: int = 0
    """0 for those that the run begins with; from 1: places of newcomers."""


BLOCKS = 8
"""In so many parts each worker has the places of newcomers: they are taken one after the other, and newcomers
are to be spread over the workers."""


def split(total: range, parts: int) -> list[range]:
    """Cut a range into contiguous parts whose lengths differ by one at most."""
    length, longer = divmod(len(total), parts)
    bounds = [total.start + i * length + min(i, longer) for i in range(parts + 1)]
    return [range(a, b) for a, b in pairwise(bounds)]


class Placement:
    """With at least as many groups as workers, each group is whole on one worker; else groups are spread.

    The ids of newcomers follow those of the agents that a run begins with, `n_places` for each group.
    """

    def __init__(self, n_agents: int, n_groups: int, n_workers: int, n_places: int = 0) -> None:
        self.n_agents = n_agents
        self.n_ids = n_agents + n_groups * n_places
        """Those of all agents that there may be are below this number."""
        self.n_workers = min(n_workers, n_agents)
        self.groups = split(range(n_agents), n_groups)
        self._n_places = n_places
        self.shares = self._place()
        self.shares += self._reserved() if n_places else []
        self._starts = [share.members.start for share in self.shares]
        self._of: dict[int, list[Share]] = defaultdict(list)
        for share in self.shares:
            self._of[share.group].append(share)

    def _reserved(self) -> Iterator[Share]:
        workers_of: dict[int, list[int]] = defaultdict(list)
        for share in self.shares:
            workers_of[share.group].append(share.worker)
        for group, workers in workers_of.items():
            blocks = filter(None, split(self.places_of(group), BLOCKS * len(workers)))
            for number, (worker, block) in enumerate(zip(cycle(workers), blocks), start=1):
                yield Share(worker, group, block, number)

    def _place(self) -> list[Share]:
        workers = range(self.n_workers)
        if len(self.groups) >= self.n_workers:
            whole = zip(workers, split(range(len(self.groups)), self.n_workers), strict=True)
            return [Share(w, g, self.groups[g]) for w, part in whole for g in part]
        shares = []
        for g, workers_of_g in enumerate(split(workers, len(self.groups))):
            parts = zip(workers_of_g, split(self.groups[g], len(workers_of_g)), strict=True)
            shares += [Share(w, g, members) for w, members in parts if members]
        return shares

    def places_of(self, group: int) -> range:
        """Return the ids of a group's newcomers, born or not."""
        first = self.n_agents + group * self._n_places
        return range(first, first + self._n_places)

    def worker_of(self, agent: int) -> int:
        """Return the worker on which an agent lives."""
        return self.shares[bisect_right(self._starts, agent) - 1].worker

    def group_of(self, agent: int) -> int:
        """Return the group of an agent."""
        return self.shares[bisect_right(self._starts, agent) - 1].group

    def on(self, worker: int) -> list[Share]:
        """Return the shares of one worker."""
        return [share for share in self.shares if share.worker == worker]

    def of(self, group: int) -> list[Share]:
        """Return the shares of one group, in agent order."""
        return self._of[group]

    def workers_of(self, group: int) -> list[int]:
        """Return the workers on which a group has members."""
        return list(dict.fromkeys(share.worker for share in self._of[group]))
