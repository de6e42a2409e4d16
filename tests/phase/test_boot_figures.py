"""The figures of starts, and the message for a start without a correct response."""

from __future__ import annotations

import pytest

from touchstone.phase.boot.phase import boot_figures
from touchstone.record.boot_result import BootRun


@pytest.mark.parametrize(("failure", "longer"), [("timeout", True), ("exited", False)])
def test_a_start_that_took_too_long_names_the_key(failure: str, longer: bool) -> None:
    figures, failed = boot_figures([BootRun(failure=failure, evidence="no valid response within 60 s")])
    assert figures == {}
    assert failed is not None
    assert ("`within_s` of [ready] in scenario.toml" in (failed.fix or "")) is longer
