"""From `[model]` settings to a backend; each is imported only in the process that runs it."""

from __future__ import annotations

from engine.cluster.setup import Setup
from engine.models.protocol import Backend, Catalogue
from engine.models.settings import Dummy, LlamaCpp, Policy, Vllm


def make(setup: Setup, name: str, catalogue: Catalogue) -> Backend:
    """Return the backend of a model of the preset, not yet open."""
    backend = _make(setup, name, catalogue)
    if not setup.models[name].answer_cache:
        return backend
    from engine.models.answer_cache import CachedBackend

    return CachedBackend(backend, catalogue, setup.preset.seed, setup.cache_directory / "answers.db")


def _make(setup: Setup, name: str, catalogue: Catalogue) -> Backend:
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

            return VllmBackend(settings, catalogue, seed, setup.directory / "servers" / name)
