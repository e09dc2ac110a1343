from pathlib import Path

import pytest

from engine.population.faults import PopulationError
from engine.population.persona.cache import FileCache


def test_replies_are_kept(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "new" / "personas.db")
    cache.keep([(b"a", "one"), (b"b", "two"), (b"a", "again")])
    cache.close()
    again = FileCache(tmp_path / "new" / "personas.db")
    assert again.find([b"b", b"x", b"a"]) == {b"a": "one", b"b": "two"}
    again.close()


def test_two_runs_share_one_file(tmp_path: Path) -> None:
    one, other = FileCache(tmp_path / "p.db"), FileCache(tmp_path / "p.db")
    one.keep([(b"a", "one")])
    other.keep([(b"b", "two")])
    assert one.find([b"b"]) == {b"b": "two"}
    one.close()
    other.close()


def test_a_file_that_is_no_cache_is_told(tmp_path: Path) -> None:
    file = tmp_path / "p.db"
    file.write_text("not a database, but long enough to be taken for one" * 40)
    with pytest.raises(PopulationError, match="cannot be used"):
        FileCache(file)
