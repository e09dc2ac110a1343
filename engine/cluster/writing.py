"""Personas on their way: between who judges the texts, the model that writes them, and the journal.

To model and journal, the attempts at an agent's persona are its calls of round 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from engine.cluster.control import Snapshot, WritingReport
from engine.cluster.setup import Role, Setup
from engine.cluster.wire import Work
from engine.journal.batch import JournalBatch
from engine.journal.recorder import Recorder
from engine.journal.transcripts import Transcripts
from engine.keys import PERSONAS, pack
from engine.models.answer_cache import FROM_CACHE
from engine.models.answers import Text
from engine.models.protocol import Finish, Form, Message, Request, RequestBatch, Result, content_id, prompt_id
from engine.models.spent import Spent
from engine.population.persona.cache import FileCache
from engine.population.persona.judge import BROKEN_OFF, MAX_CHARS
from engine.population.persona.writer import Ask, PersonaWriter, Rejection

CACHE = "personas.db"
BATCH = 1000
"""Requests in a message."""
TOKENS_PER_WORD = 4
"""Longest replies that a model may write, by the longest text that is asked for; English takes 1.3, and no
language that is checked more than 3. A reply that reaches it is cut, and asked for again."""
PROCESS = "personas"
"""By what name the coordinator's own requests are accounted for."""

_PREFIX: tuple[Message, ...] = ()
_encode = msgspec.msgpack.Encoder().encode


class _Call:
    """A request for a persona, as the journal records it."""

    slice = 0

    def __init__(self, ask: Ask, form: int) -> None:
        self.ask = ask
        self.key = pack(PERSONAS, ask.person, ask.attempt)
        self.prefix = content_id(_PREFIX)
        self.form = form
        self.tail = (Message("user", ask.prompt),)
        self.encoded = _encode(self.tail)
        self.prompt_id = prompt_id(self.prefix, self.encoded)


class Rows(Protocol):
    """What is needed of the journal."""

    def add(self, batch: JournalBatch) -> None:
        """Take rows."""

    def commit(self) -> None:
        """Write them."""


