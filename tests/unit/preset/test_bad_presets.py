from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import ExitCode
from engine.preset.layers import Layer, Setting
from engine.preset.load import MAX_PROBLEMS, from_toml, load
from engine.preset.problems import PresetError
from engine.preset.toml_source import file_layer
from tests.fakes.presets import GOOD, with_line


@pytest.mark.parametrize(
    ("table", "line", "expected"),
    [
        (
            "scenario",
            "pott = 1",
            "p.toml:3: scenario.pott: unknown key; did you mean scenario.pot? "
            "(allowed: name, rounds, groups, file, pot, pace, stages, shares, weights or open)",
        ),
        (
            "scenario",
            "workers = 1",
            "p.toml:3: scenario.workers: unknown key; did you mean engine.workers? (allowed: name, rounds, "
            "groups, file, pot, pace, stages, shares, weights or open)",
        ),
        (
            "model",
            'policy = "nash"',
            'p.toml:7: model.policy: unknown key; did you mean model.policy (with backend = "policy")? '
            "(allowed: backend, temperature, top_p, top_k, min_p, max_tokens, stop, timeout_s, answer_cache, "
            "price_in, price_out, price_cached, currency, requests_per_minute, tokens_per_minute or "
            "latency_s)",
        ),
        (
            "scenario",
            "rounds = true",
            "p.toml:3: scenario.rounds: true is not allowed (allowed: a whole number of at least 1 and below "
            "1048576)",
        ),
        (
            "scenario",
            'rounds = "3"',
            'p.toml:3: scenario.rounds: "3" is not allowed (allowed: a whole number of at least 1 and below '
            "1048576)",
        ),
        (
            "scenario",
            "rounds = 2.0",
            "p.toml:3: scenario.rounds: 2.0 is not allowed (allowed: a whole number of at least 1 and below "
            "1048576)",
        ),
        (
            "scenario",
            "pot = -0.5",
            "p.toml:3: scenario.pot: -0.5 is not allowed (allowed: a number of at least 0)",
        ),
        (
            "scenario",
            "pot = inf",
            "p.toml:3: scenario.pot: Infinity is not allowed (allowed: a number of at least 0)",
        ),
        (
            "scenario",
            "weights = { a = nan }",
            'p.toml:3: scenario.weights: {"a": NaN} is not allowed (allowed: a table, each value a number)',
        ),
        (
            "scenario",
            "shares = [1, true]",
            "p.toml:3: scenario.shares: [1, true] is not allowed (allowed: a list, each entry a number)",
        ),
        (
            "scenario",
            'pace = "fats"',
            'p.toml:3: scenario.pace: "fats" is not allowed; did you mean "fast"? '
            '(allowed: "slow" or "fast")',
        ),
        ("scenario", "stages = 3", "p.toml:3: scenario.stages: 3 is not allowed (allowed: 1 or 2)"),
        ("scenario", "stages = true", "p.toml:3: scenario.stages: true is not allowed (allowed: 1 or 2)"),
        ("scenario", "open = 1", "p.toml:3: scenario.open: 1 is not allowed (allowed: true or false)"),
        ("scenario", "groups = 11", "p.toml:3: scenario.groups: 11 groups for 10 agents (allowed: 1 to 10)"),
        (
            "model",
            "top_p = 0",
            "p.toml:7: model.top_p: 0 is not allowed (allowed: a number above 0 and of at most 1)",
        ),
        (
            "model",
            'latency_s = "soon"',
            'p.toml:7: model.latency_s: "soon" is not allowed (allowed: a number of at least 0 or a table)',
        ),
        (
            "model",
            'latency_s = { distribution = "lognrm" }',
            "p.toml:7: model.latency_s: 'lognrm' is not a continuous distribution of scipy.stats "
            '(allowed: for example { distribution = "lognorm", s = 0.5, scale = 1.0 })',
        ),
    ],
)
def test_a_bad_line_is_told_with_place_value_and_choice(
    told: Any, table: str, line: str, expected: str
) -> None:
    assert told(with_line(table, line)) == [expected]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "size = 10",
            "size = 0",
            "p.toml:5: population.size: 0 is not allowed (allowed: a whole number from 1 to 2147483648)",
        ),
        (
            "size = 10",
            "size = -3",
            "p.toml:5: population.size: -3 is not allowed (allowed: a whole number from 1 to 2147483648)",
        ),
        (
            "size = 10",
            "",
            "p.toml:4: population.size: missing (allowed: a whole number from 1 to 2147483648)",
        ),
        (
            "[population]\nsize = 10",
            "",
            "p.toml: population.size: missing (allowed: a whole number from 1 to 2147483648)",
        ),
        (
            'name = "trial"',
            'name = ""',
            'p.toml:1: name: "" is not allowed (allowed: text of at least 1 and at most 100 characters)',
        ),
        (
            'backend = "dummy"',
            "",
            'p.toml:6: model.backend: missing (allowed: "dummy", "llama_cpp", "policy" or "vllm")',
        ),
        (
            'backend = "dummy"',
            'backend = "lama_cpp"',
            'p.toml:7: model.backend: "lama_cpp" is not allowed; did you mean "llama_cpp"? '
            '(allowed: "dummy", "llama_cpp", "policy" or "vllm")',
        ),
        (
            'backend = "dummy"',
            "backend = [1]",
            'p.toml:7: model.backend: [1] is not allowed (allowed: "dummy", "llama_cpp", "policy" or "vllm")',
        ),
        (
            'name = "game"',
            'name = "gmae"',
            'p.toml:3: scenario.name: "gmae" is not allowed; did you mean "game"? '
            '(allowed: "game" or "muse")',
        ),
        ('name = "game"', 'name = "muse"', "p.toml:2: scenario.topic: missing (allowed: text)"),
        (
            '[model]\nbackend = "dummy"\n',
            "[[model]]\n",
            "p.toml:6: model: [{}] is not allowed (allowed: a table [model])",
        ),
        (
            'backend = "dummy"',
            'backend = "policy"\npolicy = "levelk"',
            'p.toml:8: model.policy: "levelk" is not a policy of scenario game; did you mean level_k? '
            '(allowed: "level_k" or "nash")',
        ),
    ],
)
def test_a_wrong_or_missing_part_is_told(told: Any, old: str, new: str, expected: str) -> None:
    assert told(GOOD.replace(old, new)) == [expected]


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (
            "[enginee]\nworkers = 2",
            "p.toml:8: enginee: unknown key; did you mean engine? "
            "(allowed: name, description, seed, scenario, population, model, models, slices, answers, "
            "engine, memory, budget or journal)",
        ),
        (
            '[answers]\non_failure = "fallback"',
            'p.toml:9: answers.on_failure: "fallback" needs answers.fallback, which is missing '
            "(allowed: answers.fallback = a number or text)",
        ),
        (
            '[journal]\ntranscripts = "1 in 0"',
            'p.toml:9: journal.transcripts: "1 in 0" is not allowed (allowed: "all", "none" or "1 in N")',
        ),
        (
            '[journal]\ntranscripts = "all\\n"',
            'p.toml:9: journal.transcripts: "all\\n" is not allowed (allowed: "all", "none" or "1 in N")',
        ),
        (
            "[engine]\nworkers = 99999999999999999999",
            "p.toml:9: engine.workers: 99999999999999999999 is not allowed "
            "(allowed: a whole number from 1 to 4096)",
        ),
    ],
)
def test_a_bad_table_is_told(told: Any, tail: str, expected: str) -> None:
    assert told(GOOD + tail) == [expected]


