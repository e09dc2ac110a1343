"""The one door through which text that others wrote reaches the terminal.

Model output, preset text, errors that quote either, and what an agent's exception says are hostile: an
escape sequence can retitle a window, write the clipboard or forge a line of output. Consoles print what comes
out of here with markup switched off (see `app.streams`), so square brackets mean nothing.
"""

from __future__ import annotations

import json
import re
import unicodedata

MAX_CHARS = 4_000
ELLIPSIS = "..."

# Invisible, though not of Unicode category Cf: a joiner, Hangul fillers, variation selectors, tags
# (Default_Ignorable_Code_Point in Unicode's DerivedCoreProperties.txt).
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
_HARMLESS = re.compile(r"[ -~]*\Z")
_ESCAPED = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}


def clean(text: object, limit: int = MAX_CHARS, *, lines: bool = False) -> str:
    """Return `str(text)` fit for a terminal, at most `limit` characters long.

    Invisible characters (zero width, direction overrides) are left out; control characters, lone surrogates
    and characters that Unicode does not define are shown as escapes such as `\\x1b`. Line breaks and tabs
    become spaces, or with `lines` line breaks stay.
    """
    given = str(text)
    seen = given[: limit + 1]
    if not _HARMLESS.match(seen):
        seen = "".join(_shown(char, lines) for char in _UNSEEN.sub("", seen.replace("\r\n", "\n")))
    if len(seen) <= limit and len(given) <= limit:
        return seen
    return seen[: max(0, limit - len(ELLIPSIS))] + ELLIPSIS[:limit]


def json_line(value: object) -> str:
    """Return JSON of structs and plain values, in ASCII, so that no text in it reaches the terminal raw.

    Numbers that JSON has no form for (NaN, infinities) become null.
    """
    import msgspec

    return json.dumps(msgspec.json.decode(msgspec.json.encode(value, enc_hook=str)))


def _shown(char: str, lines: bool) -> str:
    if char in "\n\t":
        return char if lines and char == "\n" else " "
    category = unicodedata.category(char)
    if category == "Cf":
        return ""
    return char.encode("unicode_escape").decode("ascii") if category in _ESCAPED else char
