"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("simtui", deadline=None)  # a time limit for each example fails when the machine is busy
settings.load_profile("simtui")
