import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.run import Run

from ..sound import MIB, codes, fired, first_load, loads, sound_run, watch_of


def _grow(run: Run, a_second: float) -> None:
    for sample in loads(run, "go/std"):
        for point in watch_of(sample).series:
            point.anon = int(40 * MIB + a_second * point.t)


@pytest.mark.parametrize("window,severity", [(10.0, Severity.NOTE), (40.0, Severity.SUSPECT)])
def test_a_leak(window: float, severity: Severity) -> None:
    run = sound_run(seconds=window)
    _grow(run, 20 * MIB)
    (finding,) = fired(run, "memory-grows")
    assert (finding.contender, finding.severity) == ("go/std", severity)


@pytest.mark.parametrize(("window", "expected"), [(0.7, 1), (0.5, 0)])
def test_a_leak_in_a_quick_run_is_a_note_from_two_and_a_half_seconds_of_load_on(window: float, expected: int) -> None:
    # The warm-up takes 2 s.
    run = sound_run(seconds=window)
    _grow(run, 40 * MIB)
    found = fired(run, "memory-grows")
    assert [finding.severity for finding in found] == [Severity.NOTE] * expected


def test_a_small_leak_of_a_small_service_is_a_note() -> None:
    run = sound_run(seconds=40.0)
    for sample in loads(run, "go/std"):
        for point in watch_of(sample).series:
            point.anon = int(4 * MIB + 0.4 * MIB * point.t)
    (finding,) = fired(run, "memory-grows")
    assert finding.severity is Severity.NOTE


def test_anonymous_memory_that_is_read_now_and_then_is_not_mixed_with_rss() -> None:
    run = sound_run(seconds=40.0)
    for sample in loads(run, "go/std"):
        for number, point in enumerate(watch_of(sample).series):
            point.rss = int(40 * MIB + 2 * MIB * point.t)
            point.anon = 10 * MIB if number % 7 == 0 else None
    assert fired(run, "memory-grows")


def test_a_heap_that_is_collected_now_and_then() -> None:
    run = sound_run(seconds=40.0)
    for sample in loads(run):
        for number, point in enumerate(watch_of(sample).series):
            point.anon = 40 * MIB + (number % 90) * MIB * 3
    assert codes(run) == set()


def test_a_heap_that_grows_to_its_size_and_stays() -> None:
    run = sound_run(seconds=10.0)
    for sample in loads(run):
        for point in watch_of(sample).series:
            point.anon = int(40 * MIB + min(point.t, 7.0) * 100 * MIB)
    assert codes(run) == set()


def test_one_round_without_growth_clears_it() -> None:
    run = sound_run(seconds=40.0)
    _grow(run, 20 * MIB)
    for point in watch_of(first_load(run)).series:
        point.anon = 40 * MIB
    assert not fired(run, "memory-grows")
