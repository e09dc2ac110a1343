"""The questions that a summary of a run asks."""

from __future__ import annotations

from typing import Any

from engine.journal.rounds import ALL_GROUPS, ROUND_COLUMNS, Round
from engine.journal.run_file import RunFile
from engine.journal.storable import Value
from engine.keys import pack


class Reader(RunFile):
    """A run file that answers them; every method may raise JournalError."""

    def rounds(self, group: int = ALL_GROUPS) -> list[Round]:
        """Return the rounds of a group, or over all groups, in order."""
        sql = f"SELECT {', '.join(ROUND_COLUMNS)} FROM rounds WHERE grp = ? ORDER BY round"  # noqa: S608
        rows = self.rows(sql, group)
        with self.reading():
            return [Round.from_row(row) for row in rows]

    def answers(self, round_: int) -> dict[Value, int]:
        """Return how often each answer was given in a round."""
        sql = "SELECT value, count(*) FROM answers WHERE key >= ? AND key < ? GROUP BY value ORDER BY value"
        return dict(self.rows(sql, pack(round_, 0), pack(round_ + 1, 0)))

    def failures(self) -> dict[str, int]:
        """Return how many replies and agents failed, by kind."""
        return dict(self.rows("SELECT kind, sum(n) FROM failure_counts GROUP BY kind ORDER BY kind"))

    def left_out(self) -> tuple[int, int, int]:
        """Return how many prompts lack something that was remembered; its messages, and their tokens."""
        ((prompts, messages, tokens),) = self.rows(
            "SELECT count(*), coalesce(sum(CAST(detail AS INTEGER)), 0), "
            "coalesce(sum(CAST(substr(detail, instr(detail, ', ') + 2) AS INTEGER)), 0) "
            "FROM failures WHERE kind = 'left out'"
        )
        return prompts, messages, tokens

    def usage(self) -> list[tuple[Any, ...]]:
        """Return round, model, slice, calls, tokens in, out and cached, cost and currency."""
        return self.rows(
            "SELECT round, coalesce(model, ''), coalesce(slice, ''), calls, coalesce(tokens_in, 0), "
            "coalesce(tokens_out, 0), coalesce(tokens_cached, 0), cost, coalesce(currency, '') FROM usage"
        )

    def meta(self) -> dict[str, Value]:
        """Return the facts about the whole run."""
        return dict(self.rows("SELECT key, value FROM meta ORDER BY key"))

    def population(self) -> dict[str, str]:
        """Return what is said of how people were made: JSON by part; nothing if agents are alike."""
        return dict(self.rows("SELECT part, report FROM population ORDER BY part"))

    def person(self, agent: int) -> dict[str, Any]:
        """Return what is known of an agent: attributes, and `persona` last; nothing if agents are alike."""
        names = [name for name, *_ in self.rows("SELECT name FROM pragma_table_info('people')")]
        row = self.row("SELECT * FROM people WHERE agent = ?", agent)
        return dict(zip(names[1:], row[1:], strict=True)) if row else {}
