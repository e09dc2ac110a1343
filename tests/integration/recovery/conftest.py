"""The scenario of dice, known to this process and to those that it starts."""

from collections.abc import Iterator

import pytest

from tests.fakes.improvise import SCENARIOS
from tests.fakes.packages import known


@pytest.fixture(scope="module", autouse=True)
def improvise(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install it."""
    with known(tmp_path_factory.mktemp("packages"), SCENARIOS):
        yield
