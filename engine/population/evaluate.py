"""What an expression comes to, for everybody at once."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.population.column import DAYS, NAMES, Categorical, Column, Kind, Numeric, from_labels
from engine.population.expression import Expression
from engine.population.faults import BadExpression, listed, meant, quoted
from engine.population.functions import FUNCTIONS, Frame, Value, as_categorical, choose, number, truth

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def column(expression: Expression, columns: Mapping[str, Column], frame: Frame, kind: Kind | None) -> Column:
    """Return what an expression comes to as a column of a type, its own if None. Raises BadExpression."""
    value = _computed(expression, columns, frame)
    if isinstance(value, str | Categorical):
        text = as_categorical(frame, value)
        try:
            return text if kind in (None, "categorical") else from_labels(text.codes, text.categories, kind)
        except ValueError as error:
            raise BadExpression(str(error)) from error
    array = np.broadcast_to(np.asarray(value), frame.n)
    return _numeric(array, kind or ("boolean" if array.dtype == np.bool_ else "real"))


def holds(expression: Expression, columns: Mapping[str, Column], frame: Frame) -> NDArray[np.bool_]:
    """Return for whom a condition holds. Raises BadExpression if it is none."""
    value = truth(_computed(expression, columns, frame))
    return np.array(np.broadcast_to(np.asarray(value), frame.n))


def _numeric(array: NDArray[Any], kind: Kind) -> Column:
    is_truth = array.dtype == np.bool_
    if kind == "categorical" or (kind == "boolean") != is_truth:
        raise BadExpression(f"it gives {'true or false' if is_truth else 'numbers'}, not {NAMES[kind]}")
    if kind in ("real", "boolean"):
        return Numeric(np.array(array) if is_truth else array + 0.0, kind)  # + 0.0: a copy without -0.0
    if (array != np.floor(array)).any() or (np.abs(array) > 2**53).any():
        raise BadExpression("it gives numbers that are not whole; round() or floor() makes them so")
    if kind == "date" and ((array < DAYS[0]) | (array > DAYS[1])).any():
        raise BadExpression("it gives days that no calendar has")
    return Numeric(array.astype(np.int64), kind)


def _computed(expression: Expression, columns: Mapping[str, Column], frame: Frame) -> Value:
    with np.errstate(all="ignore"):
        value = _Evaluation(columns, frame).of(expression.node)
    if isinstance(value, list):
        number(value)
    if not isinstance(value, str | Categorical) and not np.isfinite(value).all():
        raise BadExpression(
            "it gives numbers that are not finite, as dividing by 0 or the logarithm of 0 does"
        )
    return value


class _Evaluation:
    def __init__(self, columns: Mapping[str, Column], frame: Frame) -> None:
        self._columns = columns
        self._frame = frame

    def of(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._attribute(name)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return [self._constant(item) for item in items]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return np.logical_not(truth(self.of(operand)))
            case ast.UnaryOp(op=op, operand=operand):
                value = number(self.of(operand))
                return -value if isinstance(op, ast.USub) else value
            case ast.BinOp(left=left, op=op, right=right):
                return _ARITHMETIC[type(op)](number(self.of(left)), number(self.of(right)))
            case ast.BoolOp(op=op, values=values):
                combine = np.logical_and if isinstance(op, ast.And) else np.logical_or
                return reduce(combine, (truth(self.of(value)) for value in values))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return choose(self._frame, self.of(test), self.of(body), self.of(orelse))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return FUNCTIONS[name](self._frame, name, [self.of(argument) for argument in arguments])
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compare(self.of(left), ops, others)
        raise AssertionError(node)

    def _attribute(self, name: str) -> Value:
        found = self._columns.get(name)
        if found is None:
            raise BadExpression(f"there is no attribute {quoted(name)}; {meant(name, self._columns)}")
        if isinstance(found, Categorical):
            return found
        return found.array if found.kind == "boolean" else found.array.astype(np.float64)

    def _constant(self, node: ast.expr) -> str | float | bool:
        value = self.of(node)
        if isinstance(value, str | int | float):
            return value
        raise BadExpression("lists after `in` hold text and numbers alone")

    def _compare(self, left: Value, ops: list[ast.cmpop], others: list[ast.expr]) -> Value:
        result: Value = True
        for op, node in zip(ops, others, strict=True):
            right = self.of(node)
            result = np.logical_and(result, _compared(left, op, right))
            left = right
        return result


def _compared(left: Value, op: ast.cmpop, right: Value) -> Value:
    if isinstance(op, ast.In | ast.NotIn):
        found = _contains(right, left)
        return np.logical_not(found) if isinstance(op, ast.NotIn) else found
    if isinstance(left, str | Categorical) or isinstance(right, str | Categorical):
        if not isinstance(op, ast.Eq | ast.NotEq):
            raise BadExpression("text has no order; only == and != compare it")
        equal = _same_text(left, right)
        return np.logical_not(equal) if isinstance(op, ast.NotEq) else equal
    return _COMPARISONS[type(op)](number(left), number(right))


def _contains(items: Value, value: Value) -> Value:
    if not isinstance(items, list):
        raise BadExpression("after `in` stands a list in brackets")
    return reduce(np.logical_or, (_compared(value, ast.Eq(), item) for item in items), np.False_)


def _same_text(left: Value, right: Value) -> Value:
    if isinstance(left, str):
        left, right = right, left
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if not isinstance(left, Categorical) or not isinstance(right, str | Categorical):
        raise BadExpression("text is compared with a number")
    if isinstance(right, str):
        if right not in left.categories:
            hint = meant(right, left.categories)
            raise BadExpression(
                f"{quoted(right)} is none of the categories {listed(left.categories)}; {hint}"
            )
        return left.codes == left.categories.index(right)
    places = {category: i for i, category in enumerate(left.categories)}
    return left.codes == np.array([places.get(c, -1) for c in right.categories])[right.codes]
