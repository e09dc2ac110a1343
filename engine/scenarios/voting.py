"""Talk, then vote in secret: plurality, majority runoff, approval or Borda count.

Condorcet, Essai sur l'application de l'analyse (1785); Brams and Fishburn, Handbook of Social Choice and
Welfare 1 (2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from engine.agents.agent import Agent
from engine.models.answer_list import List
from engine.models.answers import Choice, Text
from engine.models.protocol import Message
from engine.scenarios import ballots
from engine.scenarios import voting_rules as rules
from engine.scenarios.participant import Participant
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings
from engine.scenarios.voting_hall import Hall

Option = Annotated[str, Meta(min_length=1, max_length=60)]


class Camp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Voters who want the same."""

    share: Annotated[float, Meta(gt=0)]
    """How large it is, in proportion to the others."""
    ranking: tuple[Option, ...]
    """All options, the best first."""


class VotingSettings(ScenarioSettings, frozen=True, kw_only=True, tag="voting"):
    """Each group talks for some rounds and then votes in one; then it may begin anew."""

    same_for_all: ClassVar[frozenset[str]] = ScenarioSettings.same_for_all | {
        *("abstain", "discussion", "method", "options", "question", "right"),
    }

    question: Annotated[str, Meta(min_length=1, max_length=500)] = "what should be built on the empty lot?"
    """What is decided."""
    options: Annotated[tuple[Option, ...], Meta(min_length=2, max_length=20)] = (
        "a park",
        "a library",
        "a pool",
    )
    """What can be voted for."""
    method: ballots.Method = "plurality"
    """How ballots are cast and counted."""
    discussion: Annotated[int, Meta(ge=0)] = 1
    """Rounds of talk before each vote, in which all say what they lean to."""
    words: bool = True
    """Whether they also say a sentence about it."""
    hears: Annotated[int, Meta(ge=0, le=100)] = 4
    """Whose sentences each hears: of so many others, in each round the next ones."""
    abstain: bool = False
    """Whether ballots may be left blank."""
    camps: tuple[Camp, ...] = ()
    """What voters want, and are told; without camps, policies want anything, and language models decide."""
    right: str = ""
    """One of the options: then voters do not differ in what they want but in what they have seen, which
    speaks for this one with probability `competence`."""
    competence: Annotated[float, Meta(ge=0, le=1)] = 0.6
    """Of each voter, in each vote."""

    @property
    def camp_shares(self) -> tuple[float, ...]:
        """Sizes of the camps."""
        return tuple(camp.share for camp in self.camps)

    def is_vote(self, round_: int) -> bool:
        """Tell whether a round is one of voting."""
        return round_ % (self.discussion + 1) == 0

    def problems(self, population_size: int) -> list[tuple[str, str, str]]:
        """Add what only votes forbid."""
        found = ScenarioSettings.problems(self, population_size)
        if self.rounds % (self.discussion + 1):
            allowed = f"a multiple of {self.discussion + 1}: {self.discussion} of talk and one to vote"
            found.append(("rounds", f"{self.rounds}", allowed))
        names = {option.strip().casefold() for option in self.options}
        if len(names) < len(self.options) or rules.ABSTAIN in names:
            found.append(("options", "two alike", f"different ones, none of them {rules.ABSTAIN!r}"))
        if any(sorted(camp.ranking) != sorted(self.options) for camp in self.camps):
            found.append(("camps", "a ranking of other options", "each option once in every ranking"))
        if self.right and (self.right not in self.options or self.camps):
            found.append(("right", repr(self.right), "one of the options, and no camps"))
        return found


class Voter(Participant):
    """Talks and votes."""

    __slots__ = ()

    async def step(self, observation: None) -> float:
        """Return the number of the option that it leans to, or votes for first; -1 for a blank ballot."""
        game: Voting = self.world.scenario
        hall, settings = self.environments["hall"], game.settings
        heard = await hall.hear()
        vote = (self.round - 1) // (settings.discussion + 1)
        wanted = rules.ranking(settings, self.world.seed, vote, self.world.members, self.id)
        ranked = [settings.options[option] for option in wanted]
        told = rules.wishes(settings, ranked) + rules.heard(settings, heard.poll, heard.statements)
        facts = {"ranking": ranked, "poll": heard.poll}
        if settings.is_vote(self.round):
            ballot = await self._vote(game, told, facts)
            hall.cast(ballot, wanted if settings.camps or settings.right else [])
            return float(ballot[0]) if ballot else -1.0
        leaning, text = await self._talk(game, told, facts)
        hall.speak(leaning, text)
        return float(leaning)

    async def _talk(self, game: Voting, told: str, facts: dict[str, Any]) -> tuple[int, str]:
        settings = game.settings
        question = f"{told}Which option do you lean to? Reply with one of: {', '.join(settings.options)}."
        option = await self.decide(question, game.leaning, {**facts, "stage": rules.LEAN})
        if not settings.words:
            return settings.options.index(option), ""
        ask = f"Tell the others in one short sentence why you lean to {option}."
        text = await self.decide(ask, game.sentence, {**facts, "stage": rules.SAY, "lean": option})
        return settings.options.index(option), text

    async def _vote(self, game: Voting, told: str, facts: dict[str, Any]) -> list[int]:
        question = f"{told}{rules.ballot_question(game.settings)}"
        answer = await self.decide(question, game.ballot, {**facts, "stage": rules.BALLOT})
        named = [answer] if isinstance(answer, str) else answer
        options = game.settings.options
        return ballots.cleaned([options.index(name) for name in named if name in options], len(options))


class Voting(Scenario):
    """Talk and votes."""

    Settings = VotingSettings
    environments = {"hall": Hall}
    policies = rules.POLICIES
    settings: VotingSettings

    def __init__(self, settings: VotingSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        options, n = settings.options, len(settings.options)
        self.leaning = Choice(options)
        self.sentence = Text(max_chars=200)
        self.ballot: Choice | List
        if settings.method == "plurality":
            self.ballot = Choice((*options, rules.ABSTAIN) if settings.abstain else options)
        else:
            fewest = n if settings.method != "approval" else 1
            self.ballot = List(Choice(options), 0 if settings.abstain else fewest, n)

    def agent(self, agent_id: int) -> Agent:
        """Make a voter."""
        return Voter(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return the rules."""
        return (Message("system", rules.instructions(self.settings, self.group_size(group))),)

    def opening(self, group: int) -> None:
        """All that voters hear, they hear in the hall."""

    def tally(self, members: range, values: Sequence[float | None]) -> None:
        """The hall counts."""

    def conclude(self, round_: int, group: int, tallies: Sequence[None]) -> Outcome:
        """The hall says what came of it."""
        return Outcome({})
