"""`touchstone-engine stop` over HTTP/2: its counts equal those of the service's own log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.test_stop import Planted, lost_by_the_log, starts
from touchstone.engine.client import EngineError
from touchstone.record.evidence.stop import Outcomes, StopResult

_SERVICE = Path(__file__).parents[1] / "phase" / "stopping_h2_service.py"


@pytest.fixture(params=["h2c", "h2"])
def planted(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from starts(tmp_path, tls=request.param == "h2", service=_SERVICE)


def stopped(one: Planted, **job: Any) -> StopResult:
    """The end of a service that is asked over HTTP/2."""
    return one.stop(protocol="h2" if one.scheme == "https" else "h2c", **job)


def held(one: Planted) -> Outcomes:
    """What became of eight slow requests that were in flight at the signal."""
    result = stopped(one, target="/slow", held=8, lead_s=0.5)
    assert result.failure is None
    assert result.under_way.sent == 8
    return result.under_way


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow request is in flight until the service ends."""
    monkeypatch.setenv("STOP_SLOW_S", "60")


def test_a_service_that_says_goaway_and_responds_loses_nothing(planted: Any) -> None:
    one = planted("graceful")
    result = stopped(one, rate=200.0, connections=8)
    after, said = result.from_signal, one.said()
    assert result.failure is None
    assert (after.lost, after.stale) == (0, 0)
    assert said["read"] == said["answered"] == result.sent.right


def test_requests_in_flight_below_the_last_stream_of_goaway_are_waited_for(
    planted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOP_SLOW_S", "2")
    assert held(planted("graceful")) == Outcomes(right=8)


@pytest.mark.usefixtures("endless")
def test_requests_above_the_last_stream_of_goaway_are_refused(planted: Any) -> None:
    one = planted("disowns")
    found = held(one)
    assert found.unprocessed == one.said()["refused"] > 0
    assert found.turned_away == found.unprocessed
    assert found.cut == 0


def test_a_refused_stream_is_a_refusal_and_its_connection_goes_on(planted: Any) -> None:
    one = planted("refuses")
    result = stopped(one, rate=400.0, connections=4)
    after, said = result.from_signal, one.said()
    assert after.unprocessed == said["refused"] > 4
    assert after.lost == lost_by_the_log(said) == 0


@pytest.mark.usefixtures("endless")
def test_a_stream_that_is_reset_otherwise_is_lost(planted: Any) -> None:
    one = planted("resets")
    assert held(one).cut == lost_by_the_log(one.said()) > 0


@pytest.mark.usefixtures("endless")
@pytest.mark.parametrize("mode", ["exits", "asks"])
def test_a_service_that_exits_loses_what_it_has_read(planted: Any, mode: str) -> None:
    # `asks` sends a PING, whose answer it may leave unread: the reset of its socket does not show an unread request.
    one = planted(mode)
    assert held(one).cut == lost_by_the_log(one.said()) > 0


def test_requests_that_are_read_and_dropped_equal_the_log(planted: Any) -> None:
    one = planted("unanswered")
    result = stopped(one, rate=400.0, connections=8)
    assert result.sent.cut == lost_by_the_log(one.said()) > 0
    assert result.sent.right == one.said()["answered"]


def test_a_response_that_is_cut_in_the_middle_is_broken(planted: Any) -> None:
    result = stopped(planted("halfway"), rate=200.0, connections=4)
    assert result.from_signal.broken == 1


def test_a_503_is_a_refusal_and_no_loss(planted: Any) -> None:
    one = planted("unavailable")
    result = stopped(one, rate=200.0, connections=8)
    assert result.sent.unavailable == one.said()["refused"] > 0


def test_clients_without_a_whole_request_are_open_at_the_signal(planted: Any) -> None:
    result = stopped(planted("exits"), idle=3, silent=2, half_sent=2)
    assert (result.idle.open, result.silent.open, result.half_sent.open) == (3, 2, 2)
    assert result.idle.closed == 3


def test_a_connection_that_is_closed_before_the_handshake_was_not_asked(planted: Any) -> None:
    one = planted("exits")
    other = "h2c" if one.scheme == "https" else "h1"
    result = one.stop(rate=50.0, connections=2, protocol=other, url=f"http://127.0.0.1:{one.port}")
    assert result.failure is not None
    assert one.process.poll() is None


def test_streams_are_refused(planted: Any) -> None:
    with pytest.raises(EngineError, match="streams"):
        stopped(planted("exits"), streams=1)
