from hypothesis import given
from hypothesis import strategies as st

from engine.population.persona.texts import Texts


@given(st.dictionaries(st.integers(0, 9), st.text(min_size=1, max_size=5).filter(lambda t: t.isprintable())))
def test_texts_come_back(texts: dict[int, str]) -> None:
    found = Texts(10, texts.items())
    assert len(found) == 10
    assert {i: found.text(i) for i in range(10) if found.text(i)} == texts
