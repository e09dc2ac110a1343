"""Requests that have had exactly the same tokens so far: one sequence to decode, however many they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from engine.models.llama_cpp.batch import Tokens
from engine.models.llama_cpp.reply import Reply
from engine.models.llama_cpp.sampling import Floats, distribution, draws, log_probability
from engine.models.protocol import Finish, Form, Request, Result


@dataclass(eq=False, slots=True)
class Member:
    """One request in a branch. Times are seconds of one monotonic clock."""

    request: Request
    reply_to: Callable[[Result], None]
    """Takes the result, in any thread."""
    arrived: float
    begun: float | None = None
    cached: int = 0


@dataclass(eq=False, slots=True)
class Branch:
    """Members with one conversation, one form and one reply so far."""

    members: list[Member]
    form: Form
    prompt: Tokens | None = None
    dropped: int = 0
    reply: Reply | None = None

    def begin(self, prompt: Tokens, dropped: int, reply: Reply) -> None:
        """Set out from a prompt."""
        self.prompt, self.dropped, self.reply = prompt, dropped, reply

    @property
    def tokens(self) -> Tokens:
        """Prompt and reply so far."""
        assert self.prompt is not None
        assert self.reply is not None
        return np.concatenate([self.prompt, np.array(self.reply.tokens, np.int32)])

    def grow(self, logits: Floats, seed: int) -> list[Branch]:
        """Draw every member's next token; return the branches that they part into, the largest first.

        Raises ModelError if the form of the answer cannot be followed.
        """
        assert self.reply is not None
        allowed = self.reply.allowed()
        next_token = distribution(logits, self.form.sampling, allowed)
        keys = [member.request.key for member in self.members]
        tokens = next_token.draw(draws(seed, keys, len(self.reply.tokens)))
        parted: dict[int, list[Member]] = {}
        for member, token in zip(self.members, tokens, strict=True):
            parted.setdefault(token, []).append(member)
        groups = sorted(parted.items(), key=lambda group: -len(group[1]))
        replies = [self.reply, *(self.reply.copy() for _ in groups[1:])]
        if self.reply.wants_logprob:
            for (token, _), reply in zip(groups, replies, strict=True):
                reply.logprob += log_probability(logits, token, allowed)
        return [
            self._with(members, token, reply) for (token, members), reply in zip(groups, replies, strict=True)
        ]

    def _with(self, members: list[Member], token: int, reply: Reply) -> Branch:
        reply.push(token)
        return Branch(members, self.form, self.prompt, self.dropped, reply)

    def start(self, now: float, cached: int) -> None:
        """Note when work begins and how much of the prompt costs none (for all but the first, all of it)."""
        assert self.prompt is not None
        for n, member in enumerate(self.members):
            if member.begun is None:
                member.begun = now
                member.cached = min(cached, len(self.prompt)) if n == 0 else len(self.prompt)

    def finish(self, now: float) -> None:
        """Answer all members with the finished reply."""
        assert self.reply is not None
        assert self.reply.finish is not None
        self._answer(self.members, self.reply.text, self.reply.finish, now)

    def fail(self, finish: Finish, text: str, now: float) -> None:
        """Answer all members with what went wrong."""
        self._answer(self.members, text, finish, now)

    def expire(self, now: float, timeout_s: float) -> bool:
        """Answer the members that have waited too long; tell whether any are left."""
        late = [member for member in self.members if now - member.arrived > timeout_s]
        if late:
            self._answer(late, f"no reply within {timeout_s:g} s", Finish.TIMEOUT, now)
            self.members = [member for member in self.members if now - member.arrived <= timeout_s]
        return bool(self.members)

    def _answer(self, members: Iterable[Member], text: str, finish: Finish, now: float) -> None:
        tokens_in = 0 if self.prompt is None else len(self.prompt)
        tokens_out = 0 if self.reply is None else len(self.reply.tokens)
        logprob = self.reply.logprob if self.reply and self.reply.wants_logprob else None
        for member in members:
            begun = now if member.begun is None else member.begun
            member.reply_to(
                Result(
                    member.request.key,
                    text,
                    finish,
                    tokens_in,
                    tokens_out,
                    member.cached,
                    begun - member.arrived,
                    now - begun,
                    self.dropped,
                    logprob=logprob,
                )
            )
