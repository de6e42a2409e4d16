import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.distribution import Distribution
from touchstone.record.events import Events
from touchstone.record.run import Run

from ..sound import codes, fired, first_load, result_of, sound_run

CODE = "events-buffered"


def streams(lasting: int, in_burst: int, delay_s: float | None = None) -> Run:
    run = sound_run()
    delay = Distribution() if delay_s is None else Distribution(count=400, p50=delay_s, p90=delay_s)
    result_of(first_load(run)).events = Events(
        count=400, first=Distribution(count=20, p50=0.235), delay=delay, lasting=lasting, in_burst=in_burst
    )
    return run


def test_a_burst_at_the_end_of_each_stream_is_named() -> None:
    (finding,) = fired(streams(20, 20), CODE)
    assert finding.severity is Severity.SUSPECT
    assert "100 % of 20 streams" in finding.statement and "235 ms" in finding.statement
    assert "first_event_p50" in (finding.figures or [])


@pytest.mark.parametrize(
    ("lasting", "in_burst", "fires"), [(9, 9, False), (10, 10, True), (20, 10, True), (20, 9, False)]
)
def test_the_thresholds_are_ten_streams_and_half_of_them(lasting: int, in_burst: int, fires: bool) -> None:
    assert (CODE in codes(streams(lasting, in_burst))) is fires


@pytest.mark.parametrize(("delay_s", "fires"), [(0.0002, False), (0.0235, False), (0.024, True), (0.11, True)])
def test_stamps_show_whether_the_service_made_its_events_at_once(delay_s: float, fires: bool) -> None:
    assert (CODE in codes(streams(20, 20, delay_s))) is fires


def test_a_response_that_is_no_stream_is_sound() -> None:
    assert CODE not in codes(sound_run())
