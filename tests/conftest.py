"""What holds for all tests."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A machine that others use makes any example late; and what was drawn once is not kept between runs.
settings.register_profile("any-machine", deadline=None, suppress_health_check=list(HealthCheck), database=None)
settings.load_profile("any-machine")

REAL_LOADS = (
    "cli/test_ab.py",
    "cli/test_history.py",
    "cli/test_load.py",
    "engine/test_generators.py",
    "engine/test_slices.py",
    "engine/test_stop.py",
    "engine/test_streams.py",
    "faults/",
    "phase/test_capacity.py",
    "phase/test_disturb.py",
    "phase/test_drain.py",
    "phase/test_peak.py",
    "phase/test_profile.py",
    "phase/test_without_rest.py",
    "run/",
    "traffic/test_after_answers.py",
)
"""Tests that put loads on real services. A machine that others use may stall under one of them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have a failed test of a real load run once more, listed in the summary. Other tests are never repeated."""
    loads = tuple(str(Path(__file__).parent / name) for name in REAL_LOADS)
    for item in items:
        if str(item.path).startswith(loads):
            item.add_marker(pytest.mark.flaky(reruns=1))


# What a shell starts in the background ignores Ctrl-C, and so does all that it starts: tests that interrupt a run would
# wait for it.
signal.signal(signal.SIGINT, signal.default_int_handler)
