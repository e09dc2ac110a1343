"""A random JSON value that fits a schema as `msgspec.json.schema` writes them."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.draws import uniform


def fill(schema: dict[str, Any], u: float) -> str:
    """Return JSON text for the schema; the same number in [0, 1) gives the same text."""
    return msgspec.json.encode(_Filler(schema.get("$defs", {}), int(u * 2**53)).value(schema)).decode()


class _Filler:
    def __init__(self, definitions: dict[str, Any], seed: int) -> None:
        self._definitions = definitions
        self._seed = seed
        self._drawn = 0

    def _draw(self) -> float:
        self._drawn += 1
        return uniform(self._seed, self._drawn)

    def value(self, schema: dict[str, Any]) -> Any:
        if "$ref" in schema:
            return self.value(self._definitions[schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return self.value(schema["anyOf"][0])
        if "enum" in schema:
            return schema["enum"][int(self._draw() * len(schema["enum"]))]
        return self._typed(schema)

    def _typed(self, schema: dict[str, Any]) -> Any:
        match schema.get("type"):
            case "object":
                return {name: self.value(part) for name, part in schema.get("properties", {}).items()}
            case "array":
                return [self.value(schema.get("items", {})) for _ in range(schema.get("minItems", 0))]
            case "integer":
                low = schema.get("minimum", 0)
                return low + int(self._draw() * (schema.get("maximum", low + 100) - low + 1))
            case "number":
                low = schema.get("minimum", 0.0)
                return low + self._draw() * (schema.get("maximum", low + 100.0) - low)
            case "boolean":
                return self._draw() < 0.5
            case "null":
                return None
            case _:
                return "dummy"
