"""The example of docs/memory.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from engine.agents.memories.managed import Window
from tests.unit.agents.memories.conftest import Remembering

DOCS = Path(__file__).parents[4] / "docs/memory.md"


def test_the_example_works() -> None:
    code = re.search(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code[1], names)
    bench = Remembering(None)
    bench.exchange("Hello?")
    bench.agents[1] = agent = names["Forgetful"](1)
    agent.world = bench.agents[0].world
    bench.begin(lambda agent: agent.step("It rains."), 1)
    [request] = bench.reply("12")
    assert isinstance(agent.memory, Window)
    assert bench.after_rules(request) == [("user", "It rains."), ("user", "Which number do you choose?")]
    assert bench.endings.values[1] == 12
