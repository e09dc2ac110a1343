import msgspec

from engine.preset.docstrings import meanings


class Base(msgspec.Struct):
    a: int = 1
    """About a."""
    b: int = 2
    c: int = 3
    """About c,
    on two lines."""


class Derived(Base):
    a: int = 4
    """Something else."""
    d: int = 5
    """About d."""

    def method(self) -> None:
        """Not a field."""


def test_the_string_below_a_field_is_its_meaning() -> None:
    assert meanings(Base) == {"a": "About a.", "c": "About c, on two lines."}


def test_meanings_are_inherited() -> None:
    assert meanings(Derived) == {"a": "Something else.", "c": "About c, on two lines.", "d": "About d."}


def test_without_sources_there_are_no_meanings() -> None:
    assert meanings(msgspec.defstruct("Struct", [("a", int)])) == {}
