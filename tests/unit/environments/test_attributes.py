"""Who may see and change what."""

from typing import Any

import pytest

from engine.environments import attributes
from engine.environments.attributes import NotAllowed, own, shared


class Table:
    pot = shared(5)
    is_open = shared(True, agents_change=True)
    hands = own()
    bids = own(agents_change=True)
    deck = "nobody's business"


def table() -> Any:
    made = Table()
    made.hands = {1: "ace", 2: "ten"}
    return made


def test_a_view_has_what_is_everyones_and_ones_own() -> None:
    there = table()
    assert attributes.view(there, 2) == {"pot": 5, "is_open": True, "hands": "ten", "bids": None}
    assert attributes.view(there, 3)["hands"] is None
    assert attributes.read(there, 1, "hands") == "ace"


def test_what_agents_may_change_they_change_for_all_or_for_themselves() -> None:
    there = table()
    attributes.change(there, 1, "is_open", False)
    attributes.change(there, 1, "bids", 7)
    assert there.is_open is False
    assert there.bids == {1: 7}
    assert attributes.read(there, 2, "bids") is None


@pytest.mark.parametrize("name", ["deck", "nothing", "__class__", "hands.keys"])
def test_the_rest_may_be_neither_seen_nor_changed(name: str) -> None:
    with pytest.raises(NotAllowed, match="but: pot, is_open, hands, bids"):
        attributes.read(table(), 1, name)
    with pytest.raises(NotAllowed, match="may not change"):
        attributes.change(table(), 1, name, 1)


@pytest.mark.parametrize("name", ["pot", "hands"])
def test_what_may_be_seen_may_not_be_changed_for_that(name: str) -> None:
    with pytest.raises(NotAllowed, match=f"may not change '{name}' of Table"):
        attributes.change(table(), 1, name, 1)


def test_tables_share_nothing() -> None:
    one, other = table(), Table()
    one.pot += 1
    one.bids[1] = 3
    assert other.pot == 5
    assert other.bids == {}
