from engine.population.persona.likeness import Likeness, near_duplicates, phrases

TEXT = " ".join(f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(60))


def changed(n: int) -> str:
    words = TEXT.split()
    return " ".join([*words[: len(words) - n], *(f"other{chr(97 + i)}" for i in range(n))])


def test_phrases_are_of_three_words() -> None:
    assert phrases("A b, c d!") == {b"a b c", b"b c d"}
    assert phrases("Hello") == {b"hello"}


def test_near_and_far_are_told_apart() -> None:
    seen = Likeness(0.6)
    assert seen.add(7, TEXT)
    assert not seen.add(8, TEXT.upper())
    assert not seen.add(9, changed(2))  # 56 of 60 phrases in common
    assert seen.add(8, changed(26))  # 32 of 84
    assert not seen.add(9, changed(26))


def test_equal_texts_alone_need_no_library() -> None:
    seen = Likeness(1.0)
    assert seen.add(1, "A nurse.")
    assert not seen.add(2, "a  nurse")
    assert seen.add(2, "a nurse too")


def test_the_share_of_near_duplicates() -> None:
    assert near_duplicates([TEXT, changed(30), TEXT, changed(1)], 0.8) == 0.5
    assert near_duplicates([], 0.8) == 0
