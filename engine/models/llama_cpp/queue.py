"""Requests on their way to the contexts: merged when identical, held back while what they need is computed.

One queue serves all contexts, so none idles while another has work waiting. It also owns the tree of what has
been computed, because whether to start a request depends on both. Thread-safe.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from engine.models.llama_cpp.batch import Tokens
from engine.models.llama_cpp.branch import Branch, Member
from engine.models.llama_cpp.kv_cells import Cells
from engine.models.llama_cpp.prefix_tree import PrefixTree, Promise
from engine.models.protocol import Form

WORTH_WAITING = 32
"""Tokens: to wait for fewer than these costs more than to compute them again."""

MAX_HELD = 256
"""How many requests may wait for a promise before no more are looked at."""


class Admission(NamedTuple):
    """A branch that may start: the cells that it starts with, and its promise to keep the rest."""

    branch: Branch
    cells: list[Cells]
    promise: Promise | None


class Queue:
    """Branches that wait for a sequence."""

    def __init__(self, cache_bytes: int) -> None:
        self._ready = threading.Condition()
        self._tree = PrefixTree(cache_bytes)
        self._fresh: deque[Branch] = deque()
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
                    self._fresh.append(branch)
                branch.members.append(member)
            self._ready.notify_all()

    def put_back(self, branches: Iterable[Branch]) -> None:
        """Add branches that have parted from one under way; they come first."""
        with self._ready:
            self._split.extend(branches)
            self._ready.notify_all()

    def take(self, *, wait: bool) -> Branch | None:
        """Return the next branch to look at; None if there is none (with `wait`: once closed)."""
        with self._ready:
            while not self.closed:
                if self._split:
                    return self._split.popleft()
                if self._fresh and len(self._held) < MAX_HELD:
                    return self._unmerge(self._fresh.popleft())
                if not wait:
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

    def keep(self, tokens: Tokens, cells: Cells) -> None:
        """Share what a sequence has computed."""
        with self._ready:
            self._tree.keep(tokens, cells)
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
            return [*self._split, *self._held, *self._fresh]

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
