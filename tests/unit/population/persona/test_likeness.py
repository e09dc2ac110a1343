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
    seen.add(7, TEXT)
    assert seen.like(TEXT.upper()) == 7
    assert seen.like(changed(2)) == 7  # 56 of 60 phrases in common
    assert seen.like(changed(26)) is None  # 32 of 84


def test_equal_texts_alone_need_no_library() -> None:
    seen = Likeness(1.0)
    seen.add(1, "A nurse.")
    assert seen.like("a  nurse") == 1
    assert seen.like("a nurse too") is None


def test_the_share_of_near_duplicates() -> None:
    assert near_duplicates([TEXT, changed(30), TEXT, changed(1)], 0.8) == 0.5
    assert near_duplicates([], 0.8) == 0
