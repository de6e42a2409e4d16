"""What holds for all tests."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# A machine that others use makes any example late; and what was drawn once is not kept between runs.
settings.register_profile("any-machine", deadline=None, suppress_health_check=list(HealthCheck), database=None)
settings.load_profile("any-machine")

# What a shell starts in the background ignores Ctrl-C, and so does all that it starts: tests that interrupt a run would
# wait for it.
signal.signal(signal.SIGINT, signal.default_int_handler)
