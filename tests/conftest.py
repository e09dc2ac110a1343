"""What holds for all tests."""

from __future__ import annotations

import signal

from hypothesis import settings

# a time limit for each example fails when the machine is busy
settings.register_profile("simtui", deadline=None)
settings.load_profile("simtui")

# A shell that starts tests in the background may have them ignore Ctrl-C, which some of them are about.
signal.signal(signal.SIGINT, signal.default_int_handler)
