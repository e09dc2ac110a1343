"""What an agent knows of itself comes from the preset's population."""

from types import SimpleNamespace

from engine.agents.agent import Agent
from engine.population.build import build
from engine.population.network.settings import Random
from engine.population.persona.settings import Persona
from engine.population.settings import Population, Shares


def agent(agent_id: int, population: Population | None) -> Agent:
    made = Agent(agent_id)
    people = build(population, 1) if population else None
    made.world = SimpleNamespace(people=people, shared=(), community=None)  # type: ignore[assignment]
    return made


def test_attributes_persona_and_neighbours_are_those_of_the_population() -> None:
    population = Population(
        size=20,
        attributes={"trade": Shares(shares={"baker": 0.5, "smith": 0.5})},
        networks={"friends": Random(mean_degree=4)},
        persona=Persona(template="You are a {{ trade }}."),
    )
    people = build(population, 1)
    for i in (0, 19):
        asked = agent(i, population)
        assert asked.attributes == people.person(i)
        assert asked.persona == f"You are a {asked.attributes['trade']}."
        assert asked.neighbours.tolist() == people.neighbours(i).tolist()


def test_without_a_population_there_is_nothing_to_know() -> None:
    asked = agent(3, None)
    assert (asked.attributes, asked.persona, asked.neighbours.tolist()) == ({}, "", [])
