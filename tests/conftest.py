"""What holds for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A machine that others use makes any example late; and what was drawn once is not kept between runs.
settings.register_profile("any-machine", deadline=None, suppress_health_check=list(HealthCheck), database=None)
settings.load_profile("any-machine")
