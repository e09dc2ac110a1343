"""What settings tell to be wrong before anything is drawn."""

import pytest

from engine.population.check import faults
from tests.fakes.populations import settings, shares

AGE = '[attributes.age]\nfrom = "distribution"\ndistribution = "norm"\ntype = "integer"\n'
EDU = shares("edu", low=0.5, high=0.5)


def table(rows: str, given: str = '"edu"', more: str = "") -> str:
    head = f'[attributes.job]\nfrom = "table"\ngiven = [{given}]\ncolumns = ["a", "b"]\n'
    return f"{head}rows = [{rows}]\n{more}\n"


def expression(text: str, name: str = "x", more: str = "") -> str:
    return f'[attributes.{name}]\nfrom = "expression"\nexpression = "{text}"\n{more}\n'


def told(text: str) -> list[tuple[str, str]]:
    return [(".".join(fault.path), fault.what) for fault in faults(settings(text))]


@pytest.mark.parametrize(
    ("text", "path", "what"),
    [
        (shares("x", a=0.3, b=0.6), "attributes.x.shares", "the shares add up to 0.9, 0.1 below 1"),
        (shares("x", 'type = "integer"', a=1), "attributes.x.shares", "'a' is not a whole number"),
        (
            '[attributes.x]\nfrom = "shares"\nshares = { "" = 1 }',
            "attributes.x.shares",
            "a category has no name",
        ),
        (shares("class", a=1), "attributes.class", '"class" cannot be the name of an attribute'),
        (shares("member", a=1), "attributes.member", '"member" cannot be the name of an attribute'),
        (
            '[attributes."a b"]\nfrom = "text"\ntemplate = "x"',
            "attributes.a b",
            '"a b" cannot be the name of an attribute',
        ),
        (
            AGE.replace("norm", "nrm"),
            "attributes.age.parameters",
            'scipy.stats has no distribution "nrm"; did you mean "norm"?',
        ),
        (EDU + table('["low", 1, 0]', '"edo"'), "attributes.job.given", 'there is no attribute "edo"'),
        (
            EDU + table('["lo", 1, 0], ["*", 1, 0]'),
            "attributes.job.rows",
            'row 1: "lo" is no category of "edu"; did you mean "low"?',
        ),
        (EDU + table('["*", 1, 0, 0]'), "attributes.job.rows", "row 1 is not a row of this table"),
        (EDU + table('["*", 1, "x"]'), "attributes.job.rows", "row 1 is not a row of this table"),
        (EDU + table('["*", 1, true]'), "attributes.job.rows", "row 1 is not a row of this table"),
        (EDU + table('["*", 1.5, -0.5]'), "attributes.job.rows", "row 1 has a share below 0"),
        (
            EDU + table('["*", 0.5, 0.4]'),
            "attributes.job.rows",
            "row 1: the shares add up to 0.9, 0.1 below 1",
        ),
        (
            EDU + table('["*", 0.5, 0.5]', more='type = "date"'),
            "attributes.job.columns",
            "'a' is not a date such as 2024-12-31",
        ),
        (
            EDU + table('["*", 1, 2]', more='distribution = "norm"'),
            "attributes.job.rows",
            "norm takes loc, scale",
        ),
        (
            EDU
            + table('["*", 1, 2]', more='distribution = "norm"\ntype = "boolean"').replace(
                '"a", "b"', '"loc", "scale"'
            ),
            "attributes.job.type",
            "a distribution gives numbers or dates",
        ),
        (expression("1 +"), "attributes.x.expression", "not an expression"),
        (EDU + expression("edo"), "attributes.x.expression", 'there is no attribute "edo"'),
        (
            expression("y", "x") + expression("x", "y"),
            "attributes",
            'attributes need one another in a circle: "x", "y", "x"',
        ),
        (expression("x", "x"), "attributes", 'attributes need one another in a circle: "x", "x"'),
        (
            '[attributes.x]\nfrom = "text"\ntemplate = "{{ y }}"',
            "attributes.x.template",
            'there is no attribute "y"',
        ),
        (
            '[attributes.x]\nfrom = "text"\ntemplate = "{{ x }}"',
            "attributes.x.template",
            'there is no attribute "x"',
        ),
        ('[persona]\ntemplate = "{{ y }}"', "persona.template", 'there is no attribute "y"'),
        (
            '[persona]\ntemplate = "x"\n[persona.writer]\nprompt = "{{ y }}"',
            "persona.writer.prompt",
            'there is no attribute "y"',
        ),
        (
            '[persona]\ntemplate = "x"\n[persona.writer]\nprompt = "x"\nnames = ["y"]',
            "persona.writer.names",
            'there is no attribute "y"',
        ),
        (
            '[persona]\ntemplate = "x"\n[persona.writer]\nprompt = "x"\nage = "y"',
            "persona.writer.age",
            'there is no attribute "y"',
        ),
        (
            AGE + '[persona]\ntemplate = "x"\n[persona.writer]\nprompt = "x"\nage = "age"\nlanguage = "de"',
            "persona.writer.age",
            "this is checked in English texts alone",
        ),
        (
            '[persona]\ntemplate = "x"\n[persona.writer]\nprompt = "x"\nmin_words = 90\nmax_words = 80',
            "persona.writer.min_words",
            "90 words at least and 80 at most",
        ),
        ('[attributes.x]\nfrom = "microdata"', "attributes.x.from", "there are no microdata"),
        ('[microdata]\nfile = "x"', "microdata", "no attribute is taken from it"),
        (
            '[attributes.x]\nfrom = "tables"',
            "attributes.x.from",
            "no table of [[population.tables]] has this attribute",
        ),
        (
            EDU + '[[tables]]\nattributes = ["edu"]\nrows = [["low", 1]]',
            "tables.1.attributes",
            '"edu" is drawn in another way already',
        ),
        (
            EDU + expression("edu == 'low'") + '[[tables]]\nattributes = ["x"]\nrows = [[true, 1]]',
            "tables.1.attributes",
            '"x" is computed, from "edu" too',
        ),
        (
            '[attributes.x]\nfrom = "microdata"\n[microdata]\nfile = "f"\ndraw = "all"\n'
            '[[tables]]\nattributes = ["x"]\nrows = [["a", 1]]',
            "microdata.draw",
            'every record is taken once, so that tables about "x" have no say',
        ),
        ('[households]\nsizes = { "0" = 1 }', "households.sizes", '"0" is not a size of a household'),
        ('[households]\nsizes = { "1" = 0.4 }', "households.sizes", "the shares add up to 0.4, 0.6 below 1"),
        (shares("x", 'per = "household"', a=1), "attributes.x.per", "there are no households"),
        (
            '[households]\nsizes = { "1" = 1 }\n' + EDU + table('["*", 1, 0]', more='per = "household"'),
            "attributes.job.per",
            'what households have cannot depend on "edu", which persons have',
        ),
        (
            '[networks.n]\nkind = "groups"\nattributes = ["age"]',
            "networks.n",
            'there is no attribute "age"',
        ),
        (
            '[networks.n]\nkind = "small_world"\nneighbours = 3',
            "networks.n.neighbours",
            "3 neighbours are not possible among 1,000",
        ),
        (
            '[networks.n]\nkind = "preferential"\nties = 1000',
            "networks.n.ties",
            "1000 ties are not possible among 1,000",
        ),
        (
            '[networks.n]\nkind = "random"\nmean_degree = 1000',
            "networks.n.mean_degree",
            "1000 neighbours are not possible among 1,000",
        ),
        (
            '[networks."a b"]\nkind = "random"\nmean_degree = 1',
            "networks.a b",
            '"a b" cannot be the name of a network',
        ),
        ('[[constraints]]\nrequire = "age > 3"', "constraints.1.require", 'there is no attribute "age"'),
        ('[[constraints]]\nrequire = "1 +"', "constraints.1.require", "not an expression"),
    ],
)
def test_what_is_wrong_is_told_where_it_stands(text: str, path: str, what: str) -> None:
    assert told(text) == [(path, what)]


def test_everything_is_told_at_once() -> None:
    text = shares("x", a=0.3) + AGE.replace("norm", "nrm") + '[[constraints]]\nrequire = "z"'
    assert [path for path, _ in told(text)] == [
        "attributes.x.shares",
        "attributes.age.parameters",
        "constraints.1.require",
    ]


def test_nothing_is_wrong_with_a_population_that_has_everything() -> None:
    text = AGE + EDU + table('["low", 0.5, 0.5], ["high", 0, 1]') + expression("age > 3 and job == 'a'")
    text += (
        "[attributes.line]\n"
        'from = "text"\n'
        'template = "{{ age }}"\n'
        "[persona]\n"
        'template = "{{ line }} {{ household_size }}"\n'
    )
    text += (
        "[households]\n"
        'sizes = { "1" = 0.5, "2" = 0.5 }\n'
        "[[constraints]]\n"
        'require = "household_max(age) > 3"\n'
    )
    assert told(text) == []
