import pytest

from engine.errors import ModelError
from engine.models.settings import Vllm
from engine.models.vllm.credentials import api_key


def test_no_key_is_no_header():
    assert api_key(Vllm(), {}).headers == {}


def test_a_key_comes_from_the_environment_or_a_file(tmp_path):
    (tmp_path / "key").write_text("sk-file\n")
    assert api_key(Vllm(api_key_variable="K"), {"K": "sk-env"}).headers == {"Authorization": "Bearer sk-env"}
    found = api_key(Vllm(api_key_file=str(tmp_path / "key")), {})
    assert found.headers == {"Authorization": "Bearer sk-file"}


def test_a_key_hides_itself():
    key = api_key(Vllm(api_key_variable="K"), {"K": "sk-env"})
    assert "sk-env" not in repr(key)
    assert key.hidden("Incorrect key sk-env!") == "Incorrect key (secret)!"
    assert api_key(Vllm(), {}).hidden("text") == "text"


@pytest.mark.parametrize("content", [b"", b" \n", b"a\nb", b"\xff\xfe", "kéy".encode()])
def test_a_file_without_a_usable_key_is_an_error_that_does_not_quote_it(tmp_path, content):
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(ModelError) as caught:
        api_key(Vllm(api_key_file=str(tmp_path / "key")), {})
    assert "a\nb" not in str(caught.value)
    assert "kéy" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Vllm(api_key_variable="K"), "variable K is not set"),
        (Vllm(api_key_file="nowhere/key"), "nowhere/key"),
        (Vllm(api_key_variable="K", api_key_file="f"), "two places"),
    ],
)
def test_what_is_missing_is_named(settings, message):
    with pytest.raises(ModelError, match=message):
        api_key(settings, {})
