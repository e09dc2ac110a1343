"""Property tests without a deadline: on a machine that others use, any example may once take long."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
