"""The public API for authors of scenarios, explained in docs/scenarios.md. Import from here alone."""

from engine.agents.agent import Agent, Stateless
from engine.agents.births import Birth, NoRoom
from engine.agents.effects import AnswerFailed, gather
from engine.agents.memory import Memory, Prompt
from engine.agents.post import AskFailed
from engine.agents.world import World
from engine.environments.attributes import NotAllowed, own, shared
from engine.environments.calls import CallFailed
from engine.environments.environment import Environment
from engine.environments.listeners import Event, event
from engine.environments.methods import buffered
from engine.models.answer_list import List
from engine.models.answers import Choice, Json, Number, Text
from engine.models.policy import Rule, Turn
from engine.models.protocol import Message
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings

__all__ = [
    "Agent",
    "AnswerFailed",
    "AskFailed",
    "Birth",
    "CallFailed",
    "Choice",
    "Environment",
    "Event",
    "Json",
    "List",
    "Memory",
    "Message",
    "NoRoom",
    "NotAllowed",
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
    "buffered",
    "event",
    "gather",
    "own",
    "shared",
]
