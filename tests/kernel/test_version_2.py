"""What a machine with cgroup version 2 does, on a kernel that is booted for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernel.boot import KERNEL, REASON, run_tests

pytestmark = pytest.mark.skipif(KERNEL is None, reason=REASON)
_GROUPS = ("test_version_2", "test_cgroup", "test_cpu_limit", "test_confinement")


def holds(outcomes: dict[str, str], least: int) -> None:
    """Fail with what failed; at least this number must have passed, and none may have been skipped for want of a
    cgroup."""
    failed = {name: outcome for name, outcome in outcomes.items() if not outcome.startswith(("passed", "skipped"))}
    assert not failed, "\n".join(f"{name}:\n{outcome}" for name, outcome in failed.items())
    assert not [outcome for outcome in outcomes.values() if "skipped" in outcome and "cgroup" in outcome]
    assert list(outcomes.values()).count("passed") >= least, outcomes


def test_groups_live_and_limit_as_they_do_on_any_machine(tmp_path: Path) -> None:
    holds(run_tests([f"tests/isolation/{name}.py" for name in _GROUPS], tmp_path, timeout_s=900), 20)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/lib/systemd/systemd").exists(), reason="needs systemd's programs")
def test_systemd_gives_the_lab_a_scope(tmp_path: Path) -> None:
    holds(run_tests(["tests/isolation/test_systemd.py"], tmp_path, timeout_s=600, systemd=True), 7)


@pytest.mark.slow
def test_limits_hold_floors_are_found_and_containers_are_sized(tmp_path: Path) -> None:
    holds(run_tests(["-m", "slow", "tests/run/test_limits.py"], tmp_path, timeout_s=1500), 3)
