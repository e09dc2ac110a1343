"""Whether a reply refuses to answer.

The rule: the reply does not hold the answer asked for, and within its first 200 characters says that its
writer is sorry, unable, unwilling or an AI, in one of the languages of the table below. Free text is never
called a refusal, for agents may well say no to each other. The rule decides what a failed reply is counted as
and how it is complained about; a wrong guess costs nothing else.
"""

from __future__ import annotations

import re

BEGINNING_CHARS = 200

PHRASES = {
    "English": r"\bI(?:'m| am) (?:very |so |truly )?"
    r"(?:sorry|afraid|unable|not able|not allowed|not comfortable|an AI)\b"
    r"|\bI (?:can't|can ?not|could not|couldn't|won't|will not|would rather not|must decline|must refuse"
    r"|have to decline|decline|refuse)\b"
    r"|\bas an? (?:AI|artificial|language model|large language model)\b"
    r"|^(?:sorry|apologies|my apologies|unable to)\b",
    "German": r"\b(?:es )?tut mir (?:sehr )?leid\b|\bich bin (?:leider )?nicht in der Lage\b"
    r"|\bich (?:kann|darf|möchte|werde) (?:das |dir |Ihnen |leider )*nicht\b"
    r"|\bals (?:eine )?(?:KI|künstliche Intelligenz|Sprachmodell)\b",
    "French": r"\bje suis (?:vraiment )?désolée?\b|^désolée?\b|\bje ne (?:peux|pourrai|veux) pas\b"
    r"|\bje refuse\b|\ben tant qu'(?:IA|intelligence artificielle|modèle de langage)\b",
    "Spanish": r"\blo siento\b"
    r"|\bno (?:puedo|podré|quiero) (?:responder|contestar|ayudar|elegir|participar|hacer)"
    r"|\bcomo (?:una )?(?:IA|inteligencia artificial|modelo de lenguaje)\b",
    "Italian": r"\bmi dispiace\b|\bnon (?:posso|voglio) (?:rispondere|aiutar|scegliere|partecipare|fare)"
    r"|\bcome (?:IA|intelligenza artificiale|modello linguistico)\b",
    "Portuguese": r"\b(?:sinto muito|desculpe|lamento)\b"
    r"|\bnão (?:posso|quero) (?:responder|ajudar|escolher|participar|fazer)"
    r"|\bcomo (?:uma )?(?:IA|inteligência artificial|modelo de linguagem)\b",
    "Chinese": r"抱歉|对不起|對不起|我(?:无法|無法|不能)|作[为為](?:一个|一個)?(?:AI|人工)",
    "Japanese": r"申し訳(?:ありません|ございません)|(?:お答え|回答)でき(?:ません|かねます)|AIとして",
}
"""Languages, and how their speakers refuse."""

_REFUSAL = re.compile("|".join(PHRASES.values()), re.IGNORECASE)


def is_refusal(text: str) -> bool:
    """Tell whether a reply that is no answer refuses to be one."""
    return _REFUSAL.search(text.strip()[:BEGINNING_CHARS].replace("\u2019", "'")) is not None
