"""Finding out what a server is and takes: by asking, for names and versions say too little.

A vLLM of today takes the field names of an older one, answers with 200, and ignores them; so whether a server
holds a reply to a form is seen from a reply that no model would give by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from engine.errors import ModelError
from engine.models.vllm.connection import Connection
from engine.models.vllm.features import Features, Structure
from engine.models.vllm.wire import Failure, Kind, Reply

ODD = "xq7-17"
"""What is asked for to see whether a server constrains replies."""
PROBE_S = 120.0
"""A server may compile its first grammar, or have a long queue."""
_SCHEMA = {
    "type": "object",
    "properties": {ODD: {"type": "string", "enum": [ODD]}},
    "required": [ODD],
    "additionalProperties": False,
}
_STRUCTURES: dict[Structure, dict[str, Any]] = {
    Structure.STRUCTURED_OUTPUTS: {"structured_outputs": {"choice": [ODD]}},
    Structure.GUIDED: {"guided_choice": [ODD]},
    Structure.JSON_SCHEMA: {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "probe", "schema": _SCHEMA, "strict": True},
        }
    },
}
_ASK = [{"role": "user", "content": "Hello."}]


class _Model(msgspec.Struct):
    id: str
    root: str | None = None
    max_model_len: int | None = None
    owned_by: str | None = None


class _Models(msgspec.Struct):
    data: list[_Model]


class _Count(msgspec.Struct):
    count: int


class Unreachable(Exception):
    """A server that may answer later."""


async def detect(
    connection: Connection, wanted: str, extra: dict[str, Any], *, logprobs: bool = False
) -> Features:
    """Ask a server what it is; `wanted` is the model's name, "" for the only one that it has.

    With `logprobs`, see also whether it tells them: that takes vLLM some seconds the first time.
    `extra` goes along with every request, for it may decide what a model does. Raises Unreachable, and
    ModelError if the server answers but is of no use.
    """
    detection = _Detection(connection, extra)
    features = await detection.run(wanted)
    return await detection.with_logprobs(features) if logprobs else features


class _Detection:
    """The questions to one server."""

    def __init__(self, connection: Connection, extra: dict[str, Any]) -> None:
        self._connection = connection
        self._extra = extra
        self._where = connection.address.name

    async def run(self, wanted: str) -> Features:
        model = self._pick(await self._models(), wanted)
        software, is_vllm = await self._software(model)
        known = await self._first_reply(
            Features(software, model.id, root=model.root or "", context=model.max_model_len)
        )
        chat = self._takes
        samples, seed, extended, priority, resumes, structure, counts, metrics = await asyncio.gather(
            chat(known, n=2, temperature=1.0),
            chat(known, seed=1),
            chat(known, top_k=5, min_p=0.05),
            _if(is_vllm, lambda: chat(known, priority=1)),
            _if(is_vllm, lambda: self._resumes(known)),
            self._structure(known),
            _if(is_vllm, lambda: self._counts(known)),
            _if(is_vllm, self._tells_queue),
        )
        await self._first_reply(known)  # one that has just become sick would seem to take nothing
        return msgspec.structs.replace(
            known,
            samples=samples,
            seed=seed,
            extended=extended,
            priority=priority,
            resumes=resumes,
            structure=structure,
            counts=counts,
            metrics=metrics,
        )

    async def _models(self) -> list[_Model]:
        answer = await self._connection.get(f"{self._connection.address.api}/models")
        if isinstance(answer, Failure):
            raise self._useless(answer, "is the base URL right, and the API key?")
        try:
            return msgspec.json.decode(answer, type=_Models).data
        except msgspec.DecodeError:
            raise ModelError(
                "the list of models cannot be read", where=self._where, hint="is this a server of models?"
            ) from None

    def _pick(self, models: list[_Model], wanted: str) -> _Model:
        names = ", ".join(repr(model.id[:100]) for model in models[:20]) or "none"
        for model in models:
            if model.id == wanted or (not wanted and len(models) == 1):
                return model
        what = f"there is no model {wanted!r}" if wanted else f"there are {len(models)} models"
        raise ModelError(what, where=self._where, hint=f"set model.model to what is served: {names}")

    async def _software(self, model: _Model) -> tuple[str, bool]:
        root = self._connection.address.root
        version = await self._field(f"{root}/version", "version")
        if version and model.owned_by == "vllm":
            return f"vllm {version}", True
        build = await self._field(f"{root}/props", "build_info")
        return (f"llama.cpp {build}" if build else "unknown"), False

    async def _field(self, url: str, name: str) -> str:
        answer = await self._connection.get(url)
        if isinstance(answer, Failure):
            return ""
        try:
            found = msgspec.json.decode(answer)
        except msgspec.DecodeError:
            return ""
        return str(found.get(name, ""))[:60] if isinstance(found, dict) else ""

    async def _first_reply(self, features: Features) -> Features:
        """See that the server replies at all, and what it calls the limit of a reply."""
        answer = await self._chat(features)
        if isinstance(answer, Failure) and "max_completion_tokens" in answer.text:
            features = msgspec.structs.replace(features, limit_field="max_completion_tokens")
            answer = await self._chat(features)
        if isinstance(answer, Failure):
            raise self._useless(answer, "the server has to answer a plain request for a chat completion")
        return msgspec.structs.replace(features, replies_as=answer.model)

    async def _structure(self, features: Features) -> Structure:
        for structure, fields in _STRUCTURES.items():
            answer = await self._chat(features, limit=40, **fields)
            if isinstance(answer, Reply) and _holds(answer.said[0].text, structure):
                return structure
        return Structure.NONE

    async def _resumes(self, features: Features) -> bool:
        begun = [*_ASK, {"role": "assistant", "content": "ANSWER:"}]
        return await self._takes(
            features, messages=begun, add_generation_prompt=False, continue_final_message=True
        )

    async def with_logprobs(self, features: Features) -> Features:
        """See whether replies come with their probabilities."""
        answer = await self._chat(features, logprobs=True)
        told = isinstance(answer, Reply) and answer.said[0].logprob is not None
        return msgspec.structs.replace(features, logprobs=told)

    async def _counts(self, features: Features) -> bool:
        return isinstance(await count_tokens(self._connection, features.model, _ASK), int)

    async def _tells_queue(self) -> bool:
        answer = await self._connection.get(f"{self._connection.address.root}/metrics")
        return isinstance(answer, bytes) and b"vllm:num_requests_running" in answer

    async def _takes(self, features: Features, **fields: Any) -> bool:
        return isinstance(await self._chat(features, **fields), Reply)

    async def _chat(self, features: Features, *, limit: int = 2, **fields: Any) -> Reply | Failure:
        body = {
            "model": features.model,
            "messages": _ASK,
            features.limit_field: limit,
            **self._extra,
            **fields,
        }
        try:
            async with asyncio.timeout(PROBE_S):
                answer = await self._connection.chat(msgspec.json.encode(body), fields.get("n", 1))
        except TimeoutError:
            raise Unreachable(f"did not answer within {PROBE_S:g} s") from None
        if isinstance(answer, Failure) and answer.kind in (Kind.BUSY, Kind.GONE):
            raise Unreachable(answer.text)  # that says nothing about what it takes
        return answer

    def _useless(self, failed: Failure, hint: str) -> Exception:
        if failed.kind in (Kind.REFUSED, Kind.MISFIT, Kind.TOO_LONG):
            return ModelError(failed.text, where=self._where, hint=hint)
        return Unreachable(failed.text)


async def _if(condition: bool, ask: Callable[[], Awaitable[bool]]) -> bool:
    return condition and await ask()


async def count_tokens(connection: Connection, model: str, messages: Any) -> int | Failure:
    """Return how many tokens a conversation has, asked of a vLLM server."""
    body = msgspec.json.encode({"model": model, "messages": messages})
    answer = await connection.post(f"{connection.address.root}/tokenize", body)
    if isinstance(answer, Failure):
        return answer
    try:
        return msgspec.json.decode(answer, type=_Count).count
    except msgspec.DecodeError:
        return Failure(Kind.SICK, "sent a count of tokens that cannot be read")


def _holds(text: str, structure: Structure) -> bool:
    if structure is not Structure.JSON_SCHEMA:
        return text == ODD
    try:
        return bool(msgspec.json.decode(text) == {ODD: ODD})
    except msgspec.DecodeError:
        return False
