"""Expressions over attributes: a small part of Python's syntax, read by Python's own parser, never run as
Python.

Only what is listed here exists: numbers, text, attributes, arithmetic, comparisons, `and`, `or`, `not`, `a if
condition else b`, and calls of the functions in `engine.population.functions`. No loops, no attribute access,
no powers; lengths and depths are bounded, so evaluating takes a bounded number of passes over a column.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from engine.population.faults import BadExpression, meant, quoted
from engine.population.functions import FUNCTIONS

MAX_CHARS = 2000
MAX_NODES = 400
MAX_DEPTH = 40

Node = ast.expr

_LEAVES = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
_ALLOWED = (
    *(ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, ast.Name, ast.Constant),
    *(ast.Tuple, ast.List, ast.Load, ast.And, ast.Or, ast.Not, ast.USub, ast.UAdd),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn),
)


@dataclass(frozen=True)
class Expression:
    """An expression that has been read and found to hold nothing but what is allowed."""

    text: str
    node: Node

    @cached_property
    def calls(self) -> frozenset[str]:
        """The functions that it calls."""
        return frozenset(_called(n) for n in ast.walk(self.node) if isinstance(n, ast.Call))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The attributes that it needs, in order of appearance."""
        called = {id(n.func) for n in ast.walk(self.node) if isinstance(n, ast.Call)}
        found = (n for n in ast.walk(self.node) if isinstance(n, ast.Name) and id(n) not in called)
        return tuple(dict.fromkeys(name.id for name in found))


def read(text: str) -> Expression:
    """Return an expression from its text. Raises BadExpression."""
    if len(text) > MAX_CHARS:
        raise BadExpression(f"longer than {MAX_CHARS} characters")
    try:
        node = ast.parse(text.strip().replace("\n", " "), mode="eval").body
    except SyntaxError as error:
        near = f" at {quoted(text.strip()[max(0, error.offset - 1) :][:20])}" if error.offset else ""
        raise BadExpression(f"not an expression{near}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise BadExpression("not an expression that can be read") from error
    _check(node)
    return Expression(text, node)


def _check(root: Node) -> None:
    level: list[ast.AST] = [root]
    nodes = depth = 0
    while level:
        nodes, depth = nodes + len(level), depth + 1
        if nodes > MAX_NODES or depth > MAX_DEPTH:
            raise BadExpression("too long, or too many brackets inside one another")
        for node in level:
            _check_node(node)
        level = [
            child for node in level for child in ast.iter_child_nodes(node) if not isinstance(child, _LEAVES)
        ]


def _check_node(node: ast.AST) -> None:
    if not isinstance(node, _ALLOWED) or any(not isinstance(n, _ALLOWED) for n in ast.iter_child_nodes(node)):
        raise BadExpression(f"{quoted(_source(node))} is not part of the language of expressions")
    match node:
        case ast.Constant(value=str() | bool()):
            pass
        case ast.Constant(value=int() | float() as value):
            if not abs(value) <= 2**53:
                raise BadExpression("a number is too large")
        case ast.Constant():
            raise BadExpression(f"{quoted(_source(node))} is neither a number nor text")
        case ast.Call():
            if not _called(node):
                raise BadExpression(f"{quoted(_source(node))} is not a call of a function")
            if _called(node) not in FUNCTIONS:
                hint = meant(_called(node), FUNCTIONS)
                raise BadExpression(f"there is no function {quoted(_called(node))}; {hint}")


def _called(node: ast.Call) -> str:
    """Return the name of the function; "" if it is not called by its name."""
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _source(node: ast.AST) -> str:
    try:
        return ast.unparse(node)
    except (ValueError, RecursionError):
        return type(node).__name__
