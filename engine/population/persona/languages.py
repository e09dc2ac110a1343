"""Which language a text is in, by the little words that every text has; enough to tell a dozen sentences
apart."""

from __future__ import annotations

import re

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")

LEAST_SHARE = 0.12
"""Share of the words that have to be little words of the language: about 0.4 in running text, 0.02 by
chance."""

_LITTLE = {
    "de": "der die das und ist ein eine einen sie er in zu mit von den dem nicht auf für als ihr sein an im",
    "en": "the and is a of to in her his she he with for as you your at has on an their who from that are",
    "es": "el la los las y es un una de en que con su por para del se como al no lo más tiene años ha",
    "fr": "le la les et est un une de des en que avec son sa pour du au elle il dans à qui sur pas ses ans",
    "it": "il la le e è un una di in che con suo sua per del della al lei lui nel gli non si come ha anni",
    "nl": "de het en is een van in zij hij met voor haar zijn op te dat aan als niet heeft bij uit jaar ook",
    "pt": "o a os as e é um uma de em que com seu sua por para do da ele ela no na não se como tem anos",
}
LITTLE_WORDS = {language: frozenset(words.split()) for language, words in _LITTLE.items()}


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return [word.lower() for word in WORD.findall(text.replace("\u2019", "'"))]


def is_in(language: str, text: str) -> bool:
    """Tell whether a text is in a language, rather than in another one that is known here or in none of
    them."""
    words = words_of(text)
    if not words:
        return False
    shares = {
        name: sum(word in little for word in words) / len(words) for name, little in LITTLE_WORDS.items()
    }
    return shares[language] >= LEAST_SHARE and shares[language] >= max(shares.values()) * 0.999
