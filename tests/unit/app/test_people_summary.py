"""What is said of a run's people when it is over."""

import io

from rich.console import Console

from app.people_summary import as_builtins, print_people
from engine.cluster.control import PeopleReport, WritingReport
from engine.population.persona.diversity import Diversity

DIVERSITY = Diversity(1000, 54.4, 0.021, 0.25, 0.03, 0.8, {"job\x1b[2J": 1.0, "age": 0.981})
WRITING = WritingReport("author", 1000, 990, 10, 1100, 50, 75.0, {"too short": 3, "nearly the same": 12})


def printed(people: PeopleReport) -> list[str]:
    page = io.StringIO()
    print_people(Console(file=page, width=80, markup=False, highlight=False), people)
    return page.getvalue().splitlines()


def test_only_what_there_is_is_told() -> None:
    assert printed(PeopleReport(9, 1, 2)) == ["People: 9 with 1 attribute"]


def test_everything_is_told() -> None:
    found = printed(PeopleReport(12_000, 6, 4, 9876, 0.031, WRITING, DIVERSITY))
    assert found == [
        "People: 12,000 with 6 attributes; 3.1 % of their 9,876 ties lead to another of the 4 workers",
        "Personas: 990 of 1,000 written by author, 10 from the template; 1,100 requests, 50 replies known "
        "before, 1 min 15 s",
        "Texts not taken: 12 nearly the same, 3 too short",
        "Variety of 1,000 personas: 54 words each, 2.1 % of the words and 25 % of the pairs different, "
        "3 % nearly the same as another",
        "Personas that name their attributes: job\\x1b[2J 100 %, age 98 %",
    ]


def test_json_has_the_same() -> None:
    assert as_builtins(None) is None
    found = as_builtins(PeopleReport(9, 1, 2, 5, 0.2, WRITING, DIVERSITY))
    assert found is not None
    assert (found["crossing"], found["writing"]["written"], found["diversity"]["texts"]) == (0.2, 990, 1000)
