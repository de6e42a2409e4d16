from touchstone.record.evidence.stop import Outcomes, StreamsEnded

from ..sound import fired
from ..stops import stopped


def test_streams_that_are_cut() -> None:
    run = stopped("streams", after=Outcomes(), streams=StreamsEnded(open=8, ended=5, cut=3))
    (finding,) = fired(run, "streams-cut-at-stop")
    assert "3 of 8" in finding.statement


def test_streams_that_end_or_are_left_open() -> None:
    run = stopped("streams", after=Outcomes(), streams=StreamsEnded(open=8, ended=6, left=2))
    assert not fired(run, "streams-cut-at-stop")
