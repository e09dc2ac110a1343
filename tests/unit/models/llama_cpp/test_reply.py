"""Replies over a vocabulary of bytes: token n stands for byte n, token 256 ends a reply."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.answers import MARK, Number, Text

pytest.importorskip("llama_cpp")
from engine.models.llama_cpp.reply import Reply, reasoning_tokens, reply_tokens
from engine.models.protocol import Finish, Form, Sampling

END = 256


class Bytes:
    """Stands for a model."""

    ends = frozenset([END])

    def piece(self, token: int) -> bytes:
        return bytes([token]) if token < END else b""

    def tokenize(self, text: str) -> np.ndarray:
        return np.frombuffer(text.encode(), np.uint8).astype(np.int32)


class Digits:
    """Stands for a constraint: one or two digits, the second after a forced point."""

    def __init__(self, written: str = "") -> None:
        self.written = written

    def copy(self) -> Digits:
        return Digits(self.written)

    @property
    def complete(self) -> bool:
        return len(self.written) == 3

    def allowed(self) -> Any:
        return np.arange(48, 58)

    def forced(self) -> list[int]:
        return [ord(".")] if len(self.written) == 1 else []

    def accept(self, token: int) -> None:
        self.written += chr(token)
        assert re.fullmatch(r"\d(\.\d?)?", self.written)


class Forms:
    """Stands for the forms of a model."""

    def begin(self, answer: Any) -> Digits | None:
        return None if isinstance(answer, Text) else Digits()


def reply(answer: Any = None, limit: int = 1000, stop: tuple[str, ...] = ()) -> Any:
    form = Form(answer or Text(), Sampling(stop=stop))
    return Reply(form, Forms(), Bytes(), limit)  # type: ignore[arg-type]


def written(some: Any, data: bytes) -> Any:
    for byte in data:
        if some.finish is None:
            some.push(byte)
    return some


@given(st.binary(max_size=30))
def test_text_is_valid_whatever_bytes_the_model_writes(data):
    text = written(reply(), data).text
    text.encode()


@given(st.text(max_size=10), st.integers(1, 40))
def test_a_character_cut_in_the_middle_is_left_out(text, limit):
    cut = written(reply(limit=limit), text.encode())
    assert text.startswith(cut.text)
    assert cut.finish is (Finish.LENGTH if len(text.encode()) >= limit else None)


def test_broken_bytes_become_replacement_characters():
    assert written(reply(), b"a\xff\xc3b\xed\xa0\x80").text == "a�" + "�b" + "���"


def test_free_text_ends_with_the_end_token():
    done = written(reply(), b"Hi")
    done.push(END)
    assert (done.text, done.finish) == ("Hi", Finish.STOP)


def test_a_stop_text_ends_the_reply_and_is_left_out():
    done = written(reply(stop=("", "END", "\n")), b"one END two")
    assert (done.text, done.finish) == ("one ", Finish.STOP)


def test_forced_tokens_need_no_draw():
    done = written(reply(Number(0, 9.9, 1)), b"47")
    assert (done.text, done.finish, len(done.tokens)) == ("4.7", Finish.STOP, 3)


def test_the_mark_begins_the_answer():
    answer = Number(0, 9.9, 1, reasoning=100)
    done = written(reply(answer), f"I think 3. {MARK}".encode())
    assert done.finish is None
    written(done, b"55")
    assert (done.text, done.finish) == (f"I think 3. {MARK}5.5", Finish.STOP)


@pytest.mark.parametrize("reason", ["stops", "has no tokens left", "writes a stop text"])
def test_the_mark_is_put_when_the_model_does_not_write_it(reason):
    answer = Number(0, 9.9, 1, reasoning=5)
    some = written(
        reply(answer, stop=("!",)), b"hmm" + {"has no tokens left": b"mm", "stops": b""}.get(reason, b"!")
    )
    if reason == "stops":
        some.push(END)
    done = written(some, b"12")
    assert re.fullmatch(rf"hmm+\n{MARK}1\.2", done.text)
    assert done.finish is Finish.STOP


def test_a_copy_goes_its_own_way():
    one = written(reply(Number(0, 9.9, 1)), b"1")
    other = one.copy()
    written(one, b"2")
    written(other, b"3")
    assert (one.text, other.text) == ("1.2", "1.3")


@given(st.integers(1, 600), st.integers(1, 600))
def test_reasoning_leaves_room_for_the_answer(reasoning, limit):
    answer = Number(0, 100, reasoning=reasoning)
    left = limit - reasoning_tokens(answer, limit)
    assert left >= len(MARK) + 5 or limit < len(MARK) + 7
    assert reply_tokens(Form(answer, Sampling(max_tokens=limit))) <= limit
