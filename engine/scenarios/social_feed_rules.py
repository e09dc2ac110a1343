"""What users of a feed are told and may answer, and the rules of those without a language model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from engine.models.answers import Json
from engine.models.policy import Turn
from engine.scenarios.feed import Post

_VIEWS = ("are strongly against it", "are rather against it", "are undecided", "are rather for it")
_STRONGLY = "are strongly for it"
_DEEDS = ("like", "repost", "follow", "mute")


class Reply(msgspec.Struct, kw_only=True):
    """What somebody does with the posts in front of it: their numbers, from 1."""

    like: list[int] = []
    repost: list[int] = []
    follow: list[int] = []
    """Posts whose authors are followed from now on."""
    mute: list[int] = []
    """Posts whose authors are not seen any more."""
    post: str = ""
    """Something new; empty for nothing."""


@cache
def answer(n_posts: int, max_chars: int) -> Json:
    """Return the form of reply to so many posts: a Reply with no other numbers than theirs."""
    numbers = Annotated[list[Annotated[int, Meta(ge=1, le=n_posts)]], Meta(max_length=n_posts)]
    chosen = [(name, numbers) for name in _DEEDS] if n_posts else []
    post = ("post", Annotated[str, Meta(max_length=max_chars)])
    return Json(
        msgspec.defstruct("Reply", [*chosen, post], bases=(Reply,), kw_only=True, forbid_unknown_fields=True)
    )


def instructions(topic: str, max_chars: int) -> str:
    """Return what all users are told."""
    return (
        f'You use a social network where people write about this: "{topic}" Each time you look, you are '
        "shown some posts. You may like posts, repost them to your followers, follow or mute their authors, "
        f"and write a post of your own of at most {max_chars} characters. Do what you feel like; most people "
        'do little. Reply with one JSON object: lists of numbers of posts as "like", "repost", "follow" and '
        '"mute", and your own post as "post", empty for none.'
    )


def view(leaning: float) -> str:
    """Put a leaning from -1 to 1 into words."""
    return (*_VIEWS, _STRONGLY)[min(int((leaning + 1) * 2.5), 4)]


def question(who: str, leaning: float, when: str, posts: Sequence[Post]) -> str:
    """Return what a user is asked."""
    shown = "\n".join(
        f"{number}. user {post.author} ({post.likes} likes, {post.reposts} reposts): {post.text}"
        for number, post in enumerate(posts, start=1)
    )
    told = f"You see these posts:\n{shown}" if posts else "There are no posts for you now."
    return f"{who} You {view(leaning)}. It is {when}. {told}\nWhat do you do?".lstrip()


def facts(leaning: float, posts: Sequence[Post]) -> dict[str, Any]:
    """Return the same for rules."""
    return {"own": leaning, "posts": [(post.leaning, post.followed) for post in posts]}


def user(turn: Turn) -> str:
    """Like, repost, follow and mute at random, more or less by how far one agrees, and post at random."""
    chances, draw = {**DEFAULTS, **turn.parameters}, turn.rng.random
    like, repost, follow = chances["like"], chances["repost"], chances["follow"]
    done: dict[str, list[int]] = {name: [] for name in _DEEDS}
    for number, (leaning, followed) in enumerate(turn.facts["posts"], start=1):
        apart = chances["taste"] * abs(leaning - turn.facts["own"]) / 2
        if draw() < like * (1 - apart):
            done["like"].append(number)
        if draw() < repost * (1 - apart):
            done["repost"].append(number)
        if not followed and draw() < follow * (1 - apart):
            done["follow"].append(number)
        if draw() < chances["mute"] * apart:
            done["mute"].append(number)
    new = "a post" if draw() < chances["post"] else ""
    return msgspec.json.encode({**done, "post": new}).decode()


DEFAULTS = {"post": 0.1, "like": 0.2, "repost": 0.05, "follow": 0.02, "mute": 0.05, "taste": 1.0}
"""Parameters of `user`."""
