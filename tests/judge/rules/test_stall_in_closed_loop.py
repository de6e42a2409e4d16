import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.engine import Silence
from touchstone.record.run import Run

from ..slices import sliced_run
from ..sound import codes, fired, first_load, result_of, sound_run


def silent(seconds: float, longest: float, p50: float = 2e-3, tares: float = 0.0) -> Run:
    """A window of 10 s with this amount of silence."""
    run = sound_run()
    result = result_of(first_load(run))
    result.silence, result.latency.p50 = Silence(seconds=seconds, longest_s=longest), p50
    for sample in run.samples:
        if sample.contender == "tare" and sample.result:
            sample.result.silence = Silence(seconds=tares * sample.result.window.measured_s, longest_s=longest)
    return run


def test_four_tenths_of_a_second_in_each_five() -> None:
    (finding,) = fired(silent(0.8, 0.4), "stall-in-closed-loop")
    assert finding.severity is Severity.SUSPECT
    assert "8 % of the window" in finding.statement
    assert "throughput" not in (finding.figures or [])


def test_a_collectors_pauses_are_noted() -> None:
    (finding,) = fired(silent(0.6, 0.12), "stall-in-closed-loop")
    assert finding.severity is Severity.NOTE


@pytest.mark.parametrize(("seconds", "severity"), [(0.99, Severity.NOTE), (1.01, Severity.SUSPECT)])
def test_a_tenth_of_the_time_is_too_much_however_short_the_gaps(seconds: float, severity: Severity) -> None:
    (finding,) = fired(silent(seconds, 0.1), "stall-in-closed-loop")
    assert finding.severity is severity


def test_a_generator_without_a_cpu_hears_nothing() -> None:
    run = silent(0.8, 0.4)
    result_of(first_load(run)).generator.threads[0].delayed_s = 0.7
    assert "stall-in-closed-loop" not in codes(run)


def test_what_the_generator_waited_outside_of_the_gaps_does_not_count() -> None:
    run = silent(0.8, 0.4)
    result = result_of(first_load(run))
    assert result.silence is not None
    result.silence.deaf_s, result.generator.threads[0].delayed_s = 0.05, 4.0
    (finding,) = fired(run, "stall-in-closed-loop")
    assert "8 % of the window" in finding.statement


def of_a_slow_service(seconds: float, longest: float, connections: int = 64) -> Run:
    """A service that takes 20 ms was silent for so long in gaps longer than its waves, and in all for twice as long."""
    run = silent(2 * seconds, longest, p50=20e-3)
    result = result_of(first_load(run))
    assert result.silence is not None
    result.silence.longer = [(0.05, 2 * seconds), (0.075, 1.5 * seconds), (0.1125, seconds), (0.16875, longest)]
    result.connections.established = connections
    return run


@pytest.mark.parametrize(
    ("seconds", "severity"), [(0.19, None), (0.21, Severity.NOTE), (0.99, Severity.NOTE), (1.01, Severity.SUSPECT)]
)
def test_of_a_slow_service_gaps_beyond_its_own_pace_count(seconds: float, severity: Severity | None) -> None:
    found = fired(of_a_slow_service(seconds, 0.17), "stall-in-closed-loop")
    assert [finding.severity for finding in found] == ([severity] if severity else [])


@pytest.mark.parametrize(("connections", "fires"), [(3, False), (4, True)])
def test_where_few_requests_are_under_way_one_slow_response_is_a_gap(connections: int, fires: bool) -> None:
    run = of_a_slow_service(0.8, 0.17, connections)
    assert ("stall-in-closed-loop" in codes(run)) is fires


@pytest.mark.parametrize(
    "run",
    [
        silent(0.2, 0.2),
        silent(0.0, 0.0),
        silent(9.0, 0.1, p50=0.09),
        silent(0.8, 0.4, tares=0.08),
    ],
    ids=["once", "never", "a slow service", "the machine"],
)
def test_other_silence_is_no_stall(run: Run) -> None:
    assert "stall-in-closed-loop" not in codes(run)


def test_others_that_were_silent_in_the_same_laps_are_the_machine() -> None:
    run = sliced_run({"go/plain": 10_000.0, "rust/plain": 10_000.0})
    named = [sample for sample in run.samples if sample.slices is not None]
    for sample in named:
        result = result_of(sample)
        result.silence, result.latency.p50 = Silence(seconds=0.0, longest_s=0.0), 2e-3
    first = next(sample for sample in named if sample.contender == "go/plain")
    around = [sample for sample in named if sample.round == first.round and sample is not first]
    assert len(around) == 2
    for silent_too, fires in ((0, True), (1, True), (2, False)):
        for number, sample in enumerate([first, *around]):
            measured = result_of(sample).window.measured_s
            quiet = number > silent_too
            result_of(sample).silence = Silence(seconds=0.0 if quiet else 0.08 * measured, longest_s=0.4)
        found = [f for f in fired(run, "stall-in-closed-loop") if f.sample == first.id]
        assert bool(found) is fires
