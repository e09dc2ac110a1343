"""Requests on their way to the contexts: merged when identical, held back while what they need is computed.

First come those whose agents' pasts are known, the latest known first: were they taken in the order in which
they ask, a cache smaller than all pasts together would always have lost exactly the one that is asked next.

One queue serves all contexts, so none idles while another has work waiting. It also owns the tree of what has
been computed, because whether to start a request depends on both. Thread-safe.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engine.keys import unpack
from engine.models.llama_cpp.batch import Tokens
from engine.models.llama_cpp.branch import Branch, Member
from engine.models.llama_cpp.kv_cells import Cells
from engine.models.llama_cpp.prefix_tree import PrefixTree, Promise
from engine.models.protocol import Form

WORTH_WAITING = 32
"""Tokens: to wait for fewer than these costs more than to compute them again."""

MAX_HELD = 256
"""How many requests may wait for a promise before no more are looked at."""


MAX_AGENTS = 16
"""A branch of more members is not noted as their past: it is cheap for each of them."""


class Admission(NamedTuple):
    """A branch that may start: the cells that it starts with, and its promise to keep the rest."""

    branch: Branch
    cells: list[Cells]
    promise: Promise | None


class Queue:
    """Branches that wait for a sequence."""

    def __init__(self, cache_bytes: int, contexts: int = 1) -> None:
        self._loads = [0] * contexts
        self._ready = threading.Condition()
        self._tree = PrefixTree(cache_bytes)
        self._fresh: deque[Branch] = deque()
        self._known: list[tuple[int, int, Branch]] = []
        self._count = itertools.count()
        self._split: deque[Branch] = deque()
        self._held: deque[Branch] = deque()
        self._same: dict[tuple[int, int, bytes], Branch] = {}
        self._sharing = True
        self.closed = False
        """No more work is to be done."""

    def put(self, members: Iterable[Member], forms: dict[int, Form]) -> None:
        """Add requests; those that ask exactly the same become one branch."""
        with self._ready:
            for member in members:
                request = member.request
                identity = (request.prefix, request.form, bytes(request.tail))
                branch = self._same.get(identity)
                if branch is None:
                    branch = self._same[identity] = Branch([], forms[request.form])
                    self._line_up(branch, unpack(request.key).agent)
                branch.members.append(member)
            self._ready.notify_all()

    def put_back(self, branches: Iterable[Branch]) -> None:
        """Add branches that have parted from one under way; they come first."""
        with self._ready:
            self._split.extend(branches)
            self._ready.notify_all()

    def take(self, context: int, running: int) -> Branch | None:
        """Return the next branch for a context to look at, which runs so many now.

        None if there is none, or if the other contexts should have it; a context that runs nothing waits for
        one, and gets None only when the queue is closed.
        """
        with self._ready:
            self._loads[context] = running
            while not self.closed:
                if running * len(self._loads) < sum(self._loads) + self._waiting():
                    branch = self._next()
                    if branch is not None:
                        return branch
                if running:
                    return None
                self._ready.wait()
            return None

    def admit(self, branch: Branch, tokens: Tokens) -> Admission | None:
        """Let a branch start, or hold it back if another sequence is about to know much of it."""
        with self._ready:
            found = self._tree.find(tokens[:-1])  # the last token has to be decoded for its logits
            if not self._sharing:
                return Admission(branch, [], None)
            if found.promise is not None and found.promised >= WORTH_WAITING:
                found.promise.wanted = True
                self._held.append(branch)
                return None
            return Admission(branch, found.cells, self._tree.promise(tokens))

    def keep(self, tokens: Tokens, cells: Cells, members: Sequence[Member]) -> None:
        """Share what a sequence has computed for these members."""
        few = members if len(members) <= MAX_AGENTS else ()
        agents = tuple(unpack(member.request.key).agent for member in few)
        with self._ready:
            self._tree.keep(tokens, cells, agents)
            self._release()

    def take_back(self, promise: Promise) -> None:
        """Tell that a promise will not be kept, or has been already."""
        with self._ready:
            self._tree.take_back(promise)
            if promise.wanted:
                self._release()

    def give_up_sharing(self) -> None:
        """From now on compute every prompt whole: this model's cells cannot be cut."""
        with self._ready:
            self._sharing = False

    def close(self) -> list[Branch]:
        """Let nobody wait any more; return what was never started."""
        with self._ready:
            self.closed = True
            self._ready.notify_all()
            return [*self._split, *self._held, *(entry[-1] for entry in self._known), *self._fresh]

    def _line_up(self, branch: Branch, agent: int) -> None:
        kept = self._tree.kept.get(agent)
        if kept is None:
            self._fresh.append(branch)
        else:
            heapq.heappush(self._known, (-kept, next(self._count), branch))

    def _waiting(self) -> int:
        return len(self._split) + len(self._known) + len(self._fresh)

    def _next(self) -> Branch | None:
        if self._split:
            return self._split.popleft()
        if len(self._held) >= MAX_HELD:
            return None
        if self._known:
            return self._unmerge(heapq.heappop(self._known)[-1])
        return self._unmerge(self._fresh.popleft()) if self._fresh else None

    def _unmerge(self, branch: Branch) -> Branch:
        """From here on, the same question asked again is a branch of its own."""
        request = branch.members[0].request
        self._same.pop((request.prefix, request.form, bytes(request.tail)), None)
        return branch

    def _release(self) -> None:
        if self._held:
            self._split.extend(self._held)
            self._held.clear()
            self._ready.notify_all()
