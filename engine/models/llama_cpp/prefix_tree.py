"""What has been computed before, by token: a tree in which conversations share the cells of their beginnings.

Each node is a run of tokens with its keys and values in ordinary memory; rules, group, persona and history
become levels of their own. A run can also be promised: someone is computing it right now, and whoever needs
it does better to wait. When the cells outgrow their budget, the end used longest ago goes first. (The idea is
RadixAttention's, https://arxiv.org/abs/2312.07104; here it lives in ordinary memory.)
Not thread-safe: its owner holds a lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from engine.models.llama_cpp.batch import Tokens
from engine.models.llama_cpp.kv_cells import Cells


@dataclass(eq=False, slots=True)
class Promise:
    """Tokens that one sequence is computing for itself; `wanted` once others wait for them."""

    tokens: Tokens
    wanted: bool = False


@dataclass(eq=False, slots=True)
class Node:
    """A run of tokens after those of its parent."""

    tokens: Tokens
    parent: Node | None
    cells: Cells | None = None
    promise: Promise | None = None
    used: int = 0
    agents: tuple[int, ...] = ()
    """Whose conversation ended here when it was kept."""
    children: dict[int, Node] = field(default_factory=dict)


@dataclass(slots=True)
class Found:
    """How much of some tokens is known: the cells in order, their number, and what is promised beyond."""

    cells: list[Cells]
    ready: int
    promised: int
    promise: Promise | None


class PrefixTree:
    """Cells of past and present conversations under a budget of bytes."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._root = Node(np.empty(0, np.int32), None)
        self._clock = 0
        self.bytes = 0
        self.kept: dict[int, int] = {}
        """Agents whose last conversation is here whole; the larger the number, the later it was kept."""

    def find(self, tokens: Tokens) -> Found:
        """Return the longest known beginning of these tokens."""
        found = Found([], 0, 0, None)
        self._clock += 1
        for node, shared in self._path(tokens):
            if node.cells is not None:
                node.used = self._clock
                found.cells.append(node.cells.part(0, shared))
                found.ready += shared
            elif node.promise is not None:
                found.promised += shared
                found.promise = node.promise
            else:
                break
        return found

    def promise(self, tokens: Tokens) -> Promise:
        """Announce that these tokens are being computed: to be kept, or taken back."""
        promise = Promise(tokens)
        for node in self._spread(tokens):
            if node.cells is None and node.promise is None:
                node.promise = promise
        return promise

    def take_back(self, promise: Promise) -> None:
        """Withdraw what was promised and not kept."""
        for node, _ in reversed(list(self._path(promise.tokens))):
            if node.promise is promise:
                node.promise = None
            if node.cells is None and node.promise is None:
                self._drop(node)

    def keep(self, tokens: Tokens, cells: Cells, agents: tuple[int, ...] = ()) -> None:
        """Store the cells of these tokens, of which only what is new takes memory.

        `agents` are those whose conversation this is.
        """
        at = 0
        self._clock += 1
        for node in self._spread(tokens):
            end = at + len(node.tokens)
            if node.cells is None:
                node.cells, node.promise = cells.part(at, end).copy(), None
                self.bytes += node.cells.nbytes
            node.used = self._clock
            at = end
        node.agents = agents
        self.kept.update(dict.fromkeys(agents, self._clock))
        if self.bytes > self._budget:
            self._evict()

    def _path(self, tokens: Tokens) -> Iterator[tuple[Node, int]]:
        """Walk down along the tokens: each node with how many of its tokens agree."""
        node, at = self._root, 0
        while at < len(tokens) and (child := node.children.get(int(tokens[at]))) is not None:
            shared = common(child.tokens, tokens[at:])
            yield child, shared
            if shared < len(child.tokens):
                return
            node, at = child, at + shared

    def _spread(self, tokens: Tokens) -> Iterator[Node]:
        """Walk down along the tokens, splitting and adding nodes so that they are covered exactly."""
        node, at = self._root, 0
        while at < len(tokens):
            child = node.children.get(int(tokens[at]))
            if child is None:
                child = Node(tokens[at:].copy(), node)
                node.children[int(tokens[at])] = child
            else:
                shared = common(child.tokens, tokens[at:])
                if shared < len(child.tokens):
                    self._split(child, shared)
            yield child
            node, at = child, at + len(child.tokens)

    def _split(self, node: Node, at: int) -> None:
        """Leave the first `at` tokens in the node and move the others to a new child."""
        rest = Node(node.tokens[at:], node, None, node.promise, node.used, node.agents, node.children)
        node.agents = ()
        for child in rest.children.values():
            child.parent = rest
        if node.cells is not None:
            whole, node.cells = node.cells, node.cells.part(0, at).copy()
            rest.cells = whole.part(at, whole.tokens).copy()
        node.tokens = node.tokens[:at]
        node.children = {int(rest.tokens[0]): rest}

    def _evict(self) -> None:
        """Drop ends, the one used longest ago first, until nine tenths of the budget are left."""
        while self.bytes > 0.9 * self._budget:
            ends = sorted((node for node in self._nodes() if _is_end(node)), key=lambda node: node.used)
            if not ends:
                return
            for node in ends:
                self._drop(node)
                if self.bytes <= 0.9 * self._budget:
                    return

    def _nodes(self) -> Iterator[Node]:
        waiting = list(self._root.children.values())
        while waiting:
            node = waiting.pop()
            waiting.extend(node.children.values())
            yield node

    def _drop(self, node: Node) -> None:
        if node.cells is not None:
            self.bytes -= node.cells.nbytes
            node.cells = None
            for agent in node.agents:
                self.kept.pop(agent, None)
        if not node.children and node.parent is not None:
            del node.parent.children[int(node.tokens[0])]


def common(first: Tokens, second: Tokens) -> int:
    """Return how many tokens two runs have in common at their beginnings."""
    length = min(len(first), len(second))
    differ = np.flatnonzero(first[:length] != second[:length])
    return int(differ[0]) if len(differ) else length


def _is_end(node: Node) -> bool:
    return node.cells is not None and not any(child.cells is not None for child in node.children.values())
