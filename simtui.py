"""The public API for authors of scenarios, explained in docs/scenarios.md. Import from here alone."""

from engine.agents.agent import Agent, Stateless
from engine.agents.births import Birth, NoRoom
from engine.agents.effects import AnswerFailed, gather
from engine.agents.memories.settings import FullHistory, Retrieval, RunningSummary, SlidingWindow
from engine.agents.memory import Memory, Prompt
from engine.agents.post import Absent, AskFailed, MailboxFull, NoAnswer
from engine.agents.world import World
from engine.environments.agenda import Agenda, only
from engine.environments.attributes import NotAllowed, own, shared
from engine.environments.calls import CallFailed
from engine.environments.clock import Clock
from engine.environments.environment import Environment
from engine.environments.listeners import Event, event
from engine.environments.methods import buffered
from engine.models.answer_list import List
from engine.models.answers import Choice, Json, Number, Text
from engine.models.policy import Rule, Turn
from engine.models.protocol import Message
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings
from engine.scenarios.timed import TimedScenario, TimedSettings
from engine.workflows.failures import RemoteError, Unsendable
from engine.workflows.methods import concurrent
from engine.workflows.pending import Pending
from engine.workflows.report import Report
from engine.workflows.session import Workflow, distribute, fetch

__all__ = [
    "Absent",
    "Agenda",
    "Agent",
    "AnswerFailed",
    "AskFailed",
    "Birth",
    "CallFailed",
    "Choice",
    "Clock",
    "Environment",
    "Event",
    "FullHistory",
    "Json",
    "List",
    "MailboxFull",
    "Memory",
    "Message",
    "NoAnswer",
    "NoRoom",
    "NotAllowed",
    "Number",
    "Outcome",
    "Pending",
    "Prompt",
    "RemoteError",
    "Report",
    "Retrieval",
    "Rule",
    "RunningSummary",
    "Scenario",
    "ScenarioSettings",
    "SlidingWindow",
    "Stateless",
    "Text",
    "TimedScenario",
    "TimedSettings",
    "Turn",
    "Unsendable",
    "Workflow",
    "World",
    "buffered",
    "concurrent",
    "distribute",
    "event",
    "fetch",
    "gather",
    "only",
    "own",
    "shared",
]
