import pytest

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity
from touchstone.record.evidence.surroundings import CpuAtEnd

from ..slices import resting_run
from ..sound import codes, fired, loads


@pytest.mark.parametrize(("share", "severity"), [(0.045, Severity.NOTE), (0.08, Severity.SUSPECT)])
def test_a_contender_that_puts_work_off_is_named_with_what_it_may_have_hidden(share: float, severity: Severity) -> None:
    run = resting_run(lambda name: share if name == "rust/plain" else 0.0)
    found = fired(run, "works-while-off")
    assert {f.contender for f in found} == {"rust/plain"}
    assert found[0].severity is severity
    assert found[0].doubt is not None and found[0].doubt.slower == pytest.approx(1 + share)


@pytest.mark.parametrize(("share", "severity"), [(0.049, Severity.NOTE), (0.051, Severity.SUSPECT)])
def test_five_percent_of_its_own_cpu_are_suspect(share: float, severity: Severity) -> None:
    # It uses two CPUs: a twentieth is well above what idle runtimes use.
    run = resting_run(lambda name: share if name == "rust/plain" else 0.0, own_cpus=2.0)
    assert {f.severity for f in fired(run, "works-while-off")} == {severity}


@pytest.mark.parametrize(
    ("cpus", "severity"), [(0.003, Severity.NOTE), (0.009, Severity.NOTE), (0.011, Severity.SUSPECT)]
)
def test_timers_are_no_work_put_off_next_to_a_load_that_needs_little(cpus: float, severity: Severity) -> None:
    # 1,000 requests per second of 40 us: 4 % of a CPU.
    run = resting_run(lambda name: 2 * cpus / 0.04 if name == "rust/plain" else 0.0, own_cpus=0.04)
    assert {f.severity for f in fired(run, "works-while-off")} == {severity}


@pytest.mark.parametrize(
    ("at_rest", "at_work", "severity"),
    [
        (0.012, 0.1, Severity.NOTE),
        (0.025, 0.0, Severity.SUSPECT),
        (0.0005, 0.2, None),  # it syncs on its own turn, and the last one ends a little later
    ],
)
def test_syncs_to_disk_that_are_put_off_are_named(at_rest: float, at_work: float, severity: Severity | None) -> None:
    run = resting_run(lambda _name: 0.0)
    for sample in run.samples:
        for one in sample.slices.slices if sample.slices and sample.phase == "load" else []:
            others = at_work if sample.contender == "rust/plain" else at_rest / 2
            one.disk_waits_s = [0.0, others, 0.0]
    found = fired(run, "works-while-off")
    assert {(f.contender, f.severity) for f in found} == ({("rust/plain", severity)} if severity else set())


def test_timers_of_idle_runtimes_are_silent() -> None:
    assert codes(resting_run(lambda _name: 0.015)) == set()


def test_the_one_that_works_while_off_is_not_called_faster() -> None:
    run = resting_run(lambda name: 0.5 if name == "rust/plain" else 0.0)
    (found,) = (c for c in judge(run).comparisons if c.figure == "throughput")
    assert found.low is not None and found.low < 0.75


@pytest.mark.parametrize(
    ("before_s", "ending_s", "severity"),
    [
        (10.0, 0.19, None),
        (10.0, 0.3, Severity.NOTE),
        (10.0, 0.49, Severity.NOTE),
        (10.0, 0.51, Severity.SUSPECT),
        (0.4, 0.24, None),  # a runtime ends, after a load that needed little
        (0.4, 0.26, Severity.SUSPECT),
    ],
)
def test_what_is_put_off_until_the_end_is_told_beyond_what_a_runtime_ends_in(
    before_s: float, ending_s: float, severity: Severity | None
) -> None:
    run = resting_run(lambda _name: 0.0)
    for sample in loads(run, "rust/plain"):
        sample.process.cpu_at_end = CpuAtEnd(before_s=before_s, ending_s=ending_s)
    found = fired(run, "works-while-off")
    assert {(f.contender, f.severity) for f in found} == ({("rust/plain", severity)} if severity else set())
    if found:
        assert found[0].doubt is not None and found[0].doubt.slower == pytest.approx(1 + ending_s / before_s)
