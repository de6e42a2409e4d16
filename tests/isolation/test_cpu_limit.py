"""A CPU limit is kept by the kernel, and where it cannot be set, that is said."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import psutil
import pytest

from touchstone.bench import service
from touchstone.bench.service import limit_cpus
from touchstone.isolation.cgroup import Cgroup, create_cgroup
from touchstone.isolation.delegation import Refusal
from touchstone.isolation.process import StartError, start_process
from touchstone.record.process import Process


def blank() -> Process:
    return Process(id="x", contender="one/plain")


def cpu_share(cgroup: Cgroup, log: Path) -> float:
    """What a busy loop in the group gets of one CPU."""
    process = start_process([sys.executable, "-c", "while True: pass"], env={}, cwd=log.parent, log=log, cgroup=cgroup)
    try:
        watched = psutil.Process(process.pid)
        time.sleep(0.5)
        start, used = time.monotonic(), sum(watched.cpu_times()[:2])
        time.sleep(2.0)
        return (sum(watched.cpu_times()[:2]) - used) / (time.monotonic() - start)
    finally:
        process.stop(1.0)


def test_a_busy_loop_gets_no_more_than_its_limit(tmp_path: Path) -> None:
    cgroup = create_cgroup()
    if cgroup is None or "cpu" not in cgroup.paths:
        pytest.skip("no cgroup with the controller cpu is permitted here")
    record = blank()
    limit_cpus(cgroup, record, 0.2)
    assert record.placement.cpu_limit == 0.2
    assert cpu_share(cgroup, tmp_path / "log") < 0.3


def test_no_limit_leaves_the_record_as_it_is() -> None:
    record = blank()
    limit_cpus(None, record, None)
    assert record.placement.cpu_limit is None


def test_a_limit_is_refused_with_its_reason_where_groups_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "lacking", lambda *_: Refusal("nobody delegated one", "delegate one"))
    with pytest.raises(StartError, match=r"a limit of 0\.5 CPUs needs a cgroup: nobody delegated one\n  do: delegate"):
        limit_cpus(None, blank(), 0.5)


@pytest.mark.parametrize("cgroup", [Cgroup(1, {}), Cgroup(2, {"cpu": Path("/proc/no-such-group")})])
def test_a_limit_that_the_kernel_refuses_is_not_measured(monkeypatch: pytest.MonkeyPatch, cgroup: Cgroup) -> None:
    monkeypatch.setattr(service, "lacking", lambda *_: None)
    with pytest.raises(StartError, match=r"not measured: a limit of 0\.5 CPUs needs the controller cpu, .* off while"):
        limit_cpus(cgroup, blank(), 0.5)
