"""What people of a town are told and may answer, and the rules of those without a language model."""

from __future__ import annotations

from random import Random
from typing import Annotated

import msgspec
from msgspec import Meta

from engine.models.policy import Turn
from engine.scenarios.town import Place, Scene

MAX_CHARS = 140
_PLACES = {"home": "at home", "work": "at work", "cafe": "in the cafe", "street": "in the street"}


class Move(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Where somebody goes, and what it says to those who are there."""

    go: Place
    say: Annotated[str, Meta(max_length=MAX_CHARS)]


class MoveAndTell(Move, kw_only=True, forbid_unknown_fields=True):
    """The same of somebody who has news to tell."""

    tell: bool


def instructions(n_people: int) -> str:
    """Return what all are told."""
    return (
        f"You live in a town with {n_people} people. Each round you go somewhere: home, to work, to your "
        "cafe, a step north, south, east or west, anywhere, or you stay where you are. You meet those who "
        'are in the same place then. Reply with one JSON object: where you go as "go", and what you say to '
        f'those whom you meet as "say", at most {MAX_CHARS} characters, or empty. If you know some news, say '
        'as "tell" whether you pass it on (true or false).'
    )


def question(who: str, when: str, scene: Scene, news: str) -> str:
    """Return what somebody is asked."""
    met = {0: "nobody", 1: "1 person"}.get(scene.n_met, f"{scene.n_met} people")
    met = f"You are {_PLACES[scene.place]} and met {met} there."
    heard = "".join(f"\n{line}" for line in scene.heard)
    said = f" They said:{heard}\n" if heard else " "
    known = f"You have heard that {news}. " if scene.informed else ""
    return f"{who} It is {when}. {met}{said}{known}Where do you go, and what do you say there?".lstrip()


def facts(hour: int, scene: Scene) -> dict[str, object]:
    """Return the same for rules."""
    return {"hour": hour, "place": scene.place, "met": scene.n_met, "informed": scene.informed}


def _reply(turn: Turn, go: str) -> str:
    reply: dict[str, object] = {"go": go, "say": ""}
    if turn.facts["informed"]:
        reply["tell"] = turn.rng.random() < turn.parameters.get("tell", 1.0)
    return msgspec.json.encode(reply).decode()


def routine(turn: Turn) -> str:
    """Sleep at home, be at work from 8 to 17, and in the evening in the cafe or at home."""
    return _reply(turn, _by_hour(turn.facts["hour"], turn.parameters.get("cafe", 0.3), turn.rng))


def _by_hour(hour: int, cafe: float, rng: Random) -> str:
    if 8 <= hour < 17:
        return "work"
    return "cafe" if 17 <= hour < 23 and rng.random() < cafe else "home"


def walker(turn: Turn) -> str:
    """Stay, or take a step in any direction, all five alike."""
    return _reply(turn, turn.rng.choice(("stay", "north", "south", "east", "west")))


def mixer(turn: Turn) -> str:
    """Go anywhere: the well-mixed population of mean-field theory."""
    return _reply(turn, "anywhere")


POLICIES = {"routine": routine, "walker": walker, "mixer": mixer}
POLICY_PARAMETERS = {"routine": ("cafe", "tell"), "walker": ("tell",), "mixer": ("tell",)}
