import pytest

from engine.population.persona.languages import LITTLE_WORDS, is_in

TEXTS = {
    "en": "Anna is a nurse in Leeds. She works at night and likes to play chess with her two sons.",
    "de": "Anna ist eine Schwester in Leeds. Sie arbeitet nachts und spielt gern Schach mit den Söhnen.",
    "fr": "Anna est une infirmière de Leeds. Elle travaille la nuit et joue aux échecs avec ses deux fils.",
    "es": "Ana es una enfermera de Leeds. Trabaja de noche y juega al ajedrez con sus dos hijos.",
    "it": "Anna è una infermiera di Leeds. Lavora di notte e gioca a scacchi con i suoi due figli.",
    "nl": "Anna is een verpleegster in Leeds. Zij werkt in de nacht en speelt op zondag met haar zonen.",
    "pt": "Ana é uma enfermeira de Leeds. Trabalha à noite e joga xadrez com os seus dois filhos.",
}


@pytest.mark.parametrize("written", TEXTS)
def test_each_language_is_told_from_the_others(written: str) -> None:
    assert [language for language in LITTLE_WORDS if is_in(language, TEXTS[written])] == [written]


@pytest.mark.parametrize(
    "text", ["", "12345 !!!", "安娜是利兹的护士。", "Xylophone quartz jumping vexed wizard blob"]
)
def test_other_text_is_in_none(text: str) -> None:
    assert [language for language in LITTLE_WORDS if is_in(language, text)] == []
