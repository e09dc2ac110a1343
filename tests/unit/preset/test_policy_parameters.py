"""Parameters of a policy that it does not take would be a wrong result without a word."""

import pytest

from engine.preset.load import from_toml
from engine.preset.problems import PresetError

PRESET = """
name = "p"
[scenario]
name = "guess_average"
[population]
size = 3
[model]
backend = "policy"
policy = "{policy}"
parameters = {{ {given} }}
"""


def load(policy: str, given: str) -> str:
    try:
        from_toml(PRESET.format(policy=policy, given=given).encode(), "p.toml")
    except PresetError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("policy", "given"), [("level_k", "level = 2"), ("cognitive_hierarchy", "tau = 1.5"), ("nash", "")]
)
def test_what_a_policy_takes_is_fine(policy: str, given: str) -> None:
    assert load(policy, given) == ""


def test_a_misspelt_parameter_is_told_with_the_right_one() -> None:
    told = load("level_k", "levl = 2")
    assert "model.parameters.levl: policy level_k has no parameter" in told
    assert "did you mean level" in told


def test_a_policy_without_parameters_takes_none() -> None:
    assert "policy nash has no parameter" in load("nash", "tau = 1")
