"""The wheel, built and installed as `pip install .` does it, used away from the repository."""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]


def python(*arguments: str, cwd: Path, **environment: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    python("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), ".", cwd=ROOT)
    (built,) = folder.glob("simtui-*.whl")
    return built


def test_it_holds_the_presets_and_nothing_of_the_workshop(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    shipped = {f"app/presets/{path.name}" for path in (ROOT / "presets").glob("*.toml")}
    assert shipped
    assert shipped <= set(names)
    information = f"{wheel.name.rsplit('-', 3)[0]}.dist-info"
    assert {name.split("/")[0] for name in names} <= {"app", "engine", "simtui.py", information}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_installed_elsewhere_it_finds_its_presets(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    python("-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel), cwd=tmp_path)
    call = "import app; from app.main import main; print(app.__file__); main()"
    shown = python("-c", call, "check", "guess_average", cwd=tmp_path, PYTHONPATH=str(site))
    assert shown.splitlines()[0].startswith(str(site))
    assert "OK: scenario guess_average" in shown
