import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.engine import DelayedResponses, ResponsesByConnection
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample

from ..slices import sliced_run
from ..sound import codes, fired, first_load, result_of, sound_run

PLACES_S = 64 * 10.0
"""The time of all connections of a load together."""
RATES = {"go/plain": 64_000.0, "rust/plain": 64_000.0}
"""So p99 of a slice is 3 ms."""


def waiting(part: float, *, connections: int | None = 16, tares: float = 0.0, p99: float = 5e-3) -> Run:
    """A window in which connections waited for a share of their time while others were served."""
    run = sound_run()
    result = result_of(first_load(run))
    answers = round(part * PLACES_S / 0.3)
    result.held_up = DelayedResponses(answers=answers, seconds=part * PLACES_S, longest_s=0.31, connections=connections)
    result.latency.p99 = p99
    for sample in run.samples:
        if sample.contender == TARE and sample.result:
            measured = sample.result.window.measured_s * sample.result.connections.established
            sample.result.held_up = DelayedResponses(answers=9, seconds=tares * measured, longest_s=0.3)
    return run


def ending_late(after_s: float, *, of: int = 2, answers: int = 6, tare_s: float = 0.0) -> Run:
    """A run in slices: of one contender the last response of each second slice, or of each `of`-th, comes so late."""
    run = sliced_run(RATES)

    def plant(sample: Sample, seconds: float) -> None:
        assert sample.slices is not None
        result_of(sample).held_up = DelayedResponses(answers=answers, seconds=1.5, longest_s=0.25, connections=1)
        for one in sample.slices.slices[::of]:
            one.end = one.sending_end + seconds

    plant(first_load(run), after_s)
    for sample in run.samples:
        if sample.contender == TARE and sample.slices is not None and tare_s:
            plant(sample, tare_s)
    return run


def test_one_worker_of_four_that_takes_300_ms() -> None:
    (finding,) = fired(waiting(0.25), "connections-wait")
    assert finding.severity is Severity.SUSPECT
    assert "16 of 64 connections wait while others are served" in finding.statement
    assert "up to 310 ms" in finding.statement and "25 % of the time" in finding.statement
    assert "latency_p99" in (finding.figures or []) and "throughput" not in (finding.figures or [])


@pytest.mark.parametrize(("part", "fires"), [(0.019, False), (0.021, True)])
def test_the_threshold_is_two_in_a_hundred(part: float, fires: bool) -> None:
    assert ("connections-wait" in codes(waiting(part))) is fires


def behind(behind: int, part: float, *, median: int = 900, of_tare: int = 0) -> Run:
    """A window in which `behind` connections got less than half of the others' responses, and this part of all."""
    run = sound_run()
    for sample in run.samples:
        if sample.result:
            sample.result.by_connection = ResponsesByConnection(
                median=9_000, fewest=40 if of_tare else 8_700, behind=of_tare, share=0.002 * of_tare
            )
    spread = ResponsesByConnection(median=median, fewest=median // 9, behind=behind, share=part)
    result_of(first_load(run)).by_connection = spread
    return run


def test_a_connection_that_is_served_slowly_gets_too_few_responses_for_p99() -> None:
    (finding,) = fired(behind(1, 0.002), "connections-wait")
    assert finding.severity is Severity.SUSPECT
    assert (
        "1 of 64 connections is starved and received 0.2 % of all responses: the slowest received 100, the median "
        "connection 900" in finding.statement
    )
    assert "latency_p99" in (finding.figures or []) and "throughput" not in (finding.figures or [])


def test_where_their_responses_are_enough_for_p99_it_is_a_note() -> None:
    (finding,) = fired(behind(8, 0.2), "connections-wait")
    assert finding.severity is Severity.NOTE


@pytest.mark.parametrize("run", [behind(0, 0.0), behind(1, 0.002, median=99), behind(1, 0.002, of_tare=1)])
def test_few_responses_and_what_the_tare_has_too_are_no_sign(run: Run) -> None:
    assert "connections-wait" not in codes(run)


def test_without_keep_alive_nobody_is_named() -> None:
    (finding,) = fired(waiting(0.1, connections=None), "connections-wait")
    assert finding.statement.startswith("some connections wait while")


def test_what_p99_shows_is_a_note() -> None:
    (finding,) = fired(waiting(0.1, p99=0.3), "connections-wait")
    assert finding.severity is Severity.NOTE


@pytest.mark.parametrize(("connections", "severity"), [(32, Severity.SUSPECT), (33, Severity.NOTE)])
def test_what_falls_on_most_connections_is_a_note(connections: int, severity: Severity) -> None:
    (finding,) = fired(waiting(0.1, connections=connections), "connections-wait")
    assert finding.severity is severity


def test_a_single_connection_still_waits_when_all_others_have_been_answered() -> None:
    (finding,) = fired(ending_late(0.07), "connections-wait")
    assert "1 of 64 connections waits" in finding.statement and "50 % of the slices" in finding.statement


@pytest.mark.parametrize(
    "run",
    [
        sound_run(),
        waiting(0.1, tares=0.1),
        ending_late(0.05),
        ending_late(0.07, of=3),
        ending_late(0.07, tare_s=0.07),
        ending_late(0.3, answers=0),
        ending_late(0.3, answers=5),
    ],
    ids=["never", "the machine", "as usual", "seldom", "the machine, in slices", "all waited", "a slow request"],
)
def test_other_waits_are_none(run: Run) -> None:
    assert "connections-wait" not in codes(run)
