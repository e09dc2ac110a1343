"""Mail that waits to leave a worker, and how much of it may be on its way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from engine.agents.post import Batch, Letter, Post

LETTERS = 200_000
"""Told messages that may be on their way to one worker, of 100 bytes or so each. A worker that takes them in
says so after each quarter of that."""


class Outgoing:
    """Posts to all other workers.

    What waits for others stays here; what it waits for, that letters are taken in, depends on no agent: so
    nothing waits for ever.
    """

    def __init__(self, worker: int, most: int = LETTERS) -> None:
        self._worker = worker
        self._most = most
        self._posts: dict[int, Post] = {}
        self._on_the_way: Counter[int] = Counter()
        self._taken: Counter[int] = Counter()
        self.n_waiting = 0
        """Letters that may not leave yet, or have not."""

    def to(self, worker: int) -> Post:
        """Return the post that is being collected for a worker."""
        post = self._posts.get(worker)
        if post is None:
            post = self._posts[worker] = Post(self._worker)
        return post

    def add(self, worker: int, round_: int, group: int, letter: Letter) -> None:
        """Send a told message."""
        batches = self.to(worker).batches
        if not batches or batches[-1].group != group or batches[-1].round != round_:
            batches.append(Batch(round_, group, []))
        batches[-1].letters.append(letter)
        self.n_waiting += 1

    def taken_in(self, origin: int, n: int) -> None:
        """Note that so many letters of another worker are in their mailboxes, and tell it once in a while."""
        self._taken[origin] += n
        if self._taken[origin] * 4 >= self._most:
            self.to(origin).taken += self._taken.pop(origin)

    def arrived(self, worker: int, n: int) -> None:
        """Note that another worker has taken in so many letters."""
        self._on_the_way[worker] -= n

    def posts(self) -> Iterator[tuple[int, Post]]:
        """Yield what may leave now, by worker, and keep the rest."""
        posts, self._posts = self._posts, {}
        for worker, post in posts.items():
            kept = self._cut(worker, post)
            if kept:
                self.to(worker).batches = kept
            if post.batches or not _is_empty(post):
                yield worker, post

    def _cut(self, worker: int, post: Post) -> list[Batch]:
        """Leave as many letters in a post as may be on their way, and return the others."""
        room = self._most - self._on_the_way[worker]
        going: list[Batch] = []
        kept: list[Batch] = []
        for batch in post.batches:
            n = min(room, len(batch.letters))
            if n == len(batch.letters):
                going.append(batch)
            else:
                kept.append(Batch(batch.round, batch.group, batch.letters[n:]))
                if n:
                    going.append(Batch(batch.round, batch.group, batch.letters[:n]))
            room -= n
            self._on_the_way[worker] += n
            self.n_waiting -= n
        post.batches = going
        return kept


def _is_empty(post: Post) -> bool:
    return not (
        post.taken
        or post.questions
        or post.replies
        or post.calls
        or post.returned
        or post.probes
        or post.cycles
    )
