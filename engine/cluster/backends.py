"""From `[model]` settings to a backend; each is imported only in the process that runs it."""

from __future__ import annotations

from collections.abc import Callable

from engine.cluster.setup import Setup
from engine.models.gate import Gate
from engine.models.protocol import Backend, Catalogue
from engine.models.settings import Dummy, LlamaCpp, Policy, Vllm

Tell = Callable[[str], None]


def make(setup: Setup, name: str, catalogue: Catalogue, tell: Tell) -> tuple[Backend, Gate | None]:
    """Return the backend of a model of the preset, not yet open, and the gate in front of it, if any.

    `tell` takes what whoever follows the run should hear while the model is made ready.
    What the answer cache knows goes through no gate: it costs nothing.
    """
    backend = _make(setup, name, catalogue, tell)
    gate = _gate(setup, name, catalogue, backend)
    if not setup.models[name].answer_cache:
        return gate or backend, gate
    from engine.models.answer_cache import CachedBackend

    file = setup.cache_directory / "answers.db"
    return CachedBackend(gate or backend, catalogue, setup.preset.seed, file), gate


def _gate(setup: Setup, name: str, catalogue: Catalogue, backend: Backend) -> Gate | None:
    settings, budget = setup.models[name], setup.preset.budget
    budgeted = budget.tokens is not None or budget.money is not None
    if not budgeted and settings.requests_per_minute is None and settings.tokens_per_minute is None:
        return None
    return Gate(backend, catalogue, settings, budgeted=budgeted)


def _make(setup: Setup, name: str, catalogue: Catalogue, tell: Tell) -> Backend:
    seed = setup.preset.seed
    match setup.models[name]:
        case Dummy() as settings:
            from engine.models.dummy import DummyBackend

            return DummyBackend(settings, catalogue, seed)
        case Policy() as settings:
            from engine.models.policy import PolicyBackend

            return PolicyBackend(
                settings, catalogue, setup.scenario_type.policies, setup.preset.scenario, seed
            )
        case LlamaCpp() as settings:
            from engine.models.llama_cpp.backend import LlamaCppBackend

            return LlamaCppBackend(settings, catalogue, seed, setup.cache_directory)
        case Vllm() as settings:
            from engine.models.vllm.backend import VllmBackend

            return VllmBackend(settings, catalogue, seed, setup.directory / "servers" / name, tell=tell)
