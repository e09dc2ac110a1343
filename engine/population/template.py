"""Jinja templates over attributes, from people who may not be trusted.

Jinja's sandbox keeps templates from Python's insides, but not from loops without end or text without bounds.
So only text, `{{ }}`, `{% if %}` and the filters listed here are let through; a result is then hardly longer
than the template and the values in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from jinja2 import StrictUndefined, TemplateError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.population.column import in_words
from engine.population.faults import BadTemplate, listed, quoted

MAX_CHARS = 50_000
"""Longest text that a template may come to."""

_ALLOWED = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.If, nodes.CondExpr),
    *(
        nodes.Compare,
        nodes.Operand,
        nodes.And,
        nodes.Or,
        nodes.Not,
        nodes.Neg,
        nodes.Pos,
        nodes.Tuple,
        nodes.List,
    ),
    *(nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Concat, nodes.Filter),
)


class Template:
    """A template, compiled once. Raises BadTemplate."""

    def __init__(self, text: str) -> None:
        try:
            tree = _ENVIRONMENT.parse(text)
            _check(tree)
            self.names = frozenset(meta.find_undeclared_variables(tree))
            self._template = _ENVIRONMENT.from_string(text)
        except TemplateError as error:
            raise BadTemplate(f"line {getattr(error, 'lineno', 1)}: {error}") from error
        except (RecursionError, MemoryError, SyntaxError, ValueError) as error:
            raise BadTemplate(
                str(error) if isinstance(error, BadTemplate) else "it cannot be read"
            ) from error

    def render(self, values: Mapping[str, Any]) -> str:
        """Return the text for values. Raises BadTemplate."""
        try:
            text = self._template.render(values).strip()
        except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
            raise BadTemplate(str(error)) from error
        if len(text) > MAX_CHARS:
            raise BadTemplate(f"it comes to more than {MAX_CHARS} characters")
        return text


class _Environment(ImmutableSandboxedEnvironment):
    """Multiplies and formats numbers only: "x" * 10**9 and "%999999999d" % 1 are gigabytes."""

    intercepted_binops = frozenset(["*", "%", "+", "-", "/", "//"])

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if not isinstance(left, int | float) or not isinstance(right, int | float):
            raise TypeError(f"{operator} takes numbers, not {quoted(left)} and {quoted(right)}; ~ joins text")
        return super().call_binop(context, operator, left, right)


def _check(tree: nodes.Template) -> None:
    for node in tree.find_all(nodes.Node):
        if not isinstance(node, _ALLOWED):
            kind = type(node).__name__.lower()
            line = getattr(node, "lineno", 1)
            raise BadTemplate(f"line {line}: {quoted(kind)} is not possible here; text, values and if are")
        if isinstance(node, nodes.Name) and node.name == "self":
            raise BadTemplate(f"line {node.lineno}: self is no attribute")
        if isinstance(node, nodes.Filter) and node.name not in FILTERS:
            raise BadTemplate(
                f"line {node.lineno}: there is no filter {quoted(node.name)}; known: {listed(FILTERS)}"
            )


class _Rounded(float):
    """Has the digits that the template asks for."""

    __str__ = float.__repr__


def _round(value: float, digits: int = 0) -> float | int:
    if not isinstance(digits, int) or not -12 <= digits <= 12:
        raise ValueError("round takes digits from -12 to 12")
    rounded = round(float(value), digits)
    return int(rounded) if digits <= 0 else _Rounded(rounded)


def _article(word: object) -> str:
    text = str(word)
    vowel = text[:1].lower() in tuple("aeiou8") or text in ("11", "18")
    return f"an {text}" if vowel else f"a {text}"


def _long_date(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


FILTERS = {
    "article": _article,
    "capitalize": lambda word: str(word)[:1].upper() + str(word)[1:],
    "long_date": _long_date,
    "lower": lambda word: str(word).lower(),
    "round": _round,
    "thousands": lambda number: f"{round(number) if type(number) is float else number:,}",
    "title": lambda word: str(word).title(),
    "upper": lambda word: str(word).upper(),
}
"""article: "an engineer"; thousands: 12,500; long_date: 7 March 1980; the others as in Jinja."""


def _environment() -> _Environment:
    environment = _Environment(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=in_words,
    )
    environment.filters = dict(FILTERS)
    environment.globals = {}
    environment.tests = {}
    return environment


_ENVIRONMENT = _environment()
