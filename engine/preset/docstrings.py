"""What each setting means: the string below an attribute, which Python itself throws away."""

from __future__ import annotations

import ast
import inspect
import textwrap

import msgspec


def meanings(struct: type[msgspec.Struct]) -> dict[str, str]:
    """Return the docstring of each field of a struct, inherited ones included, each on one line.

    Empty where the source is not at hand, as in a packaged binary.
    """
    found: dict[str, str] = {}
    for cls in reversed(struct.__mro__):
        if cls is not msgspec.Struct and issubclass(cls, msgspec.Struct):
            found |= _own(cls)
    return found


def _own(cls: type[msgspec.Struct]) -> dict[str, str]:
    try:
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, SyntaxError):
        return {}
    assert isinstance(body, ast.ClassDef)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in zip(body.body, body.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and field.target.id in cls.__struct_fields__
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
