"""A form of answer in the words of a server: the fields that ask for it, and how to read what comes back.

An answer is a bare value where the server takes patterns. Where it takes JSON schemas alone, the value is
asked for as {"answer": value} and taken out again. Free reasoning before the answer is one request if it can
be; a second one finishes a reply that ended, or ran out of tokens, before it came to the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import msgspec

from engine.models.answers import MARK, Answer, Choice, JsonSchema, Number, Text
from engine.models.grammar import answer_pattern, longest_answer
from engine.models.protocol import Finish, Form, Sampling
from engine.models.vllm.features import Features, Structure

JSON_TOKENS = 256
"""Kept back for a JSON answer after reasoning; the schema does not tell how long it gets."""

Fields = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """One request's share of a reply."""

    fields: Fields
    """What goes into the request besides messages, model and seed."""
    max_tokens: int
    read: Callable[[str], str] = str
    """From the text that the server sent to the text that the answer is parsed from."""
    may_go_on: bool = False
    """Whether a second part may have to follow."""


def first_part(form: Form, features: Features) -> Part:
    """Return how to ask for a reply. Raises ModelError if the form of answer is impossible."""
    answer, sampling = form.answer, form.sampling
    if isinstance(answer, Text) or features.structure is Structure.NONE:
        return _part(sampling, features, sampling.max_tokens, _stops(sampling))
    if features.structure is Structure.JSON_SCHEMA:
        schema, read = _as_json(answer)
        return _part(sampling, features, sampling.max_tokens, _json_format(schema), read)
    if not answer.reasoning:
        return _part(sampling, features, answer_tokens(form), _constraint(answer, features))
    room = min(sampling.max_tokens, answer.reasoning + answer_tokens(form))
    if not isinstance(answer, JsonSchema):
        pattern = _reasoned(f" ?(?:{answer_pattern(answer)})", may_stop=features.resumes)
        fields = _stops(sampling) | _pattern(pattern, features)
        return _part(sampling, features, room, fields, may_go_on=features.resumes)
    stops = {"stop": [*sampling.stop, MARK]} if features.resumes else _stops(sampling)
    return _part(sampling, features, room, stops, may_go_on=features.resumes)


def second_part(form: Form, features: Features) -> Part:
    """Return how to ask for the answer alone, after reasoning that ends with the mark."""
    answer = form.answer
    assert not isinstance(answer, Text)
    if isinstance(answer, JsonSchema):
        fields = _constraint(answer, features)
    else:
        fields = _pattern(f" ?(?:{answer_pattern(answer)})", features)
    fields |= {"add_generation_prompt": False, "continue_final_message": True}
    return _part(form.sampling, features, answer_tokens(form), fields)


def unfinished(form: Form, text: str, finish: Finish) -> str | None:
    """Return what a reply begins with that still lacks its answer; None if it is complete."""
    before, mark, _ = text.rpartition(MARK)
    if mark and finish is Finish.STOP and not isinstance(form.answer, JsonSchema):
        return None
    return before + mark if mark else f"{text.rstrip()}\n{MARK}".lstrip()


def answer_tokens(form: Form) -> int:
    """Return the most tokens that the answer alone takes, a mark included; a token is at least a byte."""
    answer, limit = form.answer, form.sampling.max_tokens
    if isinstance(answer, Text):
        return limit
    if isinstance(answer, JsonSchema):
        return min(limit, JSON_TOKENS) if answer.reasoning else limit
    return min(limit, len(MARK) + 2 + longest_answer(answer))


def _part(
    sampling: Sampling,
    features: Features,
    max_tokens: int,
    fields: Fields,
    read: Callable[[str], str] = str,
    *,
    may_go_on: bool = False,
) -> Part:
    general: Fields = {"temperature": sampling.temperature, features.limit_field: max_tokens}
    if sampling.top_p < 1:
        general["top_p"] = sampling.top_p
    if sampling.top_k:
        general["top_k"] = sampling.top_k
    if sampling.min_p:
        general["min_p"] = sampling.min_p
    if sampling.logprobs:
        general["logprobs"] = True
    return Part(general | fields, max_tokens, read, may_go_on)


