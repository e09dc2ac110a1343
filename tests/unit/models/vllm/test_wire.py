import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.protocol import Finish
from engine.models.vllm.wire import MAX_TEXT, Failure, Kind, Reply, Said, failure, read


def completion(*finishes: str | None, text: object = "42", **changes: object) -> bytes:
    choices = [{"index": 0, "message": {"content": text}, "finish_reason": f} for f in finishes]
    usage = {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}}
    return json.dumps({"model": "m", "choices": choices, "usage": usage, **changes}).encode()


def test_a_reply():
    assert read(completion("stop"), 1) == Reply([Said("42", Finish.STOP)], "m", 10, 3, 8)


# Recorded from vLLM 0.32.0 with a random model.
RECORDED = b"""{"id":"chatcmpl-a1","object":"chat.completion","created":1796064021,"model":"tiny","choices":[{
"index":0,"message":{"role":"assistant","content":"7","refusal":null,"annotations":null,"audio":null,
"function_call":null,"tool_calls":[],"reasoning":null},"logprobs":null,"finish_reason":"stop",
"stop_reason":null,"token_ids":null}],"service_tier":null,"system_fingerprint":"vllm-0.32.0-x","usage":{
"prompt_tokens":19,"total_tokens":21,"completion_tokens":2,"prompt_tokens_details":null},
"prompt_logprobs":null,"prompt_token_ids":null,"kv_transfer_params":null}"""


def test_a_reply_of_vllm():
    assert read(RECORDED, 1) == Reply([Said("7", Finish.STOP)], "tiny", 19, 2, 0)


def test_only_a_reply_that_the_model_ended_or_that_reached_its_limit_counts():
    assert read(completion("stop", "length", "repetition"), 3).said == [
        Said("42", Finish.STOP),
        Said("42", Finish.LENGTH),
        Said("42", Finish.LENGTH),
    ]
    for reason in ("abort", "error", None, "", "tool_calls", "STOP"):
        assert read(completion("stop", reason), 2).kind is Kind.SICK


def test_status_200_with_an_error_is_no_reply():
    error = {"message": "EngineCore encountered an issue", "code": 500}
    assert read(completion("stop", error=error), 1).kind is Kind.SICK
    assert read(json.dumps({"error": {"message": "busy", "code": 503}}).encode(), 1).kind is Kind.BUSY
    assert read(json.dumps({"error": "what?"}).encode(), 1).kind is Kind.SICK


def test_as_many_replies_as_were_asked_for():
    assert "1 replies where 2" in read(completion("stop"), 2).text
    assert read(completion(), 1).kind is Kind.SICK


def test_a_refusal_is_not_asked_for_again():
    declined = {"message": {"content": None, "refusal": "I can't"}, "finish_reason": "stop"}
    found = read(json.dumps({"choices": [declined]}).encode(), 1)
    assert (found.kind, found.text) == (Kind.REFUSED, "declined: I can't")
    assert read(completion("content_filter"), 1).kind is Kind.REFUSED


def test_broken_bytes_become_replacement_characters():
    broken = completion("stop", text="4?2").replace(b"?", b"\xff\xfe")
    assert read(broken, 1).said == [Said("4\ufffd\ufffd2", Finish.STOP)]
    assert read(completion("stop", text="?").replace(b"?", b"\\ud800"), 1).kind is Kind.SICK


def test_what_is_missing_counts_as_nothing():
    bare = {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]}
    assert read(json.dumps(bare).encode(), 1) == Reply([Said("", Finish.STOP)], "", 0, 0, 0)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, Kind.BUSY),
        (503, Kind.BUSY),
        (500, Kind.SICK),
        (502, Kind.SICK),
        (504, Kind.SICK),
        (400, Kind.REFUSED),
        (422, Kind.REFUSED),
        (401, Kind.MISFIT),
        (403, Kind.MISFIT),
        (404, Kind.MISFIT),
        (302, Kind.MISFIT),
        (204, Kind.SICK),
    ],
)
def test_what_a_status_means(status, kind):
    assert failure(status, b"{}").kind is kind


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 2048 tokens. However, your prompt contains at least 2049",
        "The prompt (total length 5000) is longer than the maximum model length of 4096.",
        "the request exceeds the available context size (2048 tokens), try increasing it",
    ],
)
def test_a_prompt_that_is_too_long_is_told_apart(message):
    assert failure(400, json.dumps({"error": {"message": message}}).encode()).kind is Kind.TOO_LONG
    openai = {"error": {"message": "too many tokens", "code": "context_length_exceeded"}}
    assert failure(400, json.dumps(openai).encode()).kind is Kind.TOO_LONG


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"error":{"message":"no such model","code":404}}', "HTTP 500: no such model 404"),
        (b'{"detail":"Not Found"}', "HTTP 500: Not Found"),
        (b'{"error":"out of memory"}', "HTTP 500: out of memory"),
        (b"No available workers", "HTTP 500: No available workers"),
        (b"<html>\n\x1b[31mBad\xff", "HTTP 500: <html>  [31mBad\ufffd"),
        (b"[1]", "HTTP 500: [1]"),
    ],
)
def test_messages_of_any_shape_are_shown_on_one_safe_line(body, text):
    assert failure(500, body).text == text


@given(st.binary(max_size=300), st.integers(1, 3))
def test_no_bytes_are_too_odd(body, n):
    found = read(body, n)
    assert isinstance(found, Reply | Failure)
    told = failure(500, body).text
    assert told.isprintable()
    assert len(told) <= MAX_TEXT


KEYS = ["choices", "message", "content", "finish_reason", "usage", "error", "code", "model"]
ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)


@given(ODD)
def test_no_json_is_too_odd(value):
    assert isinstance(read(json.dumps(value).encode(), 1), Reply | Failure)
    assert isinstance(failure(400, json.dumps(value).encode()), Failure)


def test_how_likely_a_reply_was():
    told = {"content": [{"token": "4", "logprob": -0.5}, {"token": "2", "logprob": -0.25}]}
    choices = [
        {"message": {"content": "42"}, "finish_reason": "stop", "logprobs": logprobs}
        for logprobs in (told, {"content": None}, {"content": []}, None)
    ]
    said = read(json.dumps({"choices": choices}).encode(), 4).said
    assert [one.logprob for one in said] == [-0.75, None, None, None]
