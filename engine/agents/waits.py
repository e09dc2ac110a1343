"""Who waits for whose answer, and cycles of that: those in them would wait for ever.

Each edge, from who asks to who is asked, is known to the worker of who asks. A search begins with every edge
that is added, follows what the asked one waits for itself, and goes on to other workers as a probe (Chandy,
Misra and Haas 1983, the AND model: whoever waits for several answers needs all). Of a cycle the edge that was
added last finds the others. A probe goes on only if the question that leads it to a worker is unanswered
there, so what it finds when it is back is true: nobody in the cycle can have gone on in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.agents.post import Probe
from engine.keys import CALL_BITS, MAX_AGENTS, unpack

MAX_HOPS = 64
"""A search that is longer is left to the standstill of the run: agents in a long chain would look at all that
is before them, one after the other."""
MAX_NAMED = 12


class Waits:
    """The edges of the agents of one worker."""

    def __init__(
        self,
        *,
        worker: int,
        worker_of: Callable[[int], int],
        probe: Callable[[int, Probe], None],
        found: Callable[[list[int]], None],
    ) -> None:
        """`probe` sends one to a worker; `found` is told of a cycle, by the keys of the calls in it."""
        self._worker = worker
        self._worker_of = worker_of
        self._probe = probe
        self._found = found
        self._edges: dict[int, dict[int, int]] = {}
        """By agent: whom it asks, by the key of the call."""
        self._unanswered: set[int] = set()
        """Questions of other workers to agents here."""
        self._held: set[int] = set()
        """Questions to agents elsewhere that are still here."""

    def add(self, key: int, receiver: int) -> None:
        """Let an agent here wait for an answer."""
        agent = key >> CALL_BITS & (MAX_AGENTS - 1)
        edges = self._edges.get(agent)
        if edges is None:
            self._edges[agent] = {key: receiver}
        else:
            edges[key] = receiver
        if receiver in self._edges:  # it is here, and waits too
            self.search([key], receiver)

    def remove(self, key: int) -> None:
        """Let it wait no longer."""
        agent = key >> CALL_BITS & (MAX_AGENTS - 1)
        edges = self._edges.get(agent)
        if edges and edges.pop(key, None) is not None and not edges:
            del self._edges[agent]

    def hold(self, key: int, receiver: int) -> None:
        """Note that a question is not sent yet."""
        self._held.add(key)
        self._probe(self._worker_of(receiver), Probe([key], receiver, True))

    def release(self, key: int) -> None:
        """Note that it now is."""
        self._held.discard(key)

    def came(self, key: int, receiver: int) -> None:
        """Note that a question of another worker is here, and search where that leads."""
        self._unanswered.add(key)
        if receiver in self._edges:
            self.search([key], receiver)

    def answered(self, key: int) -> None:
        """Note that a question to an agent here is answered, even if the answer is not sent yet."""
        if key in self._unanswered:
            self._unanswered.discard(key)
        else:
            self.remove(key)

    def take(self, probe: Probe) -> None:
        """Go on with the search of another worker, unless what led it here has been answered."""
        if probe.held or probe.path[-1] in self._unanswered:
            self.search(probe.path, probe.receiver)

    def search(self, path: list[int], receiver: int) -> None:
        """Follow a path of questions, the last of which goes to an agent here."""
        first = unpack(path[0]).agent
        left, seen = [(path, receiver)], set[int]()
        while left:
            path, agent = left.pop()
            if agent in seen or len(path) > MAX_HOPS:
                continue
            seen.add(agent)
            if self._worker_of(agent) != self._worker:
                self._probe(self._worker_of(agent), Probe(path, agent, path[-1] in self._held))
            elif agent == first:
                if path[0] in self._edges.get(first, ()):
                    self._found(path)
                    return
            else:
                edges = self._edges.get(agent, {})
                left += [([*path, key], asked) for key, asked in reversed(edges.items())]


def named(path: Sequence[int], start: int) -> str:
    """Return a cycle in words, from the agent that made its call `start`."""
    agents = [unpack(key).agent for key in (*path[start:], *path[:start], path[start])]
    if len(agents) > MAX_NAMED:
        middle = f"... {len(agents) - MAX_NAMED} more agents ..."
        return f"{named_chain(agents[: MAX_NAMED - 1])} asks {middle} asks agent {agents[-1]}"
    return named_chain(agents)


def named_chain(agents: Sequence[int]) -> str:
    """Return who asks whom."""
    return " asks ".join(f"agent {agent}" for agent in agents)
