"""Who may have a child, or retire, and what is said to those who may not."""

from types import SimpleNamespace
from typing import Any

import pytest

from engine.agents.agent import Agent
from engine.agents.births import Birth, Changes, Community, NoRoom, Wish
from engine.agents.post import Absent, AskFailed
from engine.agents.reach import check_reach


@pytest.fixture
def scheduler() -> Any:
    """One whose running turn is a step."""
    return SimpleNamespace(running=SimpleNamespace(owner=SimpleNamespace(wishes=[], retiring=[])))


@pytest.fixture
def community(scheduler: Any) -> Community:
    return Community(scheduler, range(100, 103), 200, per_parent=2)


def member(agent_id: int, community: Community | None) -> Agent:
    agent = Agent(agent_id)
    scenario = SimpleNamespace(n_agents=20, coupled=False)
    agent.world = SimpleNamespace(  # type: ignore[assignment]
        community=community, members=range(10), group=0, slice=3, scenario=scenario, people=None
    )
    return agent


def birth(id_: int, parent: int, name: str = "", **attributes: Any) -> Birth:
    return Birth(id_, 2, Wish(parent, name, "Curious.", attributes))


def test_a_wish_says_whose_it_is_and_what_the_child_is_like(community: Community, scheduler: Any) -> None:
    member(4, community).spawn("Ann", persona="Shy.", age=0)
    assert scheduler.running.owner.wishes == [Wish(4, "Ann", "Shy.", {"age": 0}, 3)]


def test_a_newcomer_knows_who_it_is(community: Community) -> None:
    community.change(Changes(born=(birth(100, 4, "Ann", age=0), birth(101, 4))))
    parent, ann, other = (member(n, community) for n in (4, 100, 101))
    assert parent.children == (100, 101)
    assert (ann.parent, ann.name, ann.persona, ann.attributes) == (4, "Ann", "Curious.", {"age": 0})
    assert (other.name, parent.name, parent.parent) == ("agent 101", "agent 4", None)
    assert parent.named == {"Ann": 100, "agent 101": 101}
    assert len(ann.neighbours) == 0


def test_one_parent_may_have_so_many_children(community: Community) -> None:
    community.change(Changes(born=(birth(100, 4),)))
    parent = member(4, community)
    parent.spawn()
    with pytest.raises(NoRoom, match="2 children are the most"):
        parent.spawn()


def test_a_group_may_have_so_many(community: Community) -> None:
    community.change(Changes(born=tuple(birth(100 + n, n) for n in range(3))))
    with pytest.raises(NoRoom, match="all 3 places are taken"):
        member(7, community).spawn()


def test_a_name_is_taken_once(community: Community) -> None:
    community.change(Changes(born=(birth(100, 4, "Ann"),)))
    with pytest.raises(NoRoom, match="'Ann'"):
        member(5, community).spawn("Ann")
    member(6, community).spawn("Bob")
    with pytest.raises(NoRoom, match="'Bob'"):
        member(6, community).spawn("Bob")


def test_one_may_retire_oneself_and_ones_children_only(community: Community, scheduler: Any) -> None:
    community.change(Changes(born=(birth(100, 4),)))
    member(4, community).retire()
    member(4, community).retire(100)
    assert scheduler.running.owner.retiring == [(4, 4), (100, 4)]
    with pytest.raises(ValueError, match="agent 100 is no child of agent 5"):
        member(5, community).retire(100)


def test_nobody_comes_or_goes_while_a_question_is_answered(community: Community, scheduler: Any) -> None:
    scheduler.running.owner = object()
    for act in (member(4, community).spawn, member(4, community).retire):
        with pytest.raises(RuntimeError, match="not while a question is answered"):
            act()


def test_nobody_comes_or_goes_where_the_scenario_does_not_say_so() -> None:
    agent = member(4, None)
    assert (agent.children, agent.parent, agent.named) == ((), None, {})
    for act in (agent.spawn, agent.retire):
        with pytest.raises(RuntimeError, match="SimpleNamespace"):
            act()


@pytest.mark.parametrize(
    ("receiver", "why"), [(100, "has retired"), (3, "has retired"), (101, "has not been born")]
)
def test_messages_to_those_who_are_not_there_say_why(community: Community, receiver: int, why: str) -> None:
    community.change(Changes(born=(birth(100, 4),), retired=((100, 4), (3, 3))))
    world = member(4, community).world
    with pytest.raises(Absent, match=f"agent {receiver} {why}") as caught:
        check_reach(world, receiver)
    assert isinstance(caught.value, AskFailed)
    assert isinstance(caught.value, ValueError)
    check_reach(world, 5)
    with pytest.raises(ValueError, match="there is no agent 200"):
        check_reach(world, 200)


@pytest.mark.parametrize(
    ("name", "wish"),
    [
        ("\ud800", {}),
        (7, {}),
        ("Ann", {"persona": "\udfff"}),
        ("Ann", {"age": object()}),
        ("Ann", {"age": {1j: 2}}),
    ],
)
def test_what_cannot_travel_is_the_agents_own_error(
    name: Any, wish: dict[str, Any], community: Community, scheduler: Any
) -> None:
    """Otherwise it would bring down the worker when the round ends."""
    with pytest.raises((TypeError, ValueError)):
        member(4, community).spawn(name, **wish)
    assert scheduler.running.owner.wishes == []
