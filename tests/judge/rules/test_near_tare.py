import pytest

from touchstone.judge.judgement import Severity

from ..slices import put_slices
from ..sound import codes, fired, first_load, sound_run, watch_of


def test_a_server_with_cpu_to_spare_at_the_ceiling() -> None:
    run = sound_run(tare_rate=21_000.0, contenders={"go/std": 20_000.0})
    watch_of(first_load(run)).window.cpu_s = 5.0
    (finding,) = fired(run, "near-tare")
    assert finding.severity is Severity.SUSPECT


def test_what_others_took_of_its_cpu_it_could_not_have_used() -> None:
    run = sound_run(tare_rate=21_000.0, contenders={"go/std": 20_000.0})
    sample = first_load(run)
    put_slices(sample, [20_000.0] * 10)
    watch_of(sample).window.cpu_s = 7.0
    assert sample.slices is not None
    for one in sample.slices.slices:
        one.taken_here = 0.125
    (finding,) = fired(run, "near-tare")
    assert finding.evidence["server_busy"] == pytest.approx(0.8)
    for one in sample.slices.slices:
        one.taken_here = 0.25
    assert "near-tare" not in codes(run)


def test_a_server_as_fast_as_the_null_server_with_its_cpu_full() -> None:
    run = sound_run(tare_rate=20_000.0, contenders={"go/std": 20_000.0})
    assert codes(run) == set()


def test_an_open_loop_is_at_the_tares_rate_by_design() -> None:
    assert codes(sound_run(offered=2000.0)) == set()
