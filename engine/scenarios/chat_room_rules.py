"""Names, mentions, texts and the scripted talker of the chat room, apart from the engine's machinery."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from engine.models.policy import Turn

if TYPE_CHECKING:
    from engine.scenarios.chat_room import ChatRoomSettings, Line

NAMES = (
    "ann",
    "ben",
    "cleo",
    "dan",
    "eva",
    "finn",
    "gina",
    "hugo",
    "ida",
    "jan",
    "kim",
    "leo",
    "mia",
    "noah",
    "olga",
)
"""Of the first members; the others have these names with numbers from 2 on."""

SILENCE = "pass"
"""What a member says who has nothing to say."""

MOST_MENTIONS = 5
"""Members that one message can wake; further names in it are names only."""

LISTED = 30
"""Names that are told to all."""

_MENTION = re.compile(r"(?<![\w@.])@(\w{1,20})(?!\w)")


def name_of(place: int) -> str:
    """Return the name of the member in a place of its room."""
    again, first = divmod(place, len(NAMES))
    return NAMES[first] + (f"{again + 1}" if again else "")


def place_of(name: str) -> int | None:
    """Return the place that a name belongs to, whether there is such a member or not; None if to none."""
    bare = name.casefold().rstrip("0123456789")
    number = name[len(bare) :]
    if bare not in NAMES or number.startswith("0") or number == "1":
        return None
    return NAMES.index(bare) + len(NAMES) * (int(number) - 1 if number else 0)


def mentioned(text: str, speaker: int, n_members: int) -> list[int]:
    """Return the places of those whose names follow an @ in a text, each once, without the speaker's."""
    places = (place_of(found[1]) for found in _MENTION.finditer(text))
    known = dict.fromkeys(place for place in places if place is not None and place < n_members)
    return list(islice((place for place in known if place != speaker), MOST_MENTIONS))


def one_line(text: str) -> str:
    """Return a text as the room has it: one line without control characters; "" if it is silence."""
    found = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return "" if found.casefold().strip(" .!\"'") == SILENCE else found


def instructions(settings: ChatRoomSettings, n_members: int) -> str:
    """Return what all members are told."""
    names = ", ".join(map(name_of, range(min(n_members, LISTED))))
    rest = f" and {n_members - LISTED} more" if n_members > LISTED else ""
    return (
        f"A chat room with {n_members} members: {names}{rest}. The topic is {settings.topic}. Write one "
        f"short sentence at a time. Whoever is named with an @ before, like @{NAMES[0]}, reads it at once."
    )


def question(name: str, persona: str, lines: Sequence[Line], callers: Sequence[str]) -> str:
    """Return what a member sees when its turn comes; what others wrote comes as quoted text."""
    who = f"{persona} " if persona else ""
    written = [f"{line.name}: {msgspec.json.encode(line.text).decode()}" for line in lines]
    past = "\n".join(["The last messages:", *written, ""]) if written else "Nobody has written anything yet. "
    called = f"{' and '.join(callers)} named you. " if callers else ""
    return (
        f'{who}You are {name}. {past}{called}Reply with your message, or with "{SILENCE}" to write nothing.'
    )


def talker(turn: Turn) -> str:
    """Answer with probability `answer` if named, else write with `talk`; name anybody with `mention`."""
    facts, dice = turn.facts, turn.rng
    if dice.random() >= turn.parameters.get("answer" if facts["called_by"] else "talk", 1.0):
        return SILENCE
    said = f"I agree with {facts['called_by'][0]}." if facts["called_by"] else "I like that."
    if dice.random() < turn.parameters.get("mention", 0.3):
        other = (facts["place"] + dice.randrange(1, max(facts["members"], 2))) % facts["members"]
        said += f" And you, @{name_of(other)}?"
    return said
