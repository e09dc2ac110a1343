"""Whoever is drawn apart from all others stays the same when the population is made larger."""

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.fakes.populations import people, shares

ALONE = (
    shares("sex", 'draw = "random"', f=0.5, m=0.5)
    + '[attributes.age]\nfrom = "distribution"\ndistribution = "norm"\nparameters = {loc = 40, scale = 15}\n'
    'type = "integer"\ndraw = "random"\n'
    '[attributes.job]\nfrom = "table"\ngiven = ["sex", "age"]\ncolumns = ["a", "b"]\ndraw = "random"\n'
    'rows = [["f", "40+", 0.9, 0.1], ["*", "*", 0.5, 0.5]]\n'
    '[attributes.old]\nfrom = "expression"\nexpression = "age >= 65"\n'
    '[[tables]]\nattributes = ["town", "rent"]\nunit = "share"\n'
    'rows = [["x", "low", 0.3], ["x", "high", 0.2], ["y", "low", 0.1], ["y", "high", 0.4]]\n'
    '[fit]\ndraw = "random"\n'
    "[[constraints]]\nrequire = \"job == 'a' or age >= 20\"\n"
    '[persona]\ntemplate = "{{ sex }}, {{ age }}, {{ job }} in {{ town }}"\n'
)


@hypothesis_settings(max_examples=20, deadline=None)
@given(st.integers(1, 300), st.integers(0, 300), st.integers(0, 2**32))
def test_those_who_were_there_stay_as_they_were(size: int, more: int, seed: int) -> None:
    small, large = people(ALONE, size, seed), people(ALONE, size + more, seed)
    assert [small.person(i) for i in range(size)] == [large.person(i) for i in range(size)]
    assert small.persona(0) == large.persona(0)


def test_another_attribute_changes_none_of_the_others() -> None:
    before, after = people(ALONE), people(shares("pet", 'draw = "random"', cat=0.5, dog=0.5) + ALONE)
    assert all(before.person(i).items() <= after.person(i).items() for i in range(1000))
