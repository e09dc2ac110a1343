"""Towns of one and of two workers: mail must come to the same in both."""

from collections.abc import Callable

import pytest

from engine.agents.agent import Agent
from tests.fakes.town import Town

Build = Callable[..., Town]


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def town(request: pytest.FixtureRequest) -> Callable[..., Town]:
    def build(agent_type: type[Agent], n: int, **options: bool) -> Town:
        return Town(agent_type, n, request.param, **options)

    return build
