from datetime import date

import numpy as np
import pytest

from engine.population.column import Numeric, categorical, coded, from_labels, label, parsed


def test_dates_are_days_inside_and_dates_outside() -> None:
    column = from_labels(np.array([1, 0]), ["1970-01-02", "2024-12-31"], "date")
    assert column.values() == [date(2024, 12, 31), date(1970, 1, 2)]
    assert column.value(1) == date(1970, 1, 2)


@pytest.mark.parametrize(
    ("labels", "kind", "expected"),
    [
        (["true", "FALSE"], "boolean", [True, False]),
        (["-3", "18"], "integer", [-3, 18]),
        (["0.5", "1e3"], "real", [0.5, 1000.0]),
        (["a", "b"], "categorical", ["a", "b"]),
    ],
)
def test_labels_become_values(labels: list[str], kind: str, expected: list[object]) -> None:
    assert from_labels(np.array([0, 1]), labels, kind).values() == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1.5", "integer"),
        ("nan", "real"),
        ("inf", "real"),
        ("9" * 50, "integer"),
        ("2024-13-01", "date"),
        ("yes", "boolean"),
        ("", "real"),
    ],
)
def test_what_is_no_value_is_refused(text: str, kind: str) -> None:
    with pytest.raises(ValueError, match=r"is not|finite"):
        parsed(text, kind)


@pytest.mark.parametrize(
    ("values", "kind", "dtype"),
    [
        ([0, 100], "integer", "int8"),
        ([-200, 100], "integer", "int16"),
        ([0, 20_000], "date", "int16"),
        ([2**40], "integer", "int64"),
    ],
)
def test_columns_are_compact(values: list[int], kind: str, dtype: str) -> None:
    column = Numeric(np.array(values), kind).compact()
    assert column.array.dtype == dtype
    assert column.array.tolist() == values


def test_many_categories_need_wider_codes() -> None:
    assert categorical(np.arange(256), [str(i) for i in range(256)]).codes.dtype == np.uint8
    assert categorical(np.arange(257), [str(i) for i in range(257)]).codes.dtype == np.uint16


def test_numbers_are_coded_by_their_labels() -> None:
    codes, labels = coded(Numeric(np.array([30, 18, 30]), "integer"))
    assert [labels[c] for c in codes] == ["30", "18", "30"]
    assert coded(Numeric(np.array([True, False]), "boolean"))[1] == ("false", "true")
    assert label(18.0) == "18"