class Writing:
    """Has the personas of a run written. Its methods may raise PopulationError and JournalError."""

    def __init__(
        self,
        setup: Setup,
        journal: Rows,
        ask: Callable[[str, RequestBatch], None],
        clock: Callable[[], float],
        chosen: Sequence[int] | None = None,
    ) -> None:
        """`ask` sends requests to a model service. `chosen` are the agents whose personas are written; the
        settings' share of them if not given."""
        assert setup.persona_writer is not None
        assert setup.people is not None
        self._settings = setup.persona_writer
        self._setup = setup
        self._people = setup.people
        self._journal = journal
        self._ask = ask
        self._chosen = chosen
        self._clock = clock
        self._started = clock()
        self._role = next(role for role in setup.roles if role.name == self._settings.model)
        kept = setup.preset.journal
        self._recorder = Recorder(Transcripts.parse(kept.transcripts), kept.max_text_chars)
        self._form = _form(self._role, self._settings.max_words)
        self._form_id = content_id(self._form)
        self._spent = Spent()
        self._open: dict[int, _Call] = {}
        self._failures: Counter[str] = Counter()
        self._whys: dict[int, str] = {}
        """By key: why there is no reply."""
        self._cache = FileCache(setup.cache_directory / CACHE)
        self._writer: PersonaWriter | None = None

    @property
    def model(self) -> str:
        """The model that writes."""
        return self._role.name

    @property
    def is_done(self) -> bool:
        """Whether everybody has a persona."""
        return self._writer is not None and self._writer.done

    def go_on(self, descriptions: Mapping[str, dict[str, Any]]) -> None:
        """Begin, or ask once more for all that is open: a service that was started anew has lost it.

        `descriptions` is what model services say of their models, by process.
        """
        if self._writer is None:
            self._started = self._clock()
            self._recorder.prefix(content_id(_PREFIX), _PREFIX)
            self._recorder.form(self._form_id, self._form)
            model = _model_text(descriptions.get(f"model-{self.model}", {}), self._form)
            seed = self._setup.preset.seed
            self._writer = PersonaWriter(
                self._people, self._settings, seed, model, self._cache, chosen=self._chosen
            )
            self._settle(self._writer)
        else:
            self._send(list(self._open.values()))

    def take(self, results: Sequence[Result]) -> None:
        """Take replies of the model."""
        if self._writer is None:
            return
        replies: list[tuple[bytes, str | None]] = []
        for result in results:
            if (call := self._open.pop(result.key, None)) is None:
                continue
            self._record(call, result)
            replies.append((call.ask.key, self._text(result)))
        self._writer.reply(replies)
        self._settle(self._writer)

    @property
    def written(self) -> Mapping[int, str]:
        """The texts so far, by agent."""
        return self._writer.written if self._writer else {}

    def personas(self) -> Iterator[tuple[int, bool, str]]:
        """Yield everybody's text: agent, whether the model wrote it, and the text."""
        written = self.written
        transcripts = Transcripts.parse(self._setup.preset.journal.transcripts)
        for agent in range(self._people.n):
            if text := written.get(agent):
                yield agent, True, text
            elif transcripts.keeps(agent):
                yield agent, False, self._people.persona(agent)

    @property
    def work(self) -> Work:
        """What was done and spent, for the accounts."""
        spent = [(self.model, 0, self._spent)]
        return Work(n_open=len(self._open), failures=dict(self._failures), spent=spent)

    def shown(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot of the run that tells how far this is."""
        if self._writer is None:
            return snapshot
        progress, elapsed_s = self._writer.progress, self._clock() - self._started
        return replace(
            snapshot,
            n_agents=progress.people,
            n_done=progress.ended,
            rate=progress.ended / elapsed_s if elapsed_s > 0 else 0.0,
            eta_s=progress.eta_s(elapsed_s),
            eta_basis=f"at the pace of the last {elapsed_s:.0f} s",
        )

    def report(self) -> WritingReport:
        """Return what became of it."""
        assert self._writer is not None
        progress, ledger = self._writer.progress, self._writer.ledger
        return WritingReport(
            model=self.model,
            people=progress.people,
            written=progress.written,
            fallen_back=progress.fallen_back,
            asked=progress.asked,
            cached=progress.cached,
            seconds=self._clock() - self._started,
            refused={kind: n for kind, n in ledger.items() if n and kind != "fallback"},
        )

    def close(self) -> None:
        """Close the file of replies that have been paid for."""
        self._cache.close()

    def _settle(self, writer: PersonaWriter) -> None:
        """Journal what has come, and ask for what comes next."""
        for ask, text in writer.known:
            call = _Call(ask, self._form_id)
            self._record(call, Result(call.key, text, samples=FROM_CACHE))
        for rejection in writer.rejections:
            self._note(rejection)
        writer.rejections.clear()
        writer.known.clear()
        self._journal.add(self._recorder.take())
        self._journal.commit()
        self._send([_Call(ask, self._form_id) for ask in writer.new])
        writer.new.clear()

    def _text(self, result: Result) -> str | None:
        """Return the text of a reply; None if there is none."""
        match result.finish:
            case Finish.STOP:
                return result.text
            case Finish.LENGTH:
                return result.text + BROKEN_OFF
        self._whys[result.key] = result.text[:500] or str(result.finish)
        return None

    def _record(self, call: _Call, result: Result) -> None:
        if result.samples != FROM_CACHE or not self._setup.resumed:  # else it was counted already
            self._spent.add(result)
        self._recorder.reply(call, result, self._role.number, None, None)

    def _send(self, calls: Sequence[_Call]) -> None:
        self._open.update((call.key, call) for call in calls)
        for first in range(0, len(calls), BATCH):
            requests = [self._request(call) for call in calls[first : first + BATCH]]
            shared: Any = {content_id(_PREFIX): _PREFIX}, {self._form_id: self._form}
            self._ask(self.model, RequestBatch(requests, *shared))

    def _request(self, call: _Call) -> Request:
        facts = None
        if self._role.wants_facts:
            person = {name: str(value) for name, value in self._people.person(call.ask.person).items()}
            facts = msgspec.Raw(_encode({"persona_of": person, "attempt": call.ask.attempt}))
        return Request(call.key, call.prefix, call.form, msgspec.Raw(call.encoded), facts)

    def _note(self, rejection: Rejection) -> None:
        key = pack(PERSONAS, rejection.person, rejection.attempt)
        action = "template" if rejection.is_last else "asked again"
        reasons = dict(reversed(rejection.reasons))  # the first of a kind
        for kind, words in reasons.items():
            self._recorder.failure(key, f"persona: {kind}", words or self._whys.pop(key, ""), action)
            self._failures[f"persona: {kind}"] += 1


def _form(role: Role, max_words: int) -> Form:
    longest = max(role.sampling.max_tokens, TOKENS_PER_WORD * max_words)
    return Form(Text(MAX_CHARS), replace(role.sampling, max_tokens=longest))


def _model_text(description: dict[str, Any], form: Form) -> str:
    """Say which model writes and how: what a text in the cache depends on, besides its prompt."""
    identity = description.get("identity", description)
    return msgspec.json.encode([identity, form]).decode()
