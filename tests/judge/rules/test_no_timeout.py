from typing import Any

from touchstone.record.evidence.disturb import PatienceProbe

from ..disturbances import disturbed
from ..sound import fired


def probe(waited_s: float, *, answered: bool) -> dict[str, Any]:
    one = PatienceProbe(request="order", dependency="database", waited_s=waited_s, answered=answered)
    return {"patience": [one], "patience_s": 15.0}


def test_a_request_that_nobody_answered_has_no_timeout() -> None:
    (finding,) = fired(disturbed(**probe(15.0, answered=False)), "no-timeout")
    assert finding.statement == "order got no response within 15 s while database stalled"


def test_a_long_timeout_is_one() -> None:
    assert not fired(disturbed(**probe(14.0, answered=True)), "no-timeout")
