"""Who comes and who goes does not depend on what was heard of first."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from engine.agents.births import Wish
from engine.cluster.register import Register


def wish(parent: int, name: str = "") -> Wish:
    return Wish(parent, name, "", {})


def test_ids_follow_each_other_in_the_order_of_parents() -> None:
    register = Register(range(100, 103))
    first = register.change(2, [wish(7), wish(3), wish(7)], [])
    assert [(birth.id, birth.parent, birth.round) for birth in first.born] == [
        (100, 3, 2),
        (101, 7, 2),
        (102, 7, 2),
    ]
    second = register.change(3, [wish(1)], [])
    assert second.born == ()
    assert second.refused == ((1, "all 3 places of the group are taken"),)


def test_a_name_is_given_once() -> None:
    register = Register(range(10, 20))
    changes = register.change(2, [wish(5, "Ann"), wish(4, "Ann"), wish(6)], [])
    assert [(birth.parent, birth.name) for birth in changes.born] == [(4, "Ann"), (6, "agent 11")]
    assert changes.refused == ((5, "another newcomer is named 'Ann'"),)


def test_one_retires_once() -> None:
    register = Register(range(0))
    assert register.change(2, [], [(4, 4), (4, 1)]).retired == ((4, 1),)
    assert register.change(3, [], [(4, 4)]).retired == ()


@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["", "Ann", "Bob"]))),
    st.integers(0, 5),
    st.randoms(),
)
def test_it_does_not_matter_in_which_order_shares_report(
    wishes: list[tuple[int, str]], places: int, dice: Random
) -> None:
    """What one parent asks for comes in its own order; parents may come in any."""
    by_parent = {parent: [wish(p, name) for p, name in wishes if p == parent] for parent, _ in wishes}
    shuffled = [*by_parent]
    dice.shuffle(shuffled)
    orders = [sorted(by_parent), shuffled]
    one, other = (
        Register(range(50, 50 + places)).change(2, [w for parent in order for w in by_parent[parent]], [])
        for order in orders
    )
    assert one == other
