"""What is started for `[model.launch]`: one command a server, with the GPUs that it gets."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from engine.errors import ModelError
from engine.models.settings import Launch

_NOT_FOR_IT = ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "PYTHONSAFEPATH")
"""Variables that speak of simtui's own Python, not of the environment that vLLM is in."""


class Plan(NamedTuple):
    """One server to be started."""

    command: list[str]
    variables: dict[str, str]


def program(launch: Launch, variables: Mapping[str, str]) -> str:
    """Return the vLLM to run. Raises ModelError if it is not where the preset says."""
    if not launch.environment:
        on_path = shutil.which("vllm", path=variables.get("PATH", ""))
        if on_path is None:
            raise ModelError(
                "there is no program vllm on PATH",
                where="model.launch",
                hint="set model.launch.environment to the folder of the Python environment that vLLM is in",
            )
        return on_path
    found = Path(launch.environment).expanduser() / "bin" / "vllm"
    if not found.is_file():
        raise ModelError(
            "there is no vLLM in this environment",
            where=f"model.launch.environment = {launch.environment!r}",
            hint=f"{found} is missing: install vllm there, or name another folder",
        )
    return str(found.absolute())


def visible_gpus(variables: Mapping[str, str]) -> list[str]:
    """Return the GPUs that may be used: those of CUDA_VISIBLE_DEVICES, else all that the driver lists."""
    chosen = variables.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return [name.strip() for name in chosen.split(",") if name.strip() not in ("", "-1")]
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return listed.stdout.split()


def gpu_groups(launch: Launch, gpus: Sequence[str]) -> list[str]:
    """Return for each server the GPUs that it gets, "" on the CPU. Raises ModelError if there are too few."""
    size = launch.gpus_per_replica
    groups = [",".join(gpus[at : at + size]) for at in range(0, len(gpus) - size + 1, size)]
    if not gpus and launch.replicas:
        return [""] * launch.replicas
    if not groups or len(groups) < (launch.replicas or 0):
        wanted = f"{launch.replicas or 1} server(s) with {size} each" if gpus else "none was found"
        raise ModelError(
            f"there are {len(gpus)} GPUs: {wanted}",
            where="model.launch",
            hint="lower model.launch.gpus_per_replica or model.launch.replicas; without a GPU, set"
            " model.launch.replicas to run on the CPU",
        )
    return groups[: launch.replicas]


def plan(launch: Launch, variables: Mapping[str, str], *, name: str, gpus: str, port: int, key: str) -> Plan:
    """Return how to start one server that serves the model under `name` and asks for `key`."""
    size = launch.gpus_per_replica
    command = [
        *[program(launch, variables), "serve", launch.model],
        *["--host", "127.0.0.1", "--port", str(port), "--served-model-name", name],
        *["--scheduling-policy", "priority", "--enable-prompt-tokens-details"],
        *["--uvicorn-log-level", "warning"],
        *(["--tensor-parallel-size", str(size)] if size > 1 else []),
        *launch.arguments,
    ]
    own = {variable: value for variable, value in variables.items() if variable not in _NOT_FOR_IT}
    if "LD_LIBRARY_PATH_ORIG" in own:  # a packaged simtui has put its own libraries in front of the system's
        own["LD_LIBRARY_PATH"] = own.pop("LD_LIBRARY_PATH_ORIG")
    if gpus:
        own["CUDA_VISIBLE_DEVICES"] = gpus
    # the key keeps others on this machine from using the server; on the command line they would see it
    own |= {"VLLM_API_KEY": key, "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "PYTHONUNBUFFERED": "1"}
    return Plan(command, own | launch.variables)
