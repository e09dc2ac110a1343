"""Personas written by a model, without the model: what to ask, what to make of the replies, what to do about
bad ones.

Whoever has a model hands the requests in `new` to it and each reply to `reply`, until `done`. In a round
everybody whose text is not yet good is asked once. Replies are judged in the order of the people, so that the
result does not depend on the order in which they came.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from engine.population.people import People, rendered
from engine.population.persona.cache import Cache, NoCache
from engine.population.persona.judge import Judge, plain
from engine.population.persona.likeness import Likeness
from engine.population.persona.settings import Writer
from engine.population.persona.texts import Texts
from engine.population.streams import stream, uniform
from engine.population.template import Template

PROMPT = ("persona", "writer", "prompt")
BATCH = 20_000
"""People whose prompts are held at a time."""
MAX_OBJECTIONS = 6
"""Objections told to a model at a time."""
MAX_QUOTED = 4000
"""Characters of a text that a model is shown again."""


@dataclass(frozen=True)
class Ask:
    """A request to the model. Equal keys are equal requests, whatever run they belong to."""

    key: bytes
    person: int
    prompt: str
    attempt: int = 0
    """How often this person's text has been asked for before."""


@dataclass(frozen=True)
class Rejection:
    """A reply that was not taken."""

    person: int
    attempt: int
    reasons: Sequence[tuple[str, str]]
    """Each as a kind and in words."""
    is_last: bool
    """Whether the template's text is taken now."""


@dataclass(frozen=True)
class Progress:
    """How far the writing is."""

    people: int
    """Whose personas are to be written."""
    written: int
    fallen_back: int
    """Who got the template's text after the last retry."""
    asked: int
    """Requests to the model."""
    cached: int
    """Requests that an earlier run has paid for."""
    open: int
    """Requests of this round that have no reply yet."""

    @property
    def ended(self) -> int:
        """Who has a persona, a written one or the template's."""
        return self.written + self.fallen_back

    def eta_s(self, elapsed_s: float) -> float | None:
        """Return the seconds that are left if all goes on as before; None while nothing can be said."""
        ended, answered = self.ended, self.asked - self.open
        if not answered:
            return None
        requests_each = (answered + self.cached) / ended if ended else 1.0
        left = max(self.open, self.people * requests_each - answered - self.cached)
        return elapsed_s / answered * left


