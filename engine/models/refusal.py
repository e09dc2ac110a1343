"""Whether a reply refuses to answer.

The rule: the reply does not hold the answer asked for, and within its first 200 characters says in English
that its writer is sorry, unable, unwilling or an AI. Free text is never called a refusal, for agents may well
say no to each other. The rule decides what a failed reply is counted as and how it is complained about; a
wrong guess costs nothing else.
"""

from __future__ import annotations

import re

BEGINNING_CHARS = 200

_REFUSAL = re.compile(
    r"\bI(?:'m| am) (?:very |so |truly )?(?:sorry|afraid|unable|not able|not allowed|not comfortable|an AI)\b"
    r"|\bI (?:can't|can ?not|could not|couldn't|won't|will not|would rather not|must decline|must refuse"
    r"|have to decline|decline|refuse)\b"
    r"|\bas an? (?:AI|artificial|language model|large language model)\b"
    r"|^(?:sorry|apologies|my apologies|unable to)\b",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Tell whether a reply that is no answer refuses to be one."""
    return _REFUSAL.search(text.strip()[:BEGINNING_CHARS].replace("\u2019", "'")) is not None
