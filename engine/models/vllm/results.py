"""From a server's reply to the results of the requests that waited for it."""

from __future__ import annotations

from collections.abc import Iterator

from engine.models.protocol import Finish, Form, Result
from engine.models.vllm.call import Call, Member, Spent
from engine.models.vllm.forms import Part, unfinished
from engine.models.vllm.wire import Reply


def cut_by_context(reply: Reply, part: Part, context: int | None) -> bool:
    """Tell whether a reply was cut for want of context: vLLM does that without saying so."""
    if not any(said.finish is Finish.LENGTH for said in reply.said):
        return False
    if context is not None:
        return reply.tokens_in + part.max_tokens > context
    return len(reply.said) == 1 and 0 < reply.tokens_out < part.max_tokens


def shares(reply: Reply, n: int) -> Iterator[Spent]:
    """Yield what each of `n` results has cost: together what the server counted, which is the prompt once."""
    counted = reply.tokens_in, reply.tokens_out, min(reply.tokens_cached, reply.tokens_in)
    for i in range(n):
        yield Spent(*(tokens // n + (i < tokens % n) for tokens in counted))


def results(
    call: Call, form: Form, part: Part, reply: Reply, now: float
) -> Iterator[tuple[Member, Result | Call]]:
    """Yield each member with its result, or with the call for the part of the reply that is missing."""
    n = len(call.members)
    said = reply.said * n if len(reply.said) < n else reply.said  # greedy replies to one prompt are equal
    for member, one, share in zip(call.members, said, shares(reply, n), strict=True):
        spent = Spent(*map(sum, zip(call.spent, share, strict=True)))
        logprob = None if one.logprob is None else call.logprob + one.logprob
        missing = unfinished(form, one.text, one.finish) if part.may_go_on else None
        if missing is not None:
            rest = call.part(member, missing, spent)
            rest.logprob = logprob or 0.0
            yield member, rest
        else:
            text = call.begun + part.read(one.text)
            result = Result(member.key, text, one.finish, *spent, *_times(call, now))
            result.logprob = logprob
            yield member, _marked(result, call)


def failures(call: Call, finish: Finish, text: str, now: float) -> Iterator[tuple[Member, Result]]:
    """Yield each member with its result where there is no reply."""
    for member in call.members:
        result = Result(member.key, text, finish, *call.spent, *_times(call, now))
        yield member, _marked(result, call)


def _marked(result: Result, call: Call) -> Result:
    """Note with a result what became of its call on the way."""
    result.dropped, result.samples, result.resent = call.dropped, call.samples, call.resent
    return result


def _times(call: Call, now: float) -> tuple[float, float]:
    started = now if call.started is None else call.started
    return started - call.arrived, now - started
