import pytest

from engine.errors import ModelError
from engine.models.vllm.address import address


@pytest.mark.parametrize(
    ("text", "name", "root", "api"),
    [
        ("http://gpu1:8000", "http://gpu1:8000", "", "/v1"),
        ("http://gpu1:8000/", "http://gpu1:8000", "", "/v1"),
        ("http://gpu1:8000/v1/", "http://gpu1:8000", "", "/v1"),
        ("HTTP://gpu1", "http://gpu1:80", "", "/v1"),
        ("https://api.example/openai/v1", "https://api.example:443/openai", "/openai", "/openai/v1"),
        (
            "https://api.example/v1beta/openai",
            "https://api.example:443/v1beta/openai",
            "/v1beta/openai",
            "/v1beta/openai",
        ),
        ("http://[::1]:8000", "http://[::1]:8000", "", "/v1"),
    ],
)
def test_a_base_url(text, name, root, api):
    found = address(text)
    assert (found.name, found.root, found.api) == (name, root, api)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gpu1:8000",
        "ftp://gpu1",
        "http://",
        "http://gpu1:eighty",
        "http://gpu1:99999",
        "http://[::1",
        "http://gpu 1",
        "http://gpu1/a b",
        "http://gpu1/\r\nX-Evil: 1",
        "http://gp\u00fc1",
    ],
)
def test_what_is_no_base_url_is_refused(text):
    with pytest.raises(ModelError, match="base URL"):
        address(text)


@pytest.mark.parametrize(
    "text", ["http://me:hunter2@gpu1", "http://hunter2@gpu1", "http://gpu1/v1?key=hunter2"]
)
def test_secrets_in_a_url_are_refused_and_not_repeated(text):
    with pytest.raises(ModelError, match="must not hold") as caught:
        address(text)
    assert "hunter2" not in str(caught.value)
