from hypothesis import given
from hypothesis import strategies as st

from engine.models.vllm.metrics import queue_length

# Recorded from vLLM 0.32.0.
PAGE = b"""# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="tiny"} 64.0
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="tiny"} 136.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="tiny",reason="capacity"} 136.0
"""


def test_the_queue_of_vllm():
    assert queue_length(PAGE) == (64, 136)


def test_engines_are_added_up():
    other = PAGE.replace(b'"0"', b'"1"').replace(b"tiny", b'od"d}').replace(b'od"d', b'od\\"d')
    assert queue_length(PAGE + other) == (128, 272)


def test_other_pages_tell_nothing():
    assert queue_length(b"") is None
    assert queue_length(PAGE.replace(b"running", b"resting")) is None
    assert queue_length(PAGE.replace(b"64.0", b"1e300")) is None
    assert queue_length(PAGE.replace(b"64.0", b"6.4.0")) is None


@given(st.binary())
def test_no_page_is_too_odd(page):
    assert queue_length(page) is None
