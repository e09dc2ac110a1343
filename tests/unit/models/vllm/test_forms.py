import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelError
from engine.models.answer_list import List
from engine.models.answers import MARK, Choice, JsonSchema, Number, Text
from engine.models.protocol import Finish, Form, Sampling
from engine.models.vllm.features import Features, Structure
from engine.models.vllm.forms import JSON_TOKENS, first_part, second_part, unfinished

VLLM = Features(structure=Structure.STRUCTURED_OUTPUTS, resumes=True, extended=True)
OLD = Features(structure=Structure.GUIDED)
OPENAI = Features(structure=Structure.JSON_SCHEMA)
PLAIN = Features()
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
WARM = Sampling(temperature=0.5, max_tokens=100)


def first(answer, features, sampling=WARM):
    return first_part(Form(answer, sampling), features)


def test_free_text_is_limited_and_nothing_else():
    part = first(Text(), VLLM, Sampling(0.5, 0.9, 40, 0.1, 100, ("END",)))
    assert part.fields == {
        "temperature": 0.5,
        "max_tokens": 100,
        "top_p": 0.9,
        "top_k": 40,
        "min_p": 0.1,
        "stop": ["END"],
    }
    assert first(Text(), VLLM).fields == {"temperature": 0.5, "max_tokens": 100}
    assert not part.may_go_on


def test_the_limit_goes_by_the_name_that_the_server_knows():
    newer = Features(limit_field="max_completion_tokens")
    assert first(Text(), newer).fields == {"temperature": 0.5, "max_completion_tokens": 100}


def test_vllm_is_given_patterns_choices_and_schemas():
    number = first(Number(0, 100), VLLM).fields
    assert re.fullmatch(number["structured_outputs"]["regex"], "100")
    assert number["max_tokens"] < 20
    assert first(Choice(("a", "b")), VLLM).fields["structured_outputs"] == {"choice": ["a", "b"]}
    json_ = first(JsonSchema(SCHEMA), VLLM).fields
    assert json_["structured_outputs"] == {"json": SCHEMA, "disable_any_whitespace": True}
    assert json_["max_tokens"] == 100


def test_older_vllm_is_given_the_same_under_older_names():
    assert first(Choice(("a", "b")), OLD).fields["guided_choice"] == ["a", "b"]
    assert re.fullmatch(first(Number(-1, 1), OLD).fields["guided_regex"], "-1")
    assert first(JsonSchema(SCHEMA), OLD).fields["guided_json"] == SCHEMA


@pytest.mark.parametrize("answer", [Number(0, 9), Choice(("a",)), JsonSchema(SCHEMA), Number(0, 9, 0, 50)])
def test_a_plain_server_is_trusted_to_read_the_prompt(answer):
    assert first(answer, PLAIN).fields == {"temperature": 0.5, "max_tokens": 100}


@pytest.mark.parametrize(
    ("answer", "reply", "text"),
    [
        (Number(0, 100), '{"answer":42}', "42"),
        (Number(0, 1, 5), '{"answer": 1e-05}', "0.00001"),
        (Number(0, 1, 2), '{"answer": 0.25}', "0.25"),
        (Choice(("yes", "no")), '{"answer":"no"}', "no"),
        (JsonSchema(SCHEMA), '{"a":1}', '{"a":1}'),
        (Number(0, 100, 0, 50), '{"reasoning":"Well.","answer":42}', f"Well.\n{MARK} 42"),
        (JsonSchema(SCHEMA, 50), '{"reasoning":"Well.","answer":{"a":1}}', f'Well.\n{MARK} {{"a":1}}'),
    ],
)
def test_where_there_are_only_json_schemas_the_answer_is_wrapped_and_taken_out(answer, reply, text):
    part = first(answer, OPENAI)
    schema = part.fields["response_format"]["json_schema"]["schema"]
    assert part.fields["response_format"]["json_schema"]["strict"] is True
    assert set(json.loads(reply)) == set(schema["properties"])
    assert part.read(reply) == text
    answer.parse(text)


@pytest.mark.parametrize("reply", ["", "42", "[1]", "null", '{"other":1}', "{" * 5000, '{"answer":'])
def test_a_wrapping_that_is_missing_is_left_to_the_parser(reply):
    assert first(Number(0, 9), OPENAI).read(reply) == reply


