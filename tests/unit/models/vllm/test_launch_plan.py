from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.models.settings import Launch
from engine.models.vllm import launch_plan
from engine.models.vllm.launch_plan import gpu_groups, plan, program, visible_gpus


@pytest.mark.parametrize(
    ("launch", "gpus", "groups"),
    [
        (Launch(), ["0", "1", "2"], ["0", "1", "2"]),
        (Launch(gpus_per_replica=2), ["0", "1", "2", "3", "4"], ["0,1", "2,3"]),
        (Launch(replicas=2), ["0", "1", "2"], ["0", "1"]),
        (Launch(replicas=3), [], ["", "", ""]),
    ],
)
def test_a_server_for_each_group_of_gpus(launch, gpus, groups):
    assert gpu_groups(launch, gpus) == groups


@pytest.mark.parametrize(
    ("launch", "gpus"),
    [(Launch(), []), (Launch(gpus_per_replica=4), ["0", "1"]), (Launch(replicas=3), ["0", "1"])],
)
def test_too_few_gpus_are_an_error(launch, gpus):
    with pytest.raises(ModelError, match=f"there are {len(gpus)} GPUs") as caught:
        gpu_groups(launch, gpus)
    assert "model.launch.replicas" in str(caught.value)


def test_gpus_are_those_that_the_run_was_given():
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": "3, GPU-5f,"}) == ["3", "GPU-5f"]
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": "-1"}) == []
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": ""}) == []


@pytest.fixture(autouse=True)
def _vllm_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_plan.shutil, "which", lambda name, path: f"{path}/{name}" if path else None)


def made(launch: Launch, variables: dict[str, str] | None = None, gpus: str = ""):
    return plan(launch, {"PATH": "/bin"} | (variables or {}), name="m", gpus=gpus, port=8123, key="secret")


def test_the_command_and_what_it_may_know():
    variables = {"PYTHONPATH": "x", "CUDA_VISIBLE_DEVICES": "0", "LD_LIBRARY_PATH_ORIG": "/lib"}
    launch = Launch(model="llama", gpus_per_replica=2, arguments=("--dtype", "half"), variables={"A": "b"})
    command, given = made(launch, variables, "2,3")
    assert command[:3] == ["/bin/vllm", "serve", "llama"]
    assert command[-4:] == ["--tensor-parallel-size", "2", "--dtype", "half"]
    assert command[command.index("--port") + 1] == "8123"
    assert command[command.index("--host") + 1] == "127.0.0.1"
    assert "secret" not in " ".join(command)
    assert given["VLLM_API_KEY"] == "secret"
    assert (given["CUDA_VISIBLE_DEVICES"], given["A"], given["PATH"]) == ("2,3", "b", "/bin")
    assert "PYTHONPATH" not in given
    assert given["LD_LIBRARY_PATH"] == "/lib"
    assert "--tensor-parallel-size" not in made(Launch(model="llama")).command


def test_the_program_is_that_of_the_environment(tmp_path: Path):
    with pytest.raises(ModelError, match="on PATH"):
        program(Launch(), {})
    assert program(Launch(), {"PATH": "/usr/bin"}) == "/usr/bin/vllm"
    with pytest.raises(ModelError, match="no vLLM in this environment"):
        program(Launch(environment=str(tmp_path)), {})
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "vllm").touch()
    assert program(Launch(environment=str(tmp_path)), {}) == str(tmp_path / "bin" / "vllm")
