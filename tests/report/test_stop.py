"""What each contender does when it gets SIGTERM, in a sentence."""

from __future__ import annotations

from tests.judge.stops import stopped
from touchstone.judge.judge import judge
from touchstone.record.evidence.stop import Outcomes
from touchstone.record.run import Run
from touchstone.report.stop import stop_lines
from touchstone.report.view import PhaseAndLoad, View


def lines(run: Run, case: str = "in-flight") -> list[str]:
    return stop_lines(View(run, judge(run)), PhaseAndLoad("stop", case))


def test_a_sentence_counts_requests_from_the_signal_on() -> None:
    (line,) = lines(stopped(after=Outcomes(right=3, refused=2, stale=1, cut=2)))
    assert "ends 20.0 ms after SIGTERM; of 8 requests then: 3 answered, 2 refused" in line
    assert line.endswith("1 on connections closed under them, 2 lost.")


def test_a_service_that_did_not_end_had_to_be_killed() -> None:
    (line,) = lines(stopped("stuck", after=Outcomes(), stop_s=None), "stuck")
    assert "had to be killed in 1 of 1 stops" in line


def test_a_stop_that_never_took_place_is_no_kill() -> None:
    assert not lines(stopped(stop_s=None, failure="the process ended by itself"))
