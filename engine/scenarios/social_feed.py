"""A social network: people look at a timeline, like, repost, follow, mute and post.

What is known of such networks: Salganik, Dodds and Watts, Science 311 (2006), on ranking by popularity;
Goel, Anderson, Hofman and Watts, Management Science 62 (2016), on cascades; Sasahara et al., Journal of
Computational Social Science 4 (2021), on echo chambers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from engine.agents.agent import Agent
from engine.agents.memory import Prompt, said
from engine.draws import mix, uniforms
from engine.models.protocol import Message
from engine.scenarios import social_feed_rules as rules
from engine.scenarios.contacts import contacts
from engine.scenarios.feed import Feed, leanings
from engine.scenarios.scenario import Outcome
from engine.scenarios.timed import TimedScenario, TimedSettings

_FOLLOWS = 0xF0110
"""Tells draws of whom to follow from others of an agent."""


class SocialFeedSettings(TimedSettings, frozen=True, kw_only=True, tag="social_feed"):
    """People with more or less of an opinion see each other's posts, as a recommender sorts them."""

    topic: Annotated[str, Meta(min_length=1, max_length=500)] = "Town centres should be closed to cars."
    """What posts are about. Everybody leans one way or the other, evenly drawn."""
    ranking: Literal["recency", "popularity", "similarity"] = "recency"
    """What comes first in a timeline: what was posted or reposted last, what has most likes and reposts, or
    what is by somebody who thinks alike."""
    length: Annotated[int, Meta(ge=1, le=50)] = 5
    """Posts in a timeline."""
    discovery: Annotated[int, Meta(ge=0, le=1000)] = 20
    """Posts by anybody that a timeline is chosen from, drawn anew in each round, besides all that people whom
    one follows have posted or reposted."""
    window: Annotated[int, Meta(ge=1, le=1000)] = 3
    """Rounds that a post is around after it was made, or last reposted."""
    follows: Annotated[int, Meta(ge=0, le=1000)] = 10
    """Whom one follows at first: so many, drawn at random, unless the population has networks; then all
    neighbours in them."""
    max_chars: Annotated[int, Meta(ge=1, le=2000)] = 280
    """Longest post."""
    large: Annotated[int, Meta(ge=2)] = 10
    """A post and its reposts are a large cascade from so many on."""


class User(Agent):
    """Looks at its timeline, and does something or not."""

    __slots__ = ("has_joined",)

    def __init__(self, agent_id: int) -> None:
        super().__init__(agent_id)
        self.has_joined = False

    async def step(self, observation: Any) -> int:
        """Return how many things it did."""
        game: SocialFeed = self.world.scenario
        members = self.world.members
        leaning = leanings(self.world.seed, members)[self.id - members.start]
        if not self.has_joined:
            self._join(game.settings.follows)
        feed = self.environments["feed"]
        posts = await feed.timeline()
        when = game.settings.clock.says(self.round)
        asked = rules.question(self.persona, leaning, when, posts)
        reply: rules.Reply = await self.model.chat(
            Prompt(self.world.shared, (said("user", asked),)),
            rules.answer(len(posts), game.settings.max_chars),
            facts=rules.facts(leaning, posts),
        )
        return self._do(feed, posts, reply)

    def _join(self, n_follows: int) -> None:
        self.has_joined = True
        members, known = self.world.members, contacts(self)
        if known is None:
            known = _drawn(mix(self.world.seed, self.id), n_follows, len(members))
        others = dict.fromkeys((known + members.start).tolist())
        others.pop(self.id, None)
        if others:
            self.environments["feed"].join(list(others))

    def _do(self, feed: Any, posts: Sequence[Any], reply: rules.Reply) -> int:
        done = 0
        for call, numbers in ((feed.like, reply.like), (feed.repost, reply.repost)):
            for number in dict.fromkeys(numbers):
                call(posts[number - 1].number)
                done += 1
        for call, numbers in ((feed.follow, reply.follow), (feed.mute, reply.mute)):
            for author in dict.fromkeys(posts[number - 1].author for number in numbers):
                call(author)
                done += 1
        if text := reply.post.strip():
            feed.post(text)
            done += 1
        return done


def _drawn(seed: int, n: int, n_members: int) -> NDArray[np.int64]:
    """Return places of members; one may be there twice, or oneself, which makes it one less."""
    return (uniforms(mix(seed, _FOLLOWS), np.arange(n)) * n_members).astype(np.int64)


class SocialFeed(TimedScenario):
    """The network."""

    Settings = SocialFeedSettings
    environments = {"feed": Feed}
    policies = {"user": rules.user}
    policy_parameters = {"user": tuple(rules.DEFAULTS)}
    settings: SocialFeedSettings

    def agent(self, agent_id: int) -> Agent:
        """Make a user."""
        return User(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return what all are told."""
        return (Message("system", rules.instructions(self.settings.topic, self.settings.max_chars)),)

    def opening(self, group: int) -> None:
        """There is nothing that all see."""

    def tally(self, members: range, values: Sequence[int | None]) -> tuple[int, int]:
        """Count who looked, and what they did."""
        looked = [value for value in values if value is not None]
        return len(looked), sum(looked)

    def conclude(self, round_: int, group: int, tallies: Sequence[tuple[int, int]]) -> Outcome:
        """Say when it was and how many looked; the feed adds the rest."""
        active = sum(looked for looked, _ in tallies)
        return Outcome({"time": self.settings.clock.says(round_), "active": active})
