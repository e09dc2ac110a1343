"""A feed that people post to, and the timelines that it makes of it.

What somebody sees in a round depends on what was done before it, never on who comes first: so timelines are
the same on any number of workers. What people do is applied at the round's end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.draws import mix, uniforms
from engine.environments.environment import Environment
from engine.environments.methods import buffered

_LEANING = 0x1EA
"""Tells draws of leanings from others of the run's seed."""


class Post(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A post as it is seen."""

    number: int
    author: int
    leaning: float
    """The author's, from -1 to 1: what the post speaks for."""
    likes: int
    reposts: int
    followed: bool
    """Whether who sees it follows the author."""
    text: str


@lru_cache(maxsize=4096)
def leanings(seed: int, people: range) -> list[float]:
    """Return what people think of the topic, from -1 to 1, evenly drawn, in thousandths."""
    drawn = uniforms(mix(seed, _LEANING), np.arange(people.start, people.stop)) * 2 - 1
    found: list[float] = drawn.round(3).tolist()
    return found


class Feed(Environment):
    """Posts, and who follows and mutes whom; one for each group."""

    def setup(self) -> None:
        """Begin without any posts."""
        self._leanings = leanings(self._seed, self.members)
        self._authors: list[int] = []
        self._texts: list[str] = []
        self._views: list[int] = []
        self._likes: list[int] = []
        self._reposts: list[int] = []
        self._touched: list[int] = []
        """The round in which each post was made, or last reposted."""
        self._follows: dict[int, dict[int, None]] = {}
        self._muted: dict[int, set[int]] = {}
        self._seen: dict[int, list[int]] = {}
        """Posts that are still around and that somebody has seen."""
        self._shared: list[dict[int, list[int]]] = []
        """By round, the last at the end, and person: what it posted and reposted."""
        self._recent: dict[int, list[int]] = {}
        """By person: the same of all rounds that count, the newest first."""
        self._pool: list[int] = []
        """All posts that are still around, in an order that is drawn in each round."""
        self._begin_round()

    def _begin_round(self) -> None:
        self._shared = [*self._shared, {}][-self.settings.window :]
        self._n_before = len(self._authors)
        self._n_likes = self._n_reposts = self._n_shown = self._n_agreeing = 0

    def timeline(self) -> list[Post]:
        """Return the posts that the caller is shown now; none of them twice."""
        me = self.caller
        oldest = self.round - self.settings.window
        seen = [post for post in self._seen.get(me, ()) if self._touched[post] >= oldest]
        shown = self._ranked(me, self._candidates(me, seen))[: self.settings.length]
        self._seen[me] = seen + shown
        return self._show(shown, self._leaning(me), self._follows.get(me, {}))

    def _candidates(self, me: int, seen: list[int]) -> list[int]:
        """Return what those whom one follows have shared, then some of the pool, without what is hidden."""
        recent, authors = self._recent, self._authors
        shared = chain.from_iterable([recent[user] for user in self._follows.get(me, ()) if user in recent])
        hidden, muted = set(seen), self._muted.get(me, ())
        return [
            post
            for post in dict.fromkeys(chain(shared, self._stretch(me)))
            if post not in hidden and authors[post] != me and authors[post] not in muted
        ]

    def _stretch(self, me: int) -> list[int]:
        """Return the part of the pool that somebody discovers: its place in it is drawn."""
        pool, most = self._pool, min(self.settings.discovery, len(self._pool))
        if not most:
            return []
        start = mix(mix(self._seed, self.round), me) % len(pool)
        found = pool[start : start + most]
        return found + pool[: most - len(found)]

    def _ranked(self, me: int, posts: list[int]) -> list[int]:
        """Return posts as the recommender sorts them; of equals, those that are followed come first."""
        match self.settings.ranking:
            case "recency":
                return sorted(posts, key=self._touched.__getitem__, reverse=True)
            case "popularity":
                return sorted(posts, key=lambda post: self._likes[post] + self._reposts[post], reverse=True)
        own, authors = self._leaning(me), self._authors
        return sorted(posts, key=lambda post: abs(self._leaning(authors[post]) - own))

    def _show(self, posts: list[int], own: float, follows: dict[int, None]) -> list[Post]:
        found = []
        self._n_shown += len(posts)
        for post in posts:
            author = self._authors[post]
            leaning = self._leaning(author)
            self._views[post] += 1
            self._n_agreeing += leaning * own > 0
            counts = self._likes[post], self._reposts[post]
            found.append(Post(post, author, leaning, *counts, author in follows, self._texts[post]))
        return found

    def _leaning(self, user: int) -> float:
        return self._leanings[user - self.members.start]

    @buffered
    def join(self, follows: list[int]) -> None:
        """Follow people from the beginning."""
        for user in follows:
            self.follow(user)

    @buffered
    def post(self, text: str) -> None:
        """Post something; it becomes one line, so that it cannot pass for several posts."""
        self._share(len(self._authors))
        self._authors.append(self.caller)
        self._texts.append(" ".join(text.split()))
        self._touched.append(self.round)
        for column in (self._views, self._likes, self._reposts):
            column.append(0)

    @buffered
    def like(self, post: int) -> None:
        """Like a post."""
        self._likes[self._known(post)] += 1
        self._n_likes += 1

    @buffered
    def repost(self, post: int) -> None:
        """Pass a post on to one's followers; it counts as new again."""
        self._reposts[self._known(post)] += 1
        self._touched[post] = self.round
        self._n_reposts += 1
        self._share(post)

    @buffered
    def follow(self, user: int) -> None:
        """See what somebody posts and reposts."""
        self._member(user)
        self._follows.setdefault(self.caller, {})[user] = None
        self._muted.get(self.caller, set()).discard(user)

    @buffered
    def mute(self, user: int) -> None:
        """See nothing of somebody any more."""
        self._member(user)
        self._muted.setdefault(self.caller, set()).add(user)
        self._follows.get(self.caller, {}).pop(user, None)

    def _share(self, post: int) -> None:
        self._shared[-1].setdefault(self.caller, []).append(post)

    def _known(self, post: int) -> int:
        if not 0 <= post < self._n_before:
            raise ValueError(f"there is no post {post}")
        return post

    def _member(self, user: int) -> None:
        if user not in self.members or user == self.caller:
            raise ValueError(f"{user} is nobody to follow or mute")

    def end_round(self) -> dict[str, Any]:
        """Count, and make ready what the next round's timelines are made of."""
        report = self._report()
        oldest = self.round + 1 - self.settings.window
        around = np.flatnonzero(np.array(self._touched, dtype=np.int64) >= oldest)
        self._pool = self.rng.permutation(around).tolist()
        self._recent = _merged(self._shared[::-1][: self.settings.window])
        self._begin_round()
        return report

    def _report(self) -> dict[str, Any]:
        old = slice(self._n_before)
        sizes = 1 + np.array(self._reposts[old], dtype=np.int64)
        return {
            "posts": len(self._authors) - self._n_before,
            "reposts": self._n_reposts,
            "likes": self._n_likes,
            "seen": self._n_shown,
            "attention gini": gini(np.array(self._views[old], dtype=np.int64)),
            "cascade": float(sizes.mean()) if len(sizes) else None,
            "large cascades": float((sizes >= self.settings.large).mean()) if len(sizes) else None,
            "agreement": self._n_agreeing / self._n_shown if self._n_shown else None,
        }


def _merged(rounds: Sequence[dict[int, list[int]]]) -> dict[int, list[int]]:
    """Return what each person shared in several rounds, in their order."""
    found: dict[int, list[int]] = {}
    for shared in rounds:
        for user, posts in shared.items():
            found[user] = found[user] + posts if user in found else posts
    return found


def gini(counts: NDArray[np.int64]) -> float | None:
    """Return the Gini coefficient: 0 if all have the same, near 1 if one has all; None if there is nothing.

    Mean difference over twice the mean, by the order statistics: Sen, On Economic Inequality (1973), 2.7.
    """
    n, total = len(counts), int(counts.sum())
    if not total:
        return None
    ranks = np.arange(1, n + 1)
    return float((2 * ranks - n - 1) @ np.sort(counts) / (n * total))
