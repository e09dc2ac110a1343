"""A preset text, and two scenarios that exist for tests alone."""

from typing import Annotated, Literal

from msgspec import Meta

from engine.scenarios.scenario import Scenario, ScenarioSettings

GOOD = """\
name = "trial"
[scenario]
name = "game"
[population]
size = 10
[model]
backend = "dummy"
"""


def with_line(table: str, line: str, text: str = GOOD) -> str:
    """Return the preset with a line more in one of its tables."""
    return text.replace(f"[{table}]\n", f"[{table}]\n{line}\n")


class GameSettings(ScenarioSettings, frozen=True, kw_only=True, tag="game"):
    pot: Annotated[float, Meta(ge=0)] = 10.0
    pace: Literal["slow", "fast"] = "slow"
    stages: Literal[1, 2] = 1
    shares: tuple[float, ...] = ()
    weights: dict[str, float] = {}
    open: bool = False


class Game(Scenario):
    Settings = GameSettings
    policies = {"level_k": lambda turn: "", "nash": lambda turn: ""}  # type: ignore[dict-item]


class MuseSettings(ScenarioSettings, frozen=True, kw_only=True, tag="muse"):
    topic: str


class Muse(Scenario):
    Settings = MuseSettings
