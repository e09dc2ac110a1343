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
            options = schema["anyOf"]
            return None if {"type": "null"} in options else self.value(options[0])
        if "enum" in schema:
            return schema["enum"][int(self._draw() * len(schema["enum"]))]
        return self._typed(schema)

    def _typed(self, schema: dict[str, Any]) -> Any:
        match schema.get("type"):
            case "object":
                return {name: self.value(part) for name, part in schema.get("properties", {}).items()}
            case "array" if "prefixItems" in schema:
                return [self.value(part) for part in schema["prefixItems"]]
            case "array":
                return [self.value(schema.get("items", {})) for _ in range(schema.get("minItems", 0))]
            case "integer":
                low, high = _bounds(schema, 1)
                return low + int(self._draw() * (high - low + 1))
            case "number":
                low, high = _bounds(schema, 1e-9)
                step = schema.get("multipleOf", 1e-9)
                return round(low + self._draw() // (step / (high - low)) * step if high > low else low, 9)
            case "boolean":
                return self._draw() < 0.5
            case "null":
                return None
            case _:
                return "dummy"


def _bounds(schema: dict[str, Any], step: float) -> tuple[Any, Any]:
    """Return the smallest and the largest number that a schema allows, 100 apart where one is missing."""
    low = schema["exclusiveMinimum"] + step if "exclusiveMinimum" in schema else schema.get("minimum")
    high = schema["exclusiveMaximum"] - step if "exclusiveMaximum" in schema else schema.get("maximum")
    if low is None:
        low = 0 if high is None else min(0, high - 100)
    return low, low + 100 if high is None else high
