"""Reaching the servers of a preset at the start of a run, and checking that the run can work with them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import msgspec

from engine.errors import ModelError
from engine.models.settings import Vllm
from engine.models.vllm.detect import Unreachable
from engine.models.vllm.features import Structure
from engine.models.vllm.server import Server
from engine.models.vllm.watch import Watch

log = logging.getLogger("simtui.models.vllm")

FIRST_TRY_S, LAST_TRY_S = 0.2, 2.0


async def reach(servers: Sequence[Server], watch: Watch, settings: Vllm) -> dict[str, Any]:
    """Ask all servers what they are; return what the manifest should say of them.

    Those that do not answer yet are looked at again during the run. Raises ModelError if none answers, or
    if one answers that the run cannot work with.
    """
    tries = (_reach_one(server, watch, settings) for server in servers)
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    problems = [_without_errors(outcome) for outcome in outcomes]
    if all(problems):
        raise ModelError(
            "no server answers: " + "; ".join(filter(None, problems)),
            where="model.servers",
            hint="start the servers first, or raise model.patience_s",
        )
    reached = [server for server, problem in zip(servers, problems, strict=True) if not problem]
    for server in reached:
        _check(server, settings)
    return {
        "identity": reached[0].features.identity,
        "servers": {server.name: _described(server) for server in reached},
        "unreachable": [server.name for server in servers if server not in reached],
    }


def _without_errors(outcome: str | BaseException) -> str:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


async def _reach_one(server: Server, watch: Watch, settings: Vllm) -> str:
    """Try for as long as the preset says; return what is wrong if that was not enough."""
    loop = asyncio.get_running_loop()
    deadline, pause_s = loop.time() + settings.patience_s, FIRST_TRY_S
    while True:
        try:
            await watch.meet(server)
        except Unreachable as error:
            if loop.time() + pause_s > deadline:
                watch.give_up(server, str(error))
                return f"{server.name} {error}"
        else:
            return ""
        await asyncio.sleep(pause_s)
        pause_s = min(LAST_TRY_S, 2 * pause_s)


def _check(server: Server, settings: Vllm) -> None:
    features = server.features
    if features.structure is Structure.NONE:
        log.warning("%s: cannot hold replies to a form; they are only checked", server.name)
    if (settings.top_k or settings.min_p) and not features.extended:
        raise ModelError(
            "the server takes neither top_k nor min_p",
            where=server.name,
            hint="leave model.top_k and model.min_p out of the preset",
        )
    if settings.logprobs and not features.logprobs:
        raise ModelError(
            "the server does not tell how likely its replies are",
            where=server.name,
            hint="leave model.logprobs out of the preset",
        )
    if features.context is not None and settings.max_tokens >= features.context:
        raise ModelError(
            f"the model's context of {features.context} tokens has no room for a prompt beside a reply of"
            f" {settings.max_tokens}",
            where=server.name,
            hint="lower model.max_tokens",
        )


def _described(server: Server) -> dict[str, Any]:
    return msgspec.to_builtins(server.features)  # type: ignore[no-any-return]
