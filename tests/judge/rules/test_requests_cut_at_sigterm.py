from touchstone.record.process import EndingWithClients
from touchstone.record.run import Run

from ..sound import fired, sound_run


def ended(ending: EndingWithClients) -> Run:
    run = sound_run()
    next(s for s in run.samples if s.phase == "verify").process.ending = ending
    return run


def test_a_request_in_flight_without_a_response() -> None:
    run = ended(
        EndingWithClients(took_s=0.1, in_flight="/report", cut="RemoteDisconnected: Remote end closed connection")
    )
    (finding,) = fired(run, "requests-cut-at-sigterm")
    assert "/report was in flight" in finding.statement


def test_a_request_in_flight_that_was_answered() -> None:
    assert not fired(ended(EndingWithClients(took_s=1.5, in_flight="/report")), "requests-cut-at-sigterm")


def test_a_contract_without_a_long_request() -> None:
    assert not fired(ended(EndingWithClients(took_s=0.1)), "requests-cut-at-sigterm")
