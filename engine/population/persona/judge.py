"""What a written persona has to be, told to the model before and held against its reply after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.population.column import Categorical, Column, Value, in_words
from engine.population.persona import languages
from engine.population.persona.settings import Writer
from engine.population.persona.truth import contradictions, missing

LANGUAGES = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "nl": "Dutch",
    "pt": "Portuguese",
}
MAX_CHARS = 20_000
BROKEN_OFF = "\u2026"
"""Ends a text that its writer had no room to finish."""
_QUOTES = ('"""', "```", '"', "“", "'")
_ENDS = {"“": "”"}


class Judge:
    """Holds texts against the settings of their writer."""

    def __init__(self, settings: Writer, columns: Mapping[str, Column]) -> None:
        self._settings = settings
        self._categories = {
            name: column.categories
            for name, column in columns.items()
            if name in settings.names and name != settings.gender and isinstance(column, Categorical)
        }

    def rules(self, person: Mapping[str, Value]) -> str:
        """Return what a model is told that its text has to be."""
        s = self._settings
        language = f" in {LANGUAGES[s.language]}" if s.language != "any" else ""
        lines = [f"Write {s.min_words} to {s.max_words} words{language}, as plain text."]
        if s.names:
            facts = "; ".join(f"{name.replace('_', ' ')}: {in_words(person[name])}" for name in s.names)
            lines.append(f"Name each of these in the very same words, and contradict none of them: {facts}.")
        lines.append("Reply with the text alone, nothing before or after it.")
        return " ".join(lines)

    def objections(self, text: str, person: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with a text, as a kind for the ledger and in words for who wrote it."""
        s = self._settings
        if not text:
            yield "empty", "it is empty"
            return
        n = len(text.split())
        if n < s.min_words:
            yield "too short", f"it has {n} words, fewer than {s.min_words}"
        if n > s.max_words or len(text) > MAX_CHARS:
            yield "too long", f"it has {n} words, more than {s.max_words}"
            return
        if not text.replace("\n", " ").isprintable():
            yield "not plain text", "it has characters that cannot be printed"
        if text.endswith(BROKEN_OFF):
            yield "broken off", "it breaks off; a shorter one would not"
        if s.language != "any" and not languages.is_in(s.language, text):
            yield "other language", f"it is not in {LANGUAGES[s.language]}"
        for words in missing(text, person, s.names):
            yield "fact missing", words
        told = contradictions(text, person, age=s.age, gender=s.gender, categories=self._categories)
        for words in told if s.language == "en" else ():
            yield "contradiction", words


def plain(reply: str) -> str:
    """Return the text of a reply without the quotation marks or fences around it."""
    text = reply[: 2 * MAX_CHARS].replace("\r\n", "\n").replace("\t", " ").strip()
    for mark in _QUOTES:
        end = _ENDS.get(mark, mark)
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(end):
            return text[len(mark) : -len(end)].strip()
    return text
