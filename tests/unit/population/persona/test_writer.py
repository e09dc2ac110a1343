"""Personas written by stand-ins for a model: good ones, liars, parrots and rubbish."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.population.faults import PopulationError
from engine.population.people import People
from engine.population.persona.cache import FileCache, NoCache
from engine.population.persona.diversity import diversity
from engine.population.persona.settings import Writer
from engine.population.persona.writer import Ask, PersonaWriter
from engine.population.streams import stream
from tests.fakes.populations import people, shares

TEXT = shares("job", nurse=0.5, cook=0.5) + '[persona]\ntemplate = "You are a {{ job }}."\n'
SETTINGS = Writer(prompt="Tell of a {{ job }}.", names=("job",), min_words=5, max_words=60, retries=2)
WORDS = [
    "quiet",
    "loud",
    "tall",
    "kind",
    "brave",
    "proud",
    "calm",
    "clever",
    "merry",
    "stern",
    "frank",
    "eager",
    "gentle",
    "witty",
    "bold",
]

Model = Callable[[Ask], str | None]


def job_in(ask: Ask) -> str:
    return "nurse" if "Tell of a nurse" in ask.prompt else "cook"


def good(ask: Ask) -> str:
    """Say what is so, of everybody in words of their own."""
    traits = [
        WORDS[stream(ask.person, i) % len(WORDS)] + str(chr(97 + stream(ask.person, i) % 26))
        for i in range(20)
    ]
    return f"She is a {job_in(ask)} and she is the most {' '.join(traits)} of all."


def written(
    settings: Writer = SETTINGS, model: Model = good, size: int = 20, cache: object = None
) -> PersonaWriter:
    found = PersonaWriter(people(TEXT, size), settings, 1, "m", cache)  # type: ignore[arg-type]
    while not found.done:
        found.reply([(ask.key, model(ask)) for ask in reversed(found.asks())])
    return found


def with_texts(writer: PersonaWriter, size: int = 20) -> People:
    return replace(people(TEXT, size), written=writer.texts())


def test_good_texts_are_taken_as_they_are() -> None:
    found = written()
    assert found.progress.written == found.progress.asked == 20
    assert found.ledger.total() == 0
    of = with_texts(found)
    assert of.persona(3) == good(Ask(b"", 3, f"Tell of a {of.person(3)['job']}"))


def test_the_prompt_says_what_is_known_and_wanted() -> None:
    prompt = PersonaWriter(people(TEXT, 2), SETTINGS, 1, "m").asks()[0].prompt
    assert prompt.startswith("Tell of a ")
    assert "Write 5 to 60 words in English" in prompt
    assert "contradict none of them: job: " in prompt


def test_people_alike_are_asked_for_apart() -> None:
    asks = PersonaWriter(people(TEXT, 20), SETTINGS, 1, "m").asks()
    assert len({ask.key for ask in asks}) == 20
    assert sum("this is number" in ask.prompt for ask in asks) == 18


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("", "empty"),
        ("A nurse, a cook.", "too short"),
        ("the nurse or cook " * 30, "too long"),
        ("She is the most \x1b[2J quiet of all nurse and cook.", "not plain text"),
        ("Sie ist eine nurse und ein cook und mag die Arbeit mit den Leuten sehr.", "other language"),
        ("She is the kindest person in all of the town and likes it.", "fact missing"),
        ("The nurse met the cook, and she is a nurse and he is a cook at the inn.", "contradiction"),
    ],
)
def test_a_bad_text_is_written_again_with_the_reason(bad: str, reason: str) -> None:
    prompts = []

    def model(ask: Ask) -> str:
        prompts.append(ask.prompt)
        return good(ask) if "This text will not do" in ask.prompt else bad

    found = written(model=model)
    assert (found.progress.written, found.progress.asked) == (20, 40)
    assert found.ledger[reason] == 20
    assert found.ledger["fallback"] == 0
    assert "For it " in prompts[-1]


@pytest.mark.parametrize("rubbish", ["blah", "", None, "\0" * 100_000, "the " * 50_000])
def test_a_model_of_rubbish_ends_in_the_template(rubbish: str | None) -> None:
    found = written(model=lambda _: rubbish)
    assert (found.progress.written, found.progress.fallen_back, found.progress.asked) == (0, 20, 60)
    assert found.ledger["fallback"] == 20
    assert with_texts(found).persona(0) in ("You are a nurse.", "You are a cook.")


def test_a_parrot_gets_its_text_taken_once() -> None:
    found = written(
        model=lambda ask: f"She is a {job_in(ask)} and she likes to go for a walk in the park with a dog."
    )
    assert found.progress.written == 2
    assert found.ledger["nearly the same"] == 54
    assert found.ledger["fallback"] == 18


def test_the_order_of_replies_does_not_matter() -> None:
    def model(ask: Ask) -> str:
        return good(replace(ask, person=ask.person // 3)) if "not do" not in ask.prompt else good(ask)

    one = written(model=model)
    other = PersonaWriter(people(TEXT, 20), SETTINGS, 1, "m")
    while not other.done:
        ask = other.asks()[-1]
        other.reply([(ask.key, model(ask))])
    assert [one.texts().text(i) for i in range(20)] == [other.texts().text(i) for i in range(20)]
    assert one.ledger == other.ledger
    assert one.ledger["nearly the same"] > 5


def test_a_second_run_pays_nothing_and_a_larger_one_for_the_new_alone(tmp_path: object) -> None:
    cache = FileCache(tmp_path / "p.db")  # type: ignore[operator]

    def model(ask: Ask) -> str:
        return good(ask) if "not do" in ask.prompt else "bad"

    first = written(model=model, cache=cache)
    second = written(model=model, cache=cache)
    assert (first.progress.asked, first.progress.cached) == (40, 0)
    assert (second.progress.asked, second.progress.cached) == (0, 40)
    assert [first.texts().text(i) for i in range(20)] == [second.texts().text(i) for i in range(20)]
    other_model = PersonaWriter(people(TEXT, 20), SETTINGS, 1, "other", cache)
    assert len(other_model.asks()) == 20
    cache.close()


def test_a_run_that_was_cut_goes_on(tmp_path: object) -> None:
    cache = FileCache(tmp_path / "p.db")  # type: ignore[operator]
    cut = PersonaWriter(people(TEXT, 20), SETTINGS, 1, "m", cache)
    cut.reply([(ask.key, good(ask)) for ask in cut.asks()[:13]])
    assert cut.progress.open == 7
    found = written(cache=cache)
    assert (found.progress.asked, found.progress.cached) == (7, 13)
    cache.close()


def test_a_share_of_the_people_is_written() -> None:
    found = written(Writer(prompt="x {{ job }}", share=0.3, min_words=1), size=400)
    assert 80 < found.progress.people < 160
    personas = [with_texts(found, 400).persona(i) for i in range(400)]
    assert sum(text.startswith("You are") for text in personas) == 400 - found.progress.written


def test_progress_has_an_eta() -> None:
    found = PersonaWriter(people(TEXT, 20), SETTINGS, 1, "m")
    assert found.progress.eta_s(3.0) is None
    found.reply([(ask.key, good(ask)) for ask in found.asks()[:10]])
    assert found.progress.eta_s(3.0) == pytest.approx(3.0)


def test_replies_to_nothing_are_ignored() -> None:
    found = PersonaWriter(people(TEXT, 2), SETTINGS, 1, "m", NoCache())
    key = found.asks()[0].key
    found.reply([(b"unknown", "x"), (key, good(found.asks()[0])), (key, "twice")])
    assert found.progress.open == 1


def test_quotation_marks_around_a_text_are_not_part_of_it() -> None:
    found = written(model=lambda ask: f"```\n{good(ask)}\n```" if ask.person % 2 else f'"{good(ask)}"')
    assert found.progress.written == found.progress.asked == 20
    assert not any((found.texts().text(i) or "")[0] in '`"' for i in range(20))


def test_people_are_taken_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.population.persona.writer.BATCH", 6)
    found = PersonaWriter(people(TEXT, 20), SETTINGS, 1, "m")
    assert len(found.asks()) == 6
    assert written().progress.written == 20


def test_a_prompt_that_fails_for_somebody_is_told() -> None:
    with pytest.raises(PopulationError, match="person 0"):
        PersonaWriter(people(TEXT, 2), Writer(prompt="{{ job + 1 }}"), 1, "m")


def test_a_diversity_report() -> None:
    good_ones = diversity(with_texts(written()), range(20))
    assert good_ones.near_duplicates == 0
    assert good_ones.coverage == {"job": 1}
    same = diversity(people(TEXT, 20), range(20))
    assert same.near_duplicates == 0.9
    assert same.distinct_1 == pytest.approx(5 / 80)
    assert same.distinct_2 == pytest.approx(4 / 60)
    assert same.words == 4


def test_replies_are_judged_as_they_come_in_the_order_of_the_people() -> None:
    found = PersonaWriter(people(TEXT, 20), SETTINGS, 1, "m")
    first, *others = found.asks()
    found.reply([(ask.key, good(ask)) for ask in others])
    assert found.progress.written == 0
    found.reply([(first.key, good(first))])
    assert found.done
    one_by_one = PersonaWriter(people(TEXT, 20), SETTINGS, 1, "m")
    for n, ask in enumerate(one_by_one.asks(), start=1):
        one_by_one.reply([(ask.key, good(ask))])
        assert one_by_one.progress.written == n
    assert one_by_one.written == found.written
