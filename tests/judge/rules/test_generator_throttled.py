import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.run import Run
from touchstone.record.sample import Sample

from ..sound import fired, first_load, result_of, sound_run

QUOTA = "/sys/fs/cgroup/system.slice/ci.service"


def throttled(share: float) -> tuple[Run, Sample]:
    run = sound_run()
    load = first_load(run)
    result = result_of(load)
    result.generator.quotas = [QUOTA]
    for thread in result.generator.threads:
        thread.throttled_s = share * result.window.measured_s
    return run, load


@pytest.mark.parametrize(("share", "severity"), [(0.02, Severity.SUSPECT), (0.2, Severity.INVALID)])
def test_a_quota_that_held_the_generator_back(share: float, severity: Severity) -> None:
    (finding,) = fired(throttled(share)[0], "generator-throttled")
    assert f"by the quota of {QUOTA}" in finding.statement
    assert finding.severity is severity


@pytest.mark.parametrize("share", [0.0, 0.01])
def test_a_hundredth_of_the_window_is_nothing(share: float) -> None:
    assert not fired(throttled(share)[0], "generator-throttled")


def test_a_throttled_generator_is_not_said_to_be_short_of_cpus() -> None:
    run, load = throttled(0.2)
    result = result_of(load)
    load.spec.loop = "open"
    result.lateness.p99, result.latency.p99 = 0.05, 0.04
    for thread in result.generator.threads:
        thread.busy = 0.99
    assert not fired(run, "late-sends")
    assert not fired(run, "generator-saturated")
