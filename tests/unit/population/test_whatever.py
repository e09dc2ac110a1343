"""Whatever settings are given, a population is built or the error says why not; nothing else is raised."""

from contextlib import suppress
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.population.build import build
from engine.population.faults import PopulationError
from engine.population.settings import Population

NAMES = st.sampled_from([*"aaabbbcc", "household_size"])
WORDS = st.sampled_from(["x", "y", "1", "2", "true", "2024-01-01", "18-24", "*", ""])
KINDS = st.sampled_from(["categorical", "integer", "real", "date", "boolean"])
DRAWS = st.sampled_from(["exact", "random"])
NUMBERS = st.sampled_from([0, 0.25, 0.5, 0.75, 1, -1, 3, 1e12])
SHARES = st.sampled_from(
    [{"x": 1}, {"x": 0.5, "y": 0.5}, {"1": 0.25, "2": 0.75}, {"true": 1}, {"x": 0.5, "y": 0.4}]
)
LAWS = st.sampled_from(["norm", "uniform", "poisson", "cauchy", "nope", "randint"])
TEXTS = st.sampled_from(
    [
        "a",
        "a + 1",
        "a == 'x'",
        "a and b",
        "band(a, 1, 2)",
        "household_sum(a)",
        "a / 0",
        "'x' if a == 'y' else 'z'",
        "1",
        "c(",
    ]
)
TEMPLATES = st.sampled_from(
    ["x", "{{ a }}", "{{ a + 1 }}", "{{ b|round }}", "{% for x in a %}{% endfor %}", "{{"]
)


def tagged(tag: str, **keys: Any) -> st.SearchStrategy[dict[str, Any]]:
    optional = {"per": st.just("household")}
    return st.fixed_dictionaries({"from": st.just(tag), **keys}, optional=optional if tag == "shares" else {})


ROWS = st.one_of(
    st.lists(st.lists(WORDS | NUMBERS, min_size=1, max_size=4), min_size=1, max_size=3),
    st.lists(st.tuples(WORDS, st.sampled_from([0.5, 1]), st.sampled_from([0, 0.5])), min_size=1, max_size=3),
    st.sampled_from([[["x", 0.5, 0.5], ["*", 1, 0]], [["x", "y", 1], ["y", "x", 3]], [["1", 5], ["2", 3]]]),
)
ATTRIBUTES = st.one_of(
    tagged("shares", shares=SHARES, type=KINDS, draw=DRAWS),
    tagged(
        "distribution",
        distribution=LAWS,
        parameters=st.dictionaries(
            st.sampled_from(["loc", "scale", "mu", "low", "high"]), NUMBERS, max_size=2
        ),
        type=st.sampled_from(["integer", "real", "date"]),
        at_least=NUMBERS | st.none(),
        draw=DRAWS,
    ),
    tagged(
        "table",
        given=st.lists(NAMES, min_size=1, max_size=2),
        columns=st.just(["x", "y"]),
        rows=ROWS,
        draw=DRAWS,
    ),
    tagged(
        "table",
        given=st.lists(NAMES, min_size=1, max_size=1),
        columns=st.just(["loc", "scale"]),
        rows=ROWS,
        distribution=LAWS,
        type=KINDS,
    ),
    tagged(
        "table",
        given=st.just(["a"]),
        columns=st.just(["x", "y"]),
        rows=st.just([["*", 0.5, 0.5]]),
        type=KINDS,
    ),
    tagged("expression", expression=TEXTS, type=KINDS | st.none()),
    tagged("expression", expression=st.sampled_from(["1", "'x'", "a", "b"])),
    tagged("shares", shares=st.sampled_from([{"x": 0.5, "y": 0.5}, {"x": 1}]), draw=DRAWS),
    tagged("tables", type=KINDS),
    tagged("text", template=TEMPLATES),
)
TABLES = st.fixed_dictionaries(
    {"attributes": st.lists(NAMES, min_size=1, max_size=2), "rows": ROWS | st.just([["x", 1], ["y", 2]])},
    optional={
        "use": st.just("seed"),
        "unit": st.sampled_from(["share", "percent"]),
        "normalise": st.just(True),
    },
)
NETWORKS = st.one_of(
    st.fixed_dictionaries({"kind": st.just("random"), "mean_degree": st.sampled_from([0.5, 3.0, 50.0])}),
    st.fixed_dictionaries({"kind": st.just("small_world"), "neighbours": st.sampled_from([2, 3, 4, 50])}),
    st.fixed_dictionaries({"kind": st.just("preferential"), "ties": st.sampled_from([1, 3, 50])}),
    st.fixed_dictionaries(
        {
            "kind": st.just("homophily"),
            "attributes": st.lists(NAMES, min_size=1, max_size=2),
            "mean_degree": st.sampled_from([2.0, 11.0]),
            "homophily": st.sampled_from([0.0, 1.0]),
        }
    ),
    st.fixed_dictionaries({"kind": st.just("groups"), "attributes": st.lists(NAMES, min_size=1, max_size=2)}),
    st.fixed_dictionaries(
        {"kind": st.just("spatial"), "mean_degree": st.just(2.0)}, optional={"position": st.just(["a", "b"])}
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("blocks"),
            "attribute": NAMES,
            "degrees": st.sampled_from([{}, {"x": {"x": 1.0}}, {"x": {"y": 2.0}}, {"1": {"1": 0.0}}]),
        }
    ),
)
POPULATIONS = st.fixed_dictionaries(
    {
        "size": st.integers(1, 12),
        "attributes": st.dictionaries(st.sampled_from("abc"), ATTRIBUTES, max_size=3),
    },
    optional={
        "tables": st.lists(TABLES, max_size=2),
        "households": st.fixed_dictionaries(
            {"sizes": st.sampled_from([{"1": 0.5, "2": 0.5}, {"3": 1}, {"x": 1}]), "draw": DRAWS}
        ),
        "constraints": st.lists(st.fixed_dictionaries({"require": TEXTS}), max_size=2),
        "networks": st.dictionaries(st.just("n"), NETWORKS, max_size=1),
        "persona": st.fixed_dictionaries({"template": TEMPLATES}),
        "fit": st.fixed_dictionaries({"draw": DRAWS}),
    },
)


@settings(max_examples=200)
@given(POPULATIONS, st.integers(0, 3))
def test_whatever_is_given_builds_or_is_told(given_settings: dict[str, Any], seed: int) -> None:
    population = msgspec.convert(given_settings, Population)
    with suppress(PopulationError):
        found = build(population, seed)
        persons = [found.person(i) for i in range(found.n)]
        assert len(persons) == population.size
        assert [found.persona(i) for i in range(found.n)]
        assert all(comparison.chi_square >= 0 for comparison in found.report.comparisons)
