from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.population.faults import BadTemplate
from engine.population.template import FILTERS, Template

VALUES = {"age": 30, "job": "engineer", "pay": 12500.0, "born": date(1980, 3, 7), "rich": True}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You are {{ age }}, {{ job|article }}.", "You are 30, an engineer."),
        ("{{ pay|thousands }} {{ pay|round }} {{ (pay / 7)|round(2) }}", "12,500 12500 1785.71"),
        (
            "{{ born|long_date }} {{ job|title }} {{ job|upper }} {{ 'doctor'|article }}",
            "7 March 1980 Engineer ENGINEER a doctor",
        ),
        ("{{ 11|article }} {{ 8|article }} {{ 81|article }} {{ 12|article }}", "an 11 an 8 an 81 a 12"),
        ("{% if rich and age > 18 %}rich{% else %}poor{% endif %} {{ 'a' if age == 30 else 'b' }}", "rich a"),
        (
            "{{ age + 1 }} {{ age * 2 % 7 }} {{ job ~ age }} {{ -age }} {{ not rich }}",
            "31 4 engineer30 -30 False",
        ),
        ("{% if job in ('engineer', 'cook') %}x{% endif %}", "x"),
    ],
)
def test_templates_give_text(text: str, expected: str) -> None:
    assert Template(text).render(VALUES) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{% for x in range(99999999) %}x{% endfor %}",
        "{{ range(99999999) }}",
        "{{ ''.__class__ }}",
        "{{ job.upper() }}",
        "{{ job['x'] }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{% extends 'x' %}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% set a = 'x' %}{% set a = a ~ a %}",
        "{{ 'x' ** 9 }}",
        "{{ 9 ** 9999999 }}",
        "{{ job|center(1000000000) }}",
        "{{ job|format }}",
        "{{ job|attr('__class__') }}",
        "{{ self }}",
        "{{ cycler }}",
        "{% filter upper %}x{% endfilter %}",
        "{{ age",
        "{% if %}",
        "{{ age is even }}",
        "{{" + "(" * 9000 + "1",
        "{{ " + "1+" * 9000 + "1 }}",
        "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    ],
)
def test_what_templates_may_not_do(text: str) -> None:
    with pytest.raises(BadTemplate):
        Template(text).render({})


@pytest.mark.parametrize(
    "text",
    [
        "{{ 'x' * 1000000000 }}",
        "{{ '%999999999d' % 1 }}",
        "{{ job + job }}",
        "{{ age|round(-999999999) }}",
        "{{ unknown }}",
        "{{ 1 / 0 }}",
        "{{ [1] * 1000000000 }}",
    ],
)
def test_what_fails_when_rendered_is_told(text: str) -> None:
    with pytest.raises(BadTemplate):
        Template(text).render(VALUES)


def test_names_are_those_of_attributes() -> None:
    assert Template("{{ age }} {% if rich %}{{ job|upper }}{% endif %}").names == {"age", "rich", "job"}


def test_a_result_is_bounded() -> None:
    with pytest.raises(BadTemplate, match="more than"):
        Template("{{ job }}" * 100).render({"job": "x" * 1000})


@given(st.text(max_size=40) | st.text("{}%|'\"ageijob ()[]~*+-/=<>.forndset", max_size=40))
def test_any_text_is_a_template_or_refused(text: str) -> None:
    with suppress(BadTemplate):
        assert len(Template(text).render(VALUES)) <= 1000
    assert "center" not in FILTERS


@pytest.mark.parametrize(
    ("template", "value", "text"),
    [
        ("{{ x }}", 43.19284756, "43"),
        ("{{ x }}", 8.123456, "8.12"),
        ("{{ x }}", 0.0012345, "0.00123"),
        ("{{ x }}", 9.999, "10"),
        ("{{ x }}", -12345.6, "-12346"),
        ("{{ x }}", 7, "7"),
        ("{{ x|round(1) }}", 43.19284756, "43.2"),
        ("{{ x|round(2) }}", 1234.5, "1234.5"),
        ("{{ x|round }}", 43.6, "44"),
        ("{{ x|thousands }}", 12345.678, "12,346"),
        ("{{ x|thousands }}", 12345, "12,345"),
        ("{{ 'old' if x > 43.1 else 'young' }}", 43.19, "old"),
    ],
)
def test_numbers_are_written_as_people_do(template: str, value: float, text: str) -> None:
    assert Template(template).render({"x": value}) == text
