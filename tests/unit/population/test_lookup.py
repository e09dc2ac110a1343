import numpy as np
import pytest

from engine.population.column import Numeric, categorical
from engine.population.faults import PopulationError
from engine.population.lookup import rows_of_people

COLUMNS = {
    "edu": categorical(np.array([0, 1, 0, 1]), ["low", "high"]),
    "age": Numeric(np.array([17, 18, 40, 70]), "integer"),
    "rich": Numeric(np.array([True, True, False, False]), "boolean"),
    "height": Numeric(np.array([1.5, 1.6, 1.7, 1.8]), "real"),
}


def rows(given: list[str], *keys: list[object]) -> list[int]:
    return rows_of_people(given, keys, COLUMNS, ("here",)).tolist()


def test_the_first_row_that_fits_counts() -> None:
    assert rows(["edu"], ["low"], ["*"]) == [0, 1, 0, 1]
    assert rows(["edu", "rich"], ["low", True], ["*", "true"], ["*", "*"]) == [0, 1, 2, 2]


def test_ranges_of_whole_numbers() -> None:
    assert rows(["age"], [17], ["18-69"], ["70+"]) == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("given", "keys", "words"),
    [
        (["edu"], [["low"]], r'no row is for "high" \(edu\): 2 people'),
        (["edu", "rich"], [["low", "*"], ["high", True]], r'"high with false" \(edu, rich\): 1 people'),
        (["edu"], [["lo"], ["*"]], 'row 1: "lo" is no category of "edu"; did you mean "low"'),
        (["age"], [["young"], ["*"]], 'row 1: "young" is no value of "age"'),
        (["height"], [["*"]], "real number"),
    ],
)
def test_what_does_not_fit_is_told(given: list[str], keys: list[list[object]], words: str) -> None:
    with pytest.raises(PopulationError, match=words):
        rows(given, *keys)