def test_a_scenario_without_policies_is_told(told: Any) -> None:
    text = GOOD.replace('"game"', '"muse"\ntopic = "rain"').replace('"dummy"', '"policy"\npolicy = "nash"')
    assert told(text) == ["p.toml:8: model.backend: scenario muse has no policies"]


def test_every_problem_is_told_at_once(told: Any) -> None:
    text = 'seed = -1\n[scenario]\nname = "game"\npace = 1\n[population]\nsize = 0\n[model]\nbackend = "x"\n'
    lines = told(text, "engine.workers=none", "oops", environ={"SIMTUI_ANSWERS__RETRIES": "many"})
    assert [line.partition(" ")[0] for line in lines if line.startswith("p.toml")] == [
        "p.toml:",  # no name
        "p.toml:1:",
        "p.toml:4:",
        "p.toml:6:",
        "p.toml:8:",
    ]
    assert sorted(line for line in lines if not line.startswith("p.toml")) == [
        '--set engine.workers: "none" is not allowed (allowed: a whole number from 1 to 4096)',
        "--set oops: no equals sign (allowed: KEY=VALUE, for example engine.workers=4)",
        'SIMTUI_ANSWERS__RETRIES: answers.retries: "many" is not allowed '
        "(allowed: a whole number from 0 to 20)",
    ]


