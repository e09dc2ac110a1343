"""docs/workflows.md: its example runs as it stands, and gives what the objects themselves give."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs" / "workflows.md").read_text(encoding="utf-8")
(CODE,) = re.findall(r"```python\n(.*?)```", DOC, re.DOTALL)


def output_of(code: str, folder: Path) -> list[str]:
    (folder / "script.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "script.py"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env={"PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_example_overlaps_what_is_independent_and_answers_as_without_processes(tmp_path: Path) -> None:
    text, report, *steps = output_of(CODE, tmp_path)
    here = CODE.replace("Workflow()", "Workflow(workers=0)").replace("print(session.report())", "")
    assert output_of(here, tmp_path) == [text]
    assert text == "facts about rain and facts about snow (4 was too little) (8 was too little)"
    assert report.startswith("8 calls")
    assert sum("Analyst.study" in step for step in steps) == 1
    assert any("Critic.score" in step for step in steps)