def test_definitions_of_a_schema_stay_at_its_top():
    schema = {"$ref": "#/$defs/P", "$defs": {"P": SCHEMA}}
    wrapped = first(JsonSchema(schema, 50), OPENAI).fields["response_format"]["json_schema"]["schema"]
    assert wrapped["$defs"] == {"P": SCHEMA}
    assert wrapped["properties"]["answer"] == {"$ref": "#/$defs/P"}


def test_reasoning_is_free_text_then_the_mark_then_nothing_but_an_answer():
    part = first(Number(0, 100, reasoning=50), VLLM)
    pattern = re.compile(part.fields["structured_outputs"]["regex"])
    assert part.may_go_on
    assert part.max_tokens <= 100
    for good in ("I think.\nANSWER: 42", "AAANSWER:7", "ANSWEANSWER: 0", "no mark", "A", "", "N A N SWER:\n"):
        assert pattern.fullmatch(good), good
    for bad in ("ANSWER: fish", "ANSWER: 101", "ANSWER: 42.", "ANSWER: 1 ANSWER: 2", "ANSWER:"):
        assert not pattern.fullmatch(bad), bad


@given(st.text(alphabet="ANSWER: x\n", max_size=40))
def test_a_text_fits_if_and_only_if_nothing_but_an_answer_follows_its_mark(text):
    pattern = first(Number(0, 9, reasoning=50), VLLM).fields["structured_outputs"]["regex"]
    before, mark, after = text.partition(MARK)
    expected = not mark or bool(re.fullmatch(" ?[0-9]", after))
    partial = re.search("A(?:N(?:S(?:W(?:E(?:R)?)?)?)?)?$", before)
    if mark or partial is None or partial[0] == "A":  # in the middle of a mark, nothing can end
        assert bool(re.fullmatch(pattern, text)) is expected


def test_where_a_reply_cannot_be_gone_on_with_the_answer_is_part_of_the_pattern():
    part = first(Choice(("yes", "no"), reasoning=50), OLD)
    assert not part.may_go_on
    assert not re.fullmatch(part.fields["guided_regex"], "no mark")
    assert re.fullmatch(part.fields["guided_regex"], "Hm. ANSWER: no")


def test_reasoning_before_json_stops_at_the_mark():
    part = first(JsonSchema(SCHEMA, 60), VLLM, Sampling(1, stop=("END",), max_tokens=600))
    assert part.fields["stop"] == ["END", MARK]
    assert part.max_tokens == 60 + JSON_TOKENS
    assert part.may_go_on


def test_the_second_part_goes_on_with_the_reply():
    part = second_part(Form(Number(0, 100, reasoning=50), WARM), VLLM)
    assert part.fields["continue_final_message"] is True
    assert part.fields["add_generation_prompt"] is False
    assert re.fullmatch(part.fields["structured_outputs"]["regex"], " 7")
    assert not part.may_go_on
    json_ = second_part(Form(JsonSchema(SCHEMA, 50), WARM), VLLM)
    assert json_.fields["structured_outputs"]["json"] == SCHEMA


@pytest.mark.parametrize(
    ("text", "finish", "begun"),
    [
        ("Well.\nANSWER: 42", Finish.STOP, None),
        ("Well. ", Finish.STOP, "Well.\nANSWER:"),
        ("Well", Finish.LENGTH, "Well\nANSWER:"),
        ("Well.\nANSWER: 4", Finish.LENGTH, "Well.\nANSWER:"),
        ("", Finish.STOP, "ANSWER:"),
    ],
)
def test_a_reply_without_its_answer_is_begun_up_to_the_mark(text, finish, begun):
    assert unfinished(Form(Number(0, 100, reasoning=50), WARM), text, finish) == begun


@pytest.mark.parametrize("features", [VLLM, OPENAI])
@pytest.mark.parametrize("answer", [Number(5, 3), Choice(()), Choice(("a", " "))])
def test_an_impossible_form_is_an_error(answer, features):
    with pytest.raises(ModelError, match="answer"):
        first(answer, features)


def test_a_list_is_wrapped_where_only_objects_are_taken():
    part = first(List(Number(0, 9), 1, 3).wire, OPENAI)
    schema = part.fields["response_format"]["json_schema"]["schema"]
    assert (schema["type"], schema["properties"]["answer"]["type"]) == ("object", "array")
    assert List(Number(0, 9), 1, 3).parse(part.read('{"answer": [1, 2]}')) == [1, 2]
    assert first(List(Number(0, 9), 1, 3).wire, VLLM).fields["structured_outputs"]["json"]["type"] == "array"