@pytest.mark.parametrize(
    ("table", "name", "key"), [("scenario", "game", "name"), ("model", "dummy", "backend")]
)
@pytest.mark.parametrize("given", ['"nothing like it"', "7", None])
def test_a_wrong_or_missing_name_hides_no_other_problem(
    told: Any, table: str, name: str, key: str, given: str | None
) -> None:
    wrong = {
        "scenario": {"rounds": "0", "pot": "-1.0", "pott": "1", "groups": "1"},
        "model": {"top_k": "-1", "temperature": "99", "tempreature": "1", "top_p": "0.5"},
    }[table]
    lines = [f"{inner} = {value}" for inner, value in wrong.items()]
    lines += [f"{key} = {given}"] if given else []
    first, second, misspelt, _ = wrong
    text = GOOD.replace(f'{key} = "{name}"', "\n".join(lines))
    last, *found = sorted(told(text, "answers.retries=99"))
    assert last.startswith("--set answers.retries: 99 is not allowed")
    keys = {line.split(": ")[1]: line for line in found}
    assert set(keys) == {f"{table}.{inner}" for inner in (key, first, second, misspelt)}
    assert f"unknown key; did you mean {table}.{second}?" in keys[f"{table}.{misspelt}"]


def test_a_key_that_only_some_scenarios_have_is_none_of_the_problems_of_a_wrong_name(told: Any) -> None:
    text = GOOD.replace('name = "game"', 'name = "gmae"\npot = 1.0\ntopic = "rain"')
    assert [line.split(": ")[1] for line in told(text)] == ["scenario.name"]


@pytest.mark.parametrize("setting", ["foo.bar=1", "foo=1", "scenario.foo=1", "seed.x=1", "model.stop.x=1"])
def test_what_was_given_on_the_command_line_or_by_a_variable_is_blamed_there(
    load_text: Any, setting: str
) -> None:
    key, _, value = setting.partition("=")
    variable = f"SIMTUI_{key.upper().replace('.', '__')}"
    for sets, environ, place in (((setting,), {}, f"--set {key}"), ((), {variable: value}, variable)):
        with pytest.raises(PresetError) as caught:
            load_text(GOOD, *sets, environ=environ)
        assert [problem.where for problem in caught.value.problems] == [place]
        assert caught.value.what.startswith("1 problem in the settings given with preset p.toml")


def test_a_mistake_in_one_model_does_not_make_the_others_unknown(told: Any) -> None:
    text = GOOD + '[models.a]\nbackend = "dumy"\n[[slices]]\nname = "s"\nshare = 0.5\nmodel = "a"\n'
    assert [line.split(": ")[1] for line in told(text)] == ["models.a.backend"]


def test_the_error_counts_and_exits_with_usage() -> None:
    with pytest.raises(
        PresetError, match=r"4 problems in preset empty\.toml\n  empty\.toml: name: missing"
    ) as caught:
        from_toml(b"", "empty.toml")
    assert caught.value.exit_code is ExitCode.USAGE
    assert [problem.key for problem in caught.value.problems] == [
        "name",
        "scenario.name",
        "population.size",
        "model.backend",
    ]


def test_looking_for_problems_ends(told: Any) -> None:
    lines = told(GOOD + "[engine]\n" + "\n".join(f"k{n} = 1" for n in range(1000)))
    assert len(lines) == MAX_PROBLEMS + 1
    assert lines[-1] == "p.toml: and perhaps more, which were not looked for"


def test_control_characters_and_secrets_are_not_printed(told: Any) -> None:
    (line,) = told(with_line("model", '"\\u001b[2J" = 1'))
    assert "\x1b" not in line
    assert r'model."\u001b[2J": unknown key' in line
    (line,) = told(with_line("scenario", 'weights = { api_key = "hush" }'))
    assert "hush" not in line


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "backend", "x"]), inner)
    ),
    max_leaves=4,
)
KEYS = st.sampled_from(
    [
        *["name", "rounds", "pot", "pace", "stages", "shares", "weights", "x"],  # of [scenario]
        *["backend", "latency_s", "stop", "parameters", "policy"],  # of [model]
        *["size", "workers", "retries", "fallback", "transcripts"],
    ]
)
TABLES = st.sampled_from(["scenario", "population", "model", "answers", "engine", "journal", "name", "x"])
SETTINGS = st.tuples(TABLES, KEYS | st.none(), VALUES | st.sampled_from(["game", "muse", "dummy", "policy"]))


@given(st.lists(SETTINGS, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_given_loads_or_is_told(game: None, given: list[tuple[str, str | None, Any]]) -> None:
    paths = [((table, key) if key else (table,), value) for table, key, value in given]
    layer = Layer("given", tuple(Setting(path, value, "here") for path, value in paths))
    with suppress(PresetError):
        loaded = load([file_layer("preset", "p.toml", GOOD.encode()), layer], "p.toml")
        assert from_toml(loaded.toml.encode(), "again.toml") == loaded.preset
