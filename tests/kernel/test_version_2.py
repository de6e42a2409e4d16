"""What a machine with cgroup version 2 does, on a kernel that is booted for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernel.boot import KERNEL, REASON, run_tests

pytestmark = pytest.mark.skipif(KERNEL is None, reason=REASON)
_GROUPS = ("test_version_2", "test_cgroup", "test_cpu_limit", "test_confinement")


def test_groups_live_and_limit_as_they_do_on_any_machine(tmp_path: Path) -> None:
    outcomes = run_tests([f"tests/isolation/{name}.py" for name in _GROUPS], tmp_path, timeout_s=900)
    failed = {name: outcome for name, outcome in outcomes.items() if not outcome.startswith(("passed", "skipped"))}
    assert not failed, "\n".join(f"{name}:\n{outcome}" for name, outcome in failed.items())
    assert sum("test_version_2" in name and outcome == "passed" for name, outcome in outcomes.items()) >= 10
    assert not [outcome for name, outcome in outcomes.items() if "skipped" in outcome and "cgroup" in outcome]
