import pytest

from touchstone.record.evidence.stop import Handover

from ..sound import fired
from ..stops import stopped


def test_a_second_process_that_is_cold() -> None:
    (finding,) = fired(stopped("rolling", handover=Handover(gap_s=0.412), rate=200.0), "gap-at-replacement")
    assert "412 ms" in finding.statement


@pytest.mark.parametrize(("gap_s", "rate"), [(0.24, 200.0), (3.0, 5.0)])
def test_a_gap_that_nobody_notices_or_that_few_requests_explain(gap_s: float, rate: float) -> None:
    assert not fired(stopped("rolling", handover=Handover(gap_s=gap_s), rate=rate), "gap-at-replacement")


def test_a_stop_without_a_successor_has_no_gap() -> None:
    assert not fired(stopped(rate=200.0), "gap-at-replacement")
