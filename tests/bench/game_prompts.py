"""The prompts of the model benches: a guessing game, its rules, and as many players as wanted."""

from __future__ import annotations

from engine.models.protocol import Message

RULES = Message(
    "system",
    """\
You are one of many players in a game about guessing numbers. In each round every player names a whole
number from 0 to 100, both included. When all have answered, the mean of all the numbers is computed and
multiplied by two thirds. The player whose number is closest to that product wins the round; if several
are equally close, they share the win. Numbers outside of the range do not count. You do not see what the
others choose before you have chosen, and you cannot talk to them. After each round the mean, the product
and the winning number are announced to everybody, and the next round begins with the same rules. The
number of rounds is known to all players from the start. There is no fee for playing and no loss for
being far away; the only thing that counts is to be the closest in as many rounds as possible. Think
about what the other players may think, and about what they may think that you think. Some of them will
answer in a hurry, some will have played the game before, and some will have read about it. Stay with the
character that is described to you: answer as that person would, with the experience, the patience and
the habits of that person, not as an expert would. Be honest about what you would do. Keep what you say
short and to the point, and do not repeat the rules. If you are asked for a number only, give the number
and nothing else.""",
)
"""About 290 tokens that all players share."""

DIRECT = "Which number do you choose? Answer with the number only."
OPEN = "Which number do you choose, and why?"


def persona(number: int) -> str:
    """About 80 tokens that differ from the second word on."""
    trade = ("baker", "pilot", "nurse", "judge", "miner", "singer", "farmer")[number % 7]
    place = ("a harbour town", "a village", "the capital", "the suburbs", "the mountains")[number % 5]
    return (
        f"Player {number}: you are a {trade} of {20 + number % 60} years from {place}. You left school at "
        f"{14 + number % 9} and like {('cards', 'football', 'gardening', 'puzzles')[number % 4]}. You earn "
        f"{900 + 37 * number % 4000} a month and trust others {('little', 'somewhat', 'a lot')[number % 3]}. "
        f"When you have to decide, you {('take your time', 'go ahead', 'ask a friend')[number // 3 % 3]}, "
        f"and you {('hate', 'do not mind', 'love')[number // 7 % 3]} to lose. "
    )


def conversations(count: int, question: str) -> list[tuple[Message, ...]]:
    """One opening message an agent."""
    return [(Message("user", persona(number) + question),) for number in range(count)]
