import ast
import time
from contextlib import suppress
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.population import evaluate
from engine.population.column import Numeric, categorical
from engine.population.expression import MAX_CHARS, read
from engine.population.faults import BadExpression
from engine.population.functions import FUNCTIONS, Frame

DAYS = [0, 1000, 11016, -500]
COLUMNS = {
    "age": Numeric(np.array([10, 20, 30, 70]), "integer"),
    "job": categorical(np.array([0, 1, 1, 0]), ["none", "doctor"]),
    "town": categorical(np.array([0, 1, 2, 0]), ["doctor", "none", "york"]),
    "born": Numeric(np.array(DAYS), "date"),
    "rich": Numeric(np.array([True, False, True, False]), "boolean"),
}
FRAME = Frame(4, np.array([0, 2]))


def values(text: str, kind: str | None = None) -> list[object]:
    return evaluate.column(read(text), COLUMNS, FRAME, kind).values()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age * 2 + 1", [21, 41, 61, 141]),
        ("-age // 3 % 4", [0, 1, 2, 0]),
        ("age / 4 if rich else 0", [2.5, 0, 7.5, 0]),
        ("1 / (age - 10) if age > 10 else -1", [-1, 0.1, 0.05, 1 / 60]),
        ("10 < age <= 30", [False, True, True, False]),
        ("not rich and (age < 15 or job == 'doctor')", [False, True, False, False]),
        ("job != 'doctor'", [True, False, False, True]),
        ("job == town", [False, False, False, False]),
        ("age in (10, 70)", [True, False, False, True]),
        ("job not in ['doctor', 'none']", [False] * 4),
        ("'old' if age >= 65 else job", ["none", "doctor", "doctor", "old"]),
        ("case(age < 18, 'child', age < 65, 'adult', 'old')", ["child", "adult", "adult", "old"]),
        ("band(age, 18, 65)", ["under 18", "18-64", "18-64", "65+"]),
        ("band(age, 10, 11, 20)", ["10", "20+", "20+", "20+"]),
        ("max(age, 25, 1)", [25, 25, 30, 70]),
        ("min(age, 25)", [10, 20, 25, 25]),
        ("round(age / 3, 1)", [3.3, 6.7, 10, 23.3]),
        ("floor(age / 3) + ceil(age / 3) + abs(-age)", [17, 33, 50, 117]),
        ("sqrt(age * age) + log(exp(1))", [11, 21, 31, 71]),
        ("year(born)", [1970, 1972, 2000, 1968]),
        ("month(born)", [1, 9, 2, 8]),
        ("born < date('1990-01-01')", [True, True, False, True]),
        ("household_sum(age)", [30, 30, 100, 100]),
        ("household_mean(age)", [15, 15, 50, 50]),
        ("household_max(age) - household_min(age)", [10, 10, 40, 40]),
        ("household_first(job)", ["none", "none", "doctor", "doctor"]),
        ("household_count(age > 15)", [1, 1, 2, 2]),
        ("'x'", ["x"] * 4),
        ("True", [True] * 4),
        ("3", [3] * 4),
    ],
)
def test_what_expressions_come_to(text: str, expected: list[object]) -> None:
    assert (
        values(text) == pytest.approx(expected)
        if isinstance(expected[0], float)
        else values(text) == expected
    )


@given(st.dates(date(1900, 1, 1), date(2020, 12, 31)), st.dates(date(1900, 1, 1), date(2030, 12, 31)))
def test_age_counts_birthdays(born: date, on: date) -> None:
    columns = {"born": Numeric(np.array([(born - date(1970, 1, 1)).days]), "date")}
    found = evaluate.column(read(f"age(born, '{on}')"), columns, Frame(1), "integer").value(0)
    assert found == on.year - born.year - ((on.month, on.day) < (born.month, born.day))


def test_types_are_kept_or_asked_for() -> None:
    assert values("age + 0", "integer") == [10, 20, 30, 70]
    assert values("born + 1", "date")[0] == date(1970, 1, 2)
    assert values("'7' if rich else '8'", "integer") == [7, 8, 7, 8]
    for text, kind in [
        ("age / 4", "integer"),
        ("age", "boolean"),
        ("rich", "integer"),
        ("job", "real"),
        ("age", "categorical"),
    ]:
        with pytest.raises(BadExpression):
            values(text, kind)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("agee > 3", 'no attribute "agee"; did you mean "age"'),
        ("job == 'docter'", 'did you mean "doctor"'),
        ("foo(3)", 'no function "foo"'),
        ("age / 0", "not finite"),
        ("log(age - 10)", "not finite"),
        ("job + 1", "not a number"),
        ("age and rich", "neither true nor false"),
        ("job < 'x'", "text has no order"),
        ("job == 3", "compared with a number"),
        ("age in rich", "stands a list"),
        ("job in (job,)", "text and numbers alone"),
        ("(1, 2) + 1", "a list"),
        ("max(age)", "takes 2 to 40"),
        ("case(rich, 1, 2, 3)", "case takes"),
        ("band(age, 20, 10)", "go up"),
        ("band(age, age)", "whole numbers"),
        ("round(age, age)", "digits"),
        ("date('2000-13-01')", "not a date"),
        ("year(1e15)", "no date"),
        ("1 if rich", "not an expression"),
        ("", "not an expression"),
        ("age.real", "not part of the language"),
        ("age[0]", "not part of the language"),
        ("age ** 9", "not part of the language"),
        ("1e300", "too large"),
        ("9" * 400, "too large"),
        ("1j", "neither a number nor text"),
        ("None", "neither a number nor text"),
        ("max(*age)", "not part of the language"),
        ("max(age, x=1)", "not part of the language"),
        ("(max)(1, 2)(3)", "not a call"),
    ],
)
def test_what_is_wrong_is_told(text: str, words: str) -> None:
    with pytest.raises(BadExpression, match=words):
        values(text)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "().__class__.__bases__[0].__subclasses__()",
        "open('/etc/passwd')",
        "[x for x in (1, 2)]",
        "lambda: 1",
        "(a := 1)",
        "f'{age}'",
        "'a' * 1000000000",
        "exec('1')",
        "age if (yield) else 1",
        "await age",
    ],
)
def test_nothing_of_python_is_reached(text: str) -> None:
    with pytest.raises(BadExpression):
        values(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 1000 + "1" + ")" * 1000,
        "-" * 1999 + "1",
        "+".join(["1"] * 999),
        "not " * 499 + "rich",
        "1" + "<1" * 999,
        "x" * (MAX_CHARS + 1),
    ],
)
def test_long_and_deep_expressions_are_refused_at_once(text: str) -> None:
    started = time.process_time()
    with pytest.raises(BadExpression):
        read(text)
    assert time.process_time() - started < 1


@given(st.text(max_size=60) | st.text("ageobj()[]{}.,:=<>!+-*/%'\" 019notifelse\n", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read(text)
    except BadExpression:
        return
    assert set(found.calls) <= FUNCTIONS.keys()
    assert not [n for n in ast.walk(found.node) if isinstance(n, ast.Attribute | ast.Subscript | ast.Lambda)]
    with suppress(BadExpression):
        assert len(evaluate.column(found, COLUMNS, FRAME, None)) == 4
