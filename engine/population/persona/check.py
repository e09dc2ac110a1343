"""What is wrong with the settings of personas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.population.faults import BadTemplate, Fault, unknown
from engine.population.persona.settings import Persona, Writer
from engine.population.template import Template

PATH = ("persona", "writer")


def persona_faults(settings: Persona, known: Sequence[str]) -> Iterator[Fault]:
    """Yield what is wrong with the personas of people of whom some attributes are known."""
    yield from template_faults(settings.template, known, ("persona", "template"))
    if settings.writer:
        yield from template_faults(settings.writer.prompt, known, (*PATH, "prompt"))
        yield from _writer_faults(settings.writer, known)


def template_faults(text: str, known: Sequence[str], path: tuple[str, ...]) -> Iterator[Fault]:
    """Yield what is wrong with a template over attributes."""
    try:
        template = Template(text)
    except BadTemplate as error:
        yield Fault(path, str(error))
        return
    for name in sorted(template.names.difference(known)):
        yield unknown(path, name, known)


def _writer_faults(settings: Writer, known: Sequence[str]) -> Iterator[Fault]:
    if settings.min_words > settings.max_words:
        what = f"{settings.min_words} words at least and {settings.max_words} at most"
        yield Fault((*PATH, "min_words"), what, "min_words not above max_words")
    for name in settings.names:
        if name not in known:
            yield unknown((*PATH, "names"), name, known)
    for key, given in (("age", settings.age), ("gender", settings.gender)):
        if given is not None and given not in known:
            yield unknown((*PATH, key), given, known)
        elif given is not None and settings.language != "en":
            yield Fault((*PATH, key), "this is checked in English texts alone", 'language = "en"')