class PersonaWriter:
    """Has personas written. Raises PopulationError at once if it cannot work.

    `model` says in any words which model writes and how (name, temperature, ...): replies are kept in `cache`
    by this, the prompt, and which attempt it is. People are taken in batches, each in rounds.
    """

    def __init__(
        self,
        people: People,
        settings: Writer,
        seed: int,
        model: str,
        cache: Cache | None = None,
        *,
        chosen: Sequence[int] | None = None,
    ) -> None:
        """`chosen` are the people whose personas are written; the share of the settings if not given."""
        self._people = people
        self._settings = settings
        self._model = model
        self._cache: Cache = cache or NoCache()
        self._prompt = Template(settings.prompt)
        self._judge = Judge(settings, people.columns)
        self._likeness = Likeness(settings.similarity)
        self._chosen = np.asarray(_drawn(people.n, settings.share, seed) if chosen is None else chosen)
        self._n_begun = 0
        self._twins: Counter[bytes] = Counter()
        self.written: dict[int, str] = {}
        """The texts so far, by person."""
        self._first: dict[int, str] = {}
        """The first prompt of each of the batch whose text is not yet good."""
        self._current: dict[int, Ask] = {}
        self._open: dict[bytes, Ask] = {}
        self._replies: dict[bytes, str | None] = {}
        self._unjudged: deque[Ask] = deque()
        """What this round still has to judge, in the order of the people."""
        self._asked = self._cached = self._round = 0
        self.ledger: Counter[str] = Counter()
        """How often a text was not taken, by reason; "fallback" counts whom the template's was given in the
        end."""
        self.rejections: list[Rejection] = []
        """The same one by one, for whoever takes them out."""
        self.known: list[tuple[Ask, str]] = []
        """Requests that had been paid for, with their replies, likewise."""
        self.new: list[Ask] = []
        """Requests that are to be made, likewise."""
        self._go_on()

    @property
    def done(self) -> bool:
        """Whether everybody has a text, a written one or the template's."""
        return not self._first and self._n_begun == len(self._chosen)

    def asks(self) -> list[Ask]:
        """Return the requests that have no reply yet."""
        return list(self._open.values())

    def reply(self, replies: Sequence[tuple[bytes, str | None]]) -> None:
        """Take replies by the keys of their requests; None where the model failed. Unknown keys are ignored.

        The last replies of a round begin the next one.
        """
        new = [(key, text) for key, text in replies if self._open.pop(key, None)]
        self._cache.keep((key, text) for key, text in new if text is not None)
        self._replies.update(new)
        self._go_on()

    def texts(self) -> Texts:
        """Return what has been written."""
        return Texts(self._people.n, self.written.items())

    @property
    def progress(self) -> Progress:
        """How far the writing is."""
        return Progress(
            people=len(self._chosen),
            written=len(self.written),
            fallen_back=self.ledger["fallback"],
            asked=self._asked,
            cached=self._cached,
            open=len(self._open),
        )

    def _go_on(self) -> None:
        """Judge what is there, and begin rounds until there is something to wait for, or nothing to do."""
        while not self.done:
            self._judge_known()
            if self._unjudged:
                return
            if not self._first:
                if self.done:
                    return
                self._begin_batch()
            self._begin_round()

    def _begin_batch(self) -> None:
        batch = self._chosen[self._n_begun : self._n_begun + BATCH].tolist()
        self._n_begun += len(batch)
        self._round = -1
        for i in batch:
            person = self._people.person(i)
            text = f"{rendered(self._prompt, person, i, *PROMPT)}\n\n{self._judge.rules(person)}"
            twin = self._twins[_digest(text)] = self._twins[_digest(text)] + 1
            if twin > 1:
                text += f"\n\nSeveral people are like that; this is number {twin}, a person of their own."
            self._first[i] = text
            self._current[i] = self._ask(i, text)

    def _begin_round(self) -> None:
        self._round += 1
        self._unjudged = deque(self._current.values())
        asks = {ask.key: ask for ask in self._current.values()}
        known = self._cache.find(list(asks))
        self.known += [(asks[key], text) for key, text in known.items()]
        self._replies = dict(known)
        self._open = {key: ask for key, ask in asks.items() if key not in self._replies}
        self.new += self._open.values()
        self._cached += len(self._replies)
        self._asked += len(self._open)

    def _judge_known(self) -> None:
        """Judge replies in the order of the people, as far as they are there."""
        while self._unjudged and self._unjudged[0].key in self._replies:
            ask = self._unjudged.popleft()
            reply = self._replies[ask.key]
            if objections := self._objections(ask.person, reply):
                self._refuse(ask, reply, objections)
            else:
                del self._first[ask.person], self._current[ask.person]

    def _refuse(self, ask: Ask, reply: str | None, objections: Sequence[tuple[str, str]]) -> None:
        """Ask again, or after the last retry leave the person to the template."""
        person, is_last = ask.person, self._round >= self._settings.retries
        self.ledger.update(kind for kind, _ in objections)
        self.rejections.append(Rejection(person, self._round, objections, is_last))
        if is_last:
            del self._first[person], self._current[person]
            self.ledger["fallback"] += 1
            return
        prompt = ask.prompt
        if reply is not None:
            words = "; ".join(words for _, words in objections[:MAX_OBJECTIONS])
            last = plain(reply)[:MAX_QUOTED]
            prompt = (
                f"{self._first[person]}\n\nThis text will not do:\n{last}\n\nFor {words}. Write it again."
            )
        self._current[person] = self._ask(person, prompt, self._round + 1)

    def _ask(self, person: int, prompt: str, attempt: int = 0) -> Ask:
        return Ask(_digest(f"{self._model}\0{attempt}\0{prompt}"), person, prompt, attempt)

    def _objections(self, person: int, reply: str | None) -> list[tuple[str, str]]:
        """Return what is wrong with a reply; if nothing is, it becomes the person's text."""
        if reply is None:
            return [("no reply", "")]
        text = plain(reply)
        objections = list(self._judge.objections(text, self._people.person(person)))
        if not objections and not self._likeness.add(person, text):
            objections = [("nearly the same", "it is nearly the same as another person's")]
        if not objections:
            self.written[person] = text
        return objections


def _drawn(n: int, share: float, seed: int) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.flatnonzero(uniform(stream(seed, "written personas"), np.arange(n)) < share)
    return found


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
