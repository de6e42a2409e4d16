import pytest

from touchstone.record.run import Run
from touchstone.record.watch import ThrottledGroup

from ..sound import fired, first_load, sound_run, watch_of


def test_a_quota_that_cut_the_window() -> None:
    run = sound_run()
    watch_of(first_load(run)).window.throttled_s = 1.0
    (finding,) = fired(run, "cpu-throttled")
    assert "1 s of 10 s" in finding.statement


def test_a_hundredth_of_the_window_is_nothing() -> None:
    run = sound_run()
    watch_of(first_load(run)).window.throttled_s = 0.1
    assert not fired(run, "cpu-throttled")


def test_many_short_cuts_by_the_quota_of_a_group_that_the_lab_did_not_make() -> None:
    run = sound_run()
    watch = watch_of(first_load(run))
    watch.window.throttled_s, watch.window.periods, watch.window.throttled_periods = 0.09, 83, 9
    watch.throttled = [ThrottledGroup(cgroup="/sys/fs/cgroup/cpu/web", periods=90, throttled_periods=9)]
    (finding,) = fired(run, "cpu-throttled")
    assert "in 9 of 83 periods, by the quota of /sys/fs/cgroup/cpu/web" in finding.statement


def test_one_period_in_ten_is_nothing() -> None:
    run = sound_run()
    window = watch_of(first_load(run)).window
    window.throttled_s, window.periods, window.throttled_periods = 0.09, 90, 9
    assert not fired(run, "cpu-throttled")


def test_a_cut_in_few_periods_decides_nothing() -> None:
    run = sound_run()
    window = watch_of(first_load(run)).window
    window.throttled_s, window.periods, window.throttled_periods = 0.09, 9, 9
    assert not fired(run, "cpu-throttled")


def limited(group: str) -> Run:
    run = sound_run()
    load = first_load(run)
    load.process.placement = load.process.placement.model_copy(update={"cpu_limit": 0.5})
    watch = watch_of(load)
    watch.window.throttled_s = 5.0
    watch.throttled = [ThrottledGroup(cgroup=group, periods=90, throttled_periods=60)]
    return run


@pytest.mark.parametrize(
    "group",
    [
        "/sys/fs/cgroup/cpu/touchstone-7-0001ab",
        "/sys/fs/cgroup/system.slice/touchstone-7.scope/touchstone-7-0001ab",
        "/sys/fs/cgroup/machine.slice/libpod-0001ab.scope",
        "/sys/fs/cgroup/cpu/docker/0001ab",
    ],
)
def test_the_limit_that_was_asked_for_is_no_fault(group: str) -> None:
    assert not fired(limited(group), "cpu-throttled")


@pytest.mark.parametrize("group", ["/sys/fs/cgroup/cpu/web", "/sys/fs/cgroup/system.slice/touchstone-7.scope"])
def test_a_quota_beside_the_limit_that_was_asked_for_is_one(group: str) -> None:
    (finding,) = fired(limited(group), "cpu-throttled")
    assert f"by the quota of {group}" in finding.statement
