from pathlib import Path

from engine.preset.reference import reference

PAGE = Path(__file__).parents[3] / "docs" / "presets.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == reference(), "run: python -m engine.preset.reference > docs/presets.md"


def test_every_kind_of_table_is_on_the_page() -> None:
    text = reference()
    for heading in (
        "## `[scenario]`",
        "## `[engine]`",
        '### `backend = "policy"`',
        '### `name = "guess_average"`',
    ):
        assert f"\n{heading}\n" in text
    assert "| `workers` | a whole number from 1 to 4096 | not set | Worker processes; " in text
    assert "| `size` | a whole number from 1 to 2147483648 | required | Number of agents. |" in text
