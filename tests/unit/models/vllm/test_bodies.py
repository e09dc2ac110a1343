import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelError
from engine.models.answers import Number, Text
from engine.models.protocol import Catalogue, Form, Message, RequestBatch, Sampling
from engine.models.vllm.bodies import Bodies, checked_extra
from engine.models.vllm.features import Features, Structure

RULES = (Message("system", 'Rules: "be\nbrief"'),)
ASKED = (Message("user", "Your number?"),)


@pytest.fixture
def catalogue() -> Catalogue:
    catalogue = Catalogue()
    forms = {8: Form(Text(), Sampling(max_tokens=9)), 9: Form(Number(5, 3), Sampling())}
    catalogue.learn(RequestBatch([], {1: RULES, 2: ()}, forms))
    return catalogue


def test_a_request_holds_the_whole_conversation_and_what_the_server_takes(catalogue):
    able = Features(model="m", seed=True, priority=True)
    body = json.loads(Bodies(able, catalogue, {}).write(1, 8, ASKED, seed=5, n=3, priority=2))
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": 'Rules: "be\nbrief"'},
            {"role": "user", "content": "Your number?"},
        ],
        "seed": 5,
        "n": 3,
        "priority": 2,
        "temperature": 1.0,
        "max_tokens": 9,
    }
    plain = json.loads(Bodies(Features(model="m"), catalogue, {}).write(2, 8, ASKED, seed=5, priority=2))
    assert set(plain) == {"model", "messages", "temperature", "max_tokens"}
    assert len(plain["messages"]) == 1


def test_a_second_part_ends_with_the_reply_so_far(catalogue):
    forms = {7: Form(Number(0, 9, reasoning=9), Sampling())}
    catalogue.learn(RequestBatch([], {}, forms))
    able = Features(structure=Structure.STRUCTURED_OUTPUTS, resumes=True)
    body = json.loads(Bodies(able, catalogue, {}).write(1, 7, ASKED, begun="Hm.\nANSWER:"))
    assert body["messages"][-1] == {"role": "assistant", "content": "Hm.\nANSWER:"}
    assert body["continue_final_message"] is True


def test_the_presets_own_fields_go_along_but_decide_nothing_that_is_decided(catalogue):
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "temperature": 9}
    body = json.loads(Bodies(Features(), catalogue, extra).write(1, 8, ASKED))
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["temperature"] == 1.0
    with pytest.raises(ModelError, match="n, stream"):
        checked_extra({"stream": True, "n": 2, "user": "x"})


def test_an_impossible_form_is_an_error(catalogue):
    able = Features(structure=Structure.STRUCTURED_OUTPUTS)
    with pytest.raises(ModelError):
        Bodies(able, catalogue, {}).write(1, 9, ASKED)


@given(st.text(), st.integers(0, 2**31 - 1))
def test_any_text_survives(text, seed):
    catalogue = Catalogue()
    catalogue.learn(RequestBatch([], {1: ()}, {8: Form(Text(), Sampling())}))
    bodies = Bodies(Features(seed=True), catalogue, {})
    try:
        body = bodies.write(1, 8, (Message("user", text),), seed=seed)
    except (msgspec.MsgspecError, UnicodeError):
        assert any("\ud800" <= c <= "\udfff" for c in text)  # no text from a link has these
    else:
        assert json.loads(body)["messages"][0]["content"] == text
        assert json.loads(body)["seed"] == seed
