"""Who lives where: agents to groups, groups to workers, by arithmetic alone.

Groups are contiguous ranges of agent ids whose sizes differ by one at most, and so are the slices of a group
that is spread over several workers. Nothing is stored per agent, and no remainder is lost.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple


class Share(NamedTuple):
    """The members of one group that live on one worker."""

    worker: int
    group: int
    members: range


def split(total: range, parts: int) -> list[range]:
    """Cut a range into contiguous parts whose lengths differ by one at most."""
    length, longer = divmod(len(total), parts)
    bounds = [total.start + i * length + min(i, longer) for i in range(parts + 1)]
    return [range(a, b) for a, b in pairwise(bounds)]


class Placement:
    """With at least as many groups as workers, each group is whole on one worker; else groups are spread."""

    def __init__(self, n_agents: int, n_groups: int, n_workers: int) -> None:
        self.n_agents = n_agents
        self.n_workers = min(n_workers, n_agents)
        self.groups = split(range(n_agents), n_groups)
        self.shares = list(self._place())
        self._starts = [share.members.start for share in self.shares]
        self._of: dict[int, list[Share]] = defaultdict(list)
        for share in self.shares:
            self._of[share.group].append(share)

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
