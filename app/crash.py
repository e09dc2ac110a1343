"""What happens when simtui itself fails in a way that nobody foresaw."""

from __future__ import annotations

import os
import tempfile
import traceback
from datetime import datetime
from pathlib import Path

import platformdirs

from app.sanitise import clean


def report(error: BaseException, now: datetime) -> str:
    """Write the traceback to a file and return the line to print."""
    details = "".join(traceback.format_exception(error))
    name = f"simtui-error-{now:%Y%m%d-%H%M%S}-{os.getpid()}.txt"
    what = clean(f"{type(error).__name__}: {error}", 300)
    for folder in (platformdirs.user_log_path("simtui"), Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(details, errors="backslashreplace")
        except OSError:
            continue
        return f"error in simtui itself: {what}; please report it with {clean(folder / name)}"
    return f"error in simtui itself: {what}; please report it (its details could not be written to a file)"
