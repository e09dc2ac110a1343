"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# a time limit for each example fails when the machine is busy
settings.register_profile("simtui", deadline=None)
settings.load_profile("simtui")
