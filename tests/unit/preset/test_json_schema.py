import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from app import settings
from engine.preset.json_schema import json_schema

SHIPPED = settings.shipped()


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_presets_are_valid(validator: Draft202012Validator, path: Path) -> None:
    preset = tomllib.loads(path.read_text())
    validator.validate(msgspec.to_builtins(preset))  # dates as text, as editors give them to a validator


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("model", "backend", "telepathy"),
        ("scenario", "name", "chess"),
        ("scenario", "roudns", 1),
        ("population", "size", 0),
        ("journal", "transcripts", "1 in 0"),
        ("engine", "workers", "many"),
    ],
)
def test_mistakes_are_invalid(validator: Draft202012Validator, table: str, key: str, value: Any) -> None:
    preset = tomllib.loads(SHIPPED[0].read_text())
    preset.setdefault(table, {})[key] = value
    assert not validator.is_valid(preset)


def test_every_setting_is_described() -> None:
    definitions = json_schema()["$defs"]
    assert definitions["Engine"]["properties"]["workers"]["description"].startswith("Worker processes")
    assert definitions["Launch"]["properties"]["replicas"]["description"].startswith("How many servers")
    assert definitions["LlamaCpp"]["properties"]["temperature"]["description"].startswith("Randomness")
    tags_and_tables = {
        "backend",
        "name",
        "scenario",
        "population",
        "model",
        "answers",
        "engine",
        "budget",
        "journal",
    }
    tags_and_tables |= {"from", "kind"}
    assert {
        f"{name}.{key}"
        for name, struct in definitions.items()
        for key, setting in struct["properties"].items()
        if "description" not in setting and key not in tags_and_tables
    } == set()
