"""What memories have left out of prompts, in a sentence."""

from __future__ import annotations

from engine.journal.reader import Reader
from engine.journal.run_directory import RunDirectory


def left_out(run: RunDirectory) -> str:
    """Say how much. Raises JournalError."""
    with Reader(run.run_file) as file:
        prompts, messages, tokens = file.left_out()
    return f"{messages:,} messages ({tokens:,} tokens) of {prompts:,} prompts, by [memory]"
