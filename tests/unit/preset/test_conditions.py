"""Slices with a condition, as far as the preset tells whether it can be met."""

import pytest

from tests.fakes.presets import GOOD
from tests.unit.preset.conftest import Told

PEOPLE = '[population.attributes.age]\nfrom = "distribution"\ndistribution = "norm"\n'


@pytest.mark.parametrize(
    ("slice_", "expected"),
    [
        ('where = "age >= 65"', None),
        ('where = "age >= 65"\nshare = 0.5', None),
        ("", "slices.1.share: missing (allowed: a share, or where = a condition)"),
        (
            'where = "agee >= 65"',
            'slices.1.where: there is no attribute "agee"; did you mean age? (allowed: "age")',
        ),
        ('where = "age >="', "slices.1.where: "),
        ("where = \"__import__('os').system('true')\"", "slices.1.where: "),
        ('where = ""', "slices.1.where: "),
        ("share = 1.5", "slices.1.share: 1.5 is not allowed"),
    ],
)
def test_conditions(told: Told, slice_: str, expected: str | None) -> None:
    found = told(f'{GOOD}{PEOPLE}[[slices]]\nname = "s"\n{slice_}\n')
    if expected is None:
        assert found == []
    else:
        assert len(found) == 1
        assert expected in found[0]


def test_shares_of_those_who_fit_are_not_added_up(told: Told) -> None:
    parts = "".join(f'[[slices]]\nname = "s{i}"\nshare = 0.6\nwhere = "age > {i}"\n' for i in range(3))
    assert told(GOOD + PEOPLE + parts) == []