def _stops(sampling: Sampling) -> Fields:
    return {"stop": list(sampling.stop)} if sampling.stop else {}


def _constraint(answer: Answer, features: Features) -> Fields:
    if isinstance(answer, Choice):
        answer_pattern(answer)  # refuses an impossible choice
        return _structured("choice", list(answer.options), features)
    if isinstance(answer, Number):
        return _pattern(answer_pattern(answer), features)
    assert isinstance(answer, JsonSchema)
    return _structured("json", answer.schema, features)


def _pattern(pattern: str, features: Features) -> Fields:
    return _structured("regex", pattern, features)


def _structured(kind: str, value: Any, features: Features) -> Fields:
    if features.structure is Structure.GUIDED:
        return {f"guided_{kind}": value}
    # a model free to put white space between JSON tokens may put in nothing else
    compact = {"disable_any_whitespace": True} if kind == "json" else {}
    return {"structured_outputs": {kind: value, **compact}}


def _reasoned(answer: str, *, may_stop: bool) -> str:
    """Return the pattern of free text without the mark, then the mark, then the answer.

    "Without the mark" has to be spelt out, for the engines know no look-ahead; with it the text after the
    mark can be nothing but an answer. `may_stop` also allows a text that has no mark.
    """
    first, rest = MARK[0], MARK[1:]
    assert first not in rest
    again = "|".join(rest[:k] + first for k in range(len(rest)))
    apart = "|".join(f"{rest[:k]}[^{first}{rest[k]}]" for k in range(len(rest)))
    begun = f"{first}(?:{again})*"
    end = f"{begun}(?:{rest}{answer})"
    return f"(?:[^{first}]|{begun}(?:{apart}))*" + (f"(?:{end}?)?" if may_stop else end)


def _as_json(answer: Answer) -> tuple[Fields, Callable[[str], str]]:
    """Return the schema of an object that holds the answer, and how to take it out again."""
    if isinstance(answer, JsonSchema) and not answer.reasoning and answer.schema.get("type") != "array":
        return answer.schema, str
    value: Fields = {}
    match answer:
        case Number():
            kind = "number" if answer.decimals else "integer"
            value = {"type": kind, "minimum": answer.low, "maximum": answer.high}
            if answer.decimals:
                value["multipleOf"] = 10**-answer.decimals
            answer_pattern(answer)  # refuses an impossible range
        case Choice():
            answer_pattern(answer)
            value = {"type": "string", "enum": list(answer.options)}
        case JsonSchema():
            value = {key: part for key, part in answer.schema.items() if key != "$defs"}
    thoughts: Fields = (
        {"reasoning": {"type": "string"}} if not isinstance(answer, Text) and answer.reasoning else {}
    )
    schema: Fields = {
        "type": "object",
        "properties": {**thoughts, "answer": value},
        "required": [*thoughts, "answer"],
        "additionalProperties": False,
    }
    if isinstance(answer, JsonSchema) and "$defs" in answer.schema:
        schema["$defs"] = answer.schema["$defs"]
    return schema, partial(_taken_out, reasoned=bool(thoughts))


def _json_format(schema: Fields) -> Fields:
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema, "strict": True},
        }
    }


def _taken_out(text: str, *, reasoned: bool) -> str:
    """Return the answer in a JSON object as text; a text that is no such object as it is."""
    try:
        found = msgspec.json.decode(text)
        value = found["answer"]
    except (msgspec.DecodeError, KeyError, TypeError, RecursionError):
        return text
    match value:
        case str():
            shown = value
        case bool() | dict() | list() | None:
            shown = msgspec.json.encode(value).decode()
        case _:
            shown = format(Decimal(repr(value)), "f")
    return f"{found.get('reasoning', '')}\n{MARK} {shown}" if reasoned else shown
