"""What must hold of the repository itself."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import click
import pytest

from app.main import cli
from app.reference import markdown
from engine.preset.load import from_toml

ROOT = Path(__file__).parents[2]
MAX_LINES = 500
SAYS_NOTHING = {"utils", "util", "helpers", "misc", "common", "manager"}
# A path of one machine, or the host of a package index: neither means anything to anyone else.
FOREIGN = re.compile(
    r"(?<![\w.~])/(?:work|home|root|opt|farm|Users|mnt|srv)/\w|/tmp/\w|"
    + "|".join(["py" + r"pi\.org", "python" + "hosted", "npm" + "js"])
)


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for name in listed.splitlines() if (path := ROOT / name).is_file()]


FILES = tracked()
PYTHON = [path for path in FILES if path.suffix == ".py"]


def text_of(path: Path) -> str:
    content = path.read_bytes()
    return "" if b"\0" in content else content.decode()


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_file_is_too_long() -> None:
    assert [short(path) for path in PYTHON if text_of(path).count("\n") > MAX_LINES] == []


def test_every_module_has_a_name_that_says_what_is_inside() -> None:
    assert [short(path) for path in PYTHON if path.stem in SAYS_NOTHING] == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [p for p in PYTHON if p.parts[len(ROOT.parts)] != "tests" and not text_of(p).startswith('"""')]
    assert [short(path) for path in silent] == []


def test_no_text_mentions_a_place_of_one_machine() -> None:
    found = {short(path): hit.group() for path in FILES if (hit := FOREIGN.search(text_of(path)))}
    assert found == {}


@pytest.mark.parametrize(
    "line", ["see /" + "home/me/x", "cd /" + "work/main", 'PATH = "/' + 'tmp/run"', "py" + "pi.org"]
)
def test_a_place_of_one_machine_would_be_found(line: str) -> None:
    assert FOREIGN.search(line)


@pytest.mark.parametrize("line", ["~/simtui-env", "docs/home/x", "https://host.example/v1", "a /or b"])
def test_ordinary_text_would_not(line: str) -> None:
    assert not FOREIGN.search(line)


def test_the_reference_of_commands_is_up_to_date() -> None:
    assert (ROOT / "docs" / "commands.md").read_text() == markdown(), "run `make docs`"


def test_the_reference_names_every_command_and_option() -> None:
    reference = (ROOT / "docs" / "commands.md").read_text()
    for name, command in {"": cli, **cli.commands}.items():
        _, found, section = reference.partition(f"## {f'simtui {name}'.strip()}\n")
        assert found, name
        for parameter in command.params:
            is_option = isinstance(parameter, click.Option)
            names = parameter.opts if is_option else [str(parameter.name).upper()]
            assert all(each in section.partition("\n## ")[0] for each in names), (name, parameter)


def test_every_dependency_has_one_pin_and_nothing_but_pins() -> None:
    pins = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][\w.]*", pin)] == []
    pinned = [re.sub(r"[-_.]+", "-", pin.split("==")[0]).lower() for pin in pins]
    assert len(pinned) == len(set(pinned))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["llama"], *extras["vllm"], *extras["dev"]]
    names = {re.match(r"[A-Za-z0-9_-]+", requirement).group().lower() for requirement in needed}  # type: ignore[union-attr]
    assert names - set(pinned) == set()


def test_what_is_installed_here_is_what_is_pinned() -> None:
    pins = dict(
        line.split("==")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line and not line.startswith("#")
    )
    installed = {name: _version(name) for name in pins}
    assert {name: version for name, version in installed.items() if version not in (None, pins[name])} == {}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def test_the_readme_leads_nowhere_but_to_files_that_exist() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / link).exists(), (page.name, link)


def test_the_preset_of_the_readme_can_be_run() -> None:
    (preset,) = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert from_toml(preset.encode(), "README.md").population.size == 50


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_help_and_version_import_next_to_nothing(arguments: list[str]) -> None:
    code = (
        "import sys; sys.argv[1:] = {}\nfrom app.main import main\ntry: main()\nexcept SystemExit: pass\n"
        "heavy = {{name.partition('.')[0] for name in sys.modules}}\n"
        "engine = {{name for name in sys.modules if name.startswith('engine')}}\n"
        "banned = {{'numpy', 'scipy', 'msgspec', 'rich', 'textual', 'zmq', 'asyncio', 'tomlkit'}}\n"
        "print(sorted(heavy & banned), sorted(engine), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code.format(arguments)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout
    assert done.stderr == "[] ['engine', 'engine.errors']\n"
