"""Models whose files are not what a preset says, seen from outside."""

from pathlib import Path

import pytest

from engine.models.check_files import HEADER, Fault, file_faults
from engine.models.settings import Dummy, Launch, LlamaCpp, ModelSettings, Vllm

SOUND = HEADER.pack(b"GGUF", 3, 200, 30)


def faults(settings: ModelSettings, **environment: str) -> list[Fault]:
    return list(file_faults(settings, environment))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "cannot be read (No such file or directory)"),
        (b"", "no GGUF file, or only the beginning of one"),
        (SOUND[:-1], "only the beginning"),
        (b"<!DOCTYPE html> <html> this is what a hub sends without a key", "no GGUF file"),
        (HEADER.pack(b"GGUF", 9, 200, 30), "damaged or of an unknown version"),
        (HEADER.pack(b"GGUF", 3, 0, 30), "damaged"),
        (HEADER.pack(b"GGUF", 3, 200, 1 << 60), "damaged"),
    ],
)
def test_weights_that_cannot_be_used(tmp_path: Path, content: bytes | None, what: str) -> None:
    file = tmp_path / "model.gguf"
    if content is not None:
        file.write_bytes(content)
    [fault] = faults(LlamaCpp(path=str(file)))
    assert fault.key == "path"
    assert what in fault.what
    assert str(file) in fault.what
    assert "embedded" in fault.hint


def test_a_folder_and_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    assert "Is a directory" in faults(LlamaCpp(path=str(tmp_path)))[0].what
    assert faults(LlamaCpp(path="a\0b"))[0].key == "path"


def test_what_is_sound_is_not_complained_about(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(SOUND)
    assert faults(LlamaCpp(path=str(tmp_path / "model.gguf"))) == []
    assert faults(Vllm(servers=("http://gpu1:8000",), api_key_variable="KEY"), KEY="abc") == []
    assert faults(Dummy()) == []


def test_keys_and_programs_that_are_not_there(tmp_path: Path) -> None:
    [variable] = faults(Vllm(api_key_variable="KEY"))
    assert (variable.key, "KEY is not set" in variable.what) == ("api_key_variable", True)
    [file] = faults(Vllm(api_key_file=str(tmp_path / "none")))
    assert file.key == "api_key_file"
    [environment] = faults(Vllm(launch=Launch(model="m", environment=str(tmp_path))))
    assert environment.key == "launch.environment"
    assert str(tmp_path) in environment.hint
