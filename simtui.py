"""The public API for authors of scenarios, explained in docs/scenarios.md. Import from here alone."""

from engine.agents.agent import Agent, Stateless
from engine.agents.effects import AnswerFailed, gather
from engine.agents.memory import Memory, Prompt
from engine.agents.post import AskFailed
from engine.agents.world import World
from engine.models.answer_list import List
from engine.models.answers import Choice, Json, Number, Text
from engine.models.policy import Rule, Turn
from engine.models.protocol import Message
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings

__all__ = [
    "Agent",
    "AnswerFailed",
    "AskFailed",
    "Choice",
    "Json",
    "List",
    "Memory",
    "Message",
    "Number",
    "Outcome",
    "Prompt",
    "Rule",
    "Scenario",
    "ScenarioSettings",
    "Stateless",
    "Text",
    "Turn",
    "World",
    "gather",
]
