"""`touchstone-engine stop`: its counts of requests equal those of the service's own log."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from touchstone.engine.client import EngineError, run_job
from touchstone.engine.locate import engine_path
from touchstone.engine.protocol import StopJob
from touchstone.isolation.port import free_port, listeners
from touchstone.record.evidence.stop import Outcomes, StopResult

COLD_S = 1.0
"""How long the planted service `cold` takes for its first request."""
_SERVICE = Path(__file__).parents[1] / "phase" / "stopping_service.py"


class Planted:
    """A service of `stopping_service.py` that runs, or that of another file, over HTTP/2."""

    def __init__(self, folder: Path, mode: str, port: int, *, tls: bool = False, service: Path = _SERVICE) -> None:
        self.port, self._log = port, folder / "log"
        env = {**os.environ, "PORT": str(self.port), "STOP_LOG": str(self._log)}
        self.scheme = "https" if tls else "http"
        if tls:
            env |= {"TLS_CERT": str(folder / "cert.pem"), "TLS_KEY": str(folder / "key.pem")}
            words = [f"--cert={env['TLS_CERT']}", f"--key={env['TLS_KEY']}", "localhost"]
            subprocess.run([engine_path(), "certificate", *words], check=True)
        self.process = subprocess.Popen([sys.executable, str(service), mode], env=env, start_new_session=True)

    def stop(self, *, target: str = "/", **job: Any) -> StopResult:
        """What the engine says of its end."""
        expect = {} if "streams" in job else {"body": {"kind": "exact", "value": "hello"}}
        request = {"target": target, "expect": expect}
        url = f"{self.scheme}://127.0.0.1:{self.port}"
        plan = {"url": url, "pid": self.process.pid, "requests": [request], "before_s": 0.3, "timeout_s": 3.0, **job}
        return run_job("stop", cast("StopJob", plan), StopResult)

    def listens(self, mode: str) -> bool:
        """Whether the process itself does, beside another one that shares its port; in mode `child` its child."""
        found = listeners(self.port)
        return bool(found) if mode == "child" else self.process.pid in found

    def said(self) -> Counter[str]:
        """What its log counts, once it is complete."""
        return Counter(self._log.read_text().split())


@pytest.fixture(params=["plain", "tls"])
def planted(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from starts(tmp_path, tls=request.param == "tls")


def starts(tmp_path: Path, *, tls: bool, service: Path = _SERVICE) -> Iterator[Any]:
    """A function that starts a service in a mode. All are killed afterwards."""
    running: list[Planted] = []

    def start(mode: str, port: int | None = None) -> Planted:
        folder = tmp_path / str(len(running))
        folder.mkdir()
        running.append(one := Planted(folder, mode, port or free_port(), tls=tls, service=service))
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not one.listens(mode):
            time.sleep(0.02)
        return one

    yield start
    for one in running:
        # The session is the service's own: what is left of it was started by it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(one.process.pid, signal.SIGKILL)
        one.process.wait()


def lost_by_the_log(said: Counter[str]) -> int:
    """Requests that were read and got no response."""
    return said["read"] - said["answered"] - said["refused"]


def test_a_service_that_finishes_and_announces_loses_nothing(planted: Any) -> None:
    one = planted("graceful")
    result = one.stop(rate=200.0, connections=8)
    after, said = result.from_signal, one.said()
    assert result.failure is None
    assert (after.lost, after.stale, after.unavailable) == (0, 0, 0)
    assert after.right > 0
    assert result.announced > 0
    assert said["read"] == said["answered"] == result.sent.right
    assert result.stop_s is not None
    assert result.stop_s >= 0.3


def test_a_service_that_exits_at_once_loses_what_it_has_read(planted: Any) -> None:
    one = planted("exits")
    result = one.stop(target="/slow", held=8)
    assert result.under_way == Outcomes(cut=8)
    assert lost_by_the_log(one.said()) == 8
    assert {loss.outcome for loss in result.losses} == {"cut"}


def test_requests_that_were_lost_before_the_signal_are_counted_and_not_listed(planted: Any) -> None:
    result = planted("stumbles").stop(rate=200.0, connections=8)
    assert result.before.lost > 0
    assert result.from_signal.lost == 0
    assert {loss.outcome for loss in result.losses} <= {"refused"}


def test_slow_requests_are_waited_for(planted: Any) -> None:
    result = planted("graceful").stop(target="/slow", held=8)
    assert result.under_way == Outcomes(right=8)
    assert result.last_right_s is not None
    assert result.stop_s is not None
    assert result.stop_s >= result.last_right_s


def test_requests_that_are_read_and_dropped_equal_the_log(planted: Any) -> None:
    one = planted("unanswered")
    result = one.stop(rate=400.0, connections=8)
    assert result.sent.cut == lost_by_the_log(one.said())
    assert result.sent.cut > 0
    assert result.sent.right == one.said()["answered"]


def test_a_response_that_is_cut_in_the_middle_is_broken(planted: Any) -> None:
    one = planted("halfway")
    result = one.stop(rate=200.0, connections=4)
    assert result.from_signal.broken == 1
    assert result.from_signal.lost >= 1


def test_a_503_is_a_refusal_and_no_loss(planted: Any) -> None:
    one = planted("unavailable")
    result = one.stop(rate=200.0, connections=8)
    assert result.sent.unavailable == one.said()["refused"]
    assert result.sent.unavailable > 0
    assert result.first_refused_s is not None


def test_a_connection_that_the_service_never_accepted_is_closed_under_its_request(planted: Any) -> None:
    one = planted("deaf")
    result = one.stop(rate=200.0, connections=4)
    assert result.sent.unread > 0
    assert result.sent.closed_under >= result.sent.unread
    assert result.sent.lost == lost_by_the_log(one.said()) == 0


def test_a_service_that_ignores_sigterm_has_no_time(planted: Any) -> None:
    result = planted("ignores").stop(rate=50.0, connections=2, timeout_s=0.5)
    assert result.stop_s is None
    assert result.from_signal.right > 0


def test_a_child_that_serves_on_is_seen(planted: Any) -> None:
    result = planted("child").stop(rate=100.0, connections=4)
    assert result.stop_s is not None
    assert result.listens_after


def test_clients_that_send_nothing_hold_up_a_service_that_waits_for_them(planted: Any) -> None:
    clients = {"silent": 2, "half_sent": 1, "timeout_s": 10.0}
    held, quick = planted("waits").stop(**clients), planted("graceful").stop(**clients)
    assert held.silent.open == 2
    assert held.half_sent.open == 1
    assert held.stop_s is not None
    assert quick.stop_s is not None
    assert held.stop_s > 2.0 > quick.stop_s


def test_a_service_that_answers_otherwise_is_not_ended(planted: Any) -> None:
    one = planted("graceful")
    result = one.stop(rate=50.0, connections=2, requests=[{"expect": {"status": [204]}}])
    assert result.failure is not None
    assert "first requests" in result.failure
    assert one.process.poll() is None


@pytest.mark.parametrize(
    ("job", "words"), [({"rate": -1.0}, "rate"), ({"pid": 0}, "pid"), ({"requests": []}, "requests")]
)
def test_a_job_that_makes_no_sense_is_refused(planted: Any, job: dict[str, Any], words: str) -> None:
    with pytest.raises(EngineError, match=words):
        planted("graceful").stop(**job)


plain = pytest.mark.parametrize("planted", ["plain"], indirect=True)
"""The relay before two processes passes TLS on as any other bytes."""


def replaced(old: Planted, new: Planted, **job: Any) -> StopResult:
    """What becomes of the load when `new` takes the place of `old`, behind the relay unless both share a port."""
    address = None if old.port == new.port else f"127.0.0.1:{new.port}"
    successor = {"pid": new.process.pid, "address": address, "after_s": 0.5}
    return old.stop(successor=successor, **{"rate": 200.0, "connections": 8, **job})


@plain
def test_a_replacement_that_drains_loses_nothing_and_leaves_no_gap(planted: Any) -> None:
    old, new = planted("graceful"), planted("graceful")
    result = replaced(old, new)
    after = result.from_signal
    assert (after.lost, after.stale, after.turned_away) == (0, 0, 0)
    assert new.said()["answered"] > 50
    assert old.said()["answered"] + new.said()["answered"] == result.sent.right
    assert result.handover is not None
    assert result.handover.gap_s < COLD_S
    assert not result.listens_after


@plain
def test_what_a_replacement_drops_equals_the_log_of_the_old_process(planted: Any) -> None:
    old, new = planted("unanswered"), planted("graceful")
    result = replaced(old, new)
    assert result.from_signal.cut == lost_by_the_log(old.said()) > 0
    assert old.said()["answered"] + new.said()["answered"] == result.sent.right


@plain
def test_requests_on_connections_that_the_old_process_closed_are_stale_behind_the_relay_too(planted: Any) -> None:
    old, new = planted("exits"), planted("graceful")
    result = replaced(old, new, rate=2000.0)
    assert lost_by_the_log(old.said()) == result.from_signal.cut
    assert old.said()["answered"] + new.said()["answered"] == result.sent.right
    assert result.from_signal.sent - result.from_signal.right == result.from_signal.lost + result.from_signal.stale


@plain
def test_a_successor_that_is_cold_leaves_a_gap_of_its_length(planted: Any) -> None:
    result = replaced(planted("graceful"), planted("cold"))
    assert result.handover is not None
    assert result.handover.gap_s > COLD_S - 0.1
    assert result.from_signal.lost == 0


@plain
def test_two_processes_that_share_a_port_are_replaced_without_a_relay(planted: Any) -> None:
    old = planted("sharing-graceful")
    new = planted("sharing-graceful", old.port)
    result = replaced(old, new)
    assert result.failure is None
    assert result.from_signal.cut == 0
    assert new.said()["answered"] > 50
    assert old.said()["answered"] + new.said()["answered"] == result.sent.right


@plain
def test_the_memory_of_both_is_more_than_that_of_one(planted: Any) -> None:
    handover = replaced(planted("graceful"), planted("graceful")).handover
    assert handover is not None
    assert handover.memory_bytes is not None
    assert handover.both_bytes is not None
    assert handover.memory_bytes > 1_000_000
    assert handover.both_bytes > handover.memory_bytes


def test_a_successor_without_a_process_id_is_refused(planted: Any) -> None:
    with pytest.raises(EngineError, match=r"successor\.pid"):
        planted("graceful").stop(successor={"pid": 0})


def test_a_server_without_tls_is_not_ended_over_it(planted: Any) -> None:
    one = planted("graceful")
    other = {"http": "https", "https": "http"}[one.scheme]
    result = one.stop(rate=50.0, connections=2, url=f"{other}://127.0.0.1:{one.port}")
    assert result.failure is not None
    assert one.process.poll() is None


SOCKET: dict[str, Any] = {
    "target": "/socket",
    "body": "hello",
    "websocket": {"kind": "echo"},
    "expect": {"status": None},
}


@plain
@pytest.mark.parametrize(("job", "codes"), [({"target": "/stream"}, {}), ({"requests": [SOCKET]}, {1001: 4})])
def test_streams_end_or_are_cut(planted: Any, job: dict[str, Any], codes: dict[int, int]) -> None:
    ended = planted("graceful").stop(streams=4, **job).streams
    assert (ended.open, ended.ended, ended.cut, ended.left) == (4, 4, 0, 0)
    assert ended.close_codes == codes
    cut = planted("exits").stop(streams=4, **job).streams
    assert (cut.open, cut.ended, cut.cut, cut.left) == (4, 0, 4, 0)


@plain
def test_streams_of_a_service_that_does_not_end_are_left(planted: Any) -> None:
    result = planted("ignores").stop(target="/stream", streams=2, timeout_s=0.3)
    assert result.stop_s is None
    assert result.streams.left == 2


@plain
def test_a_response_that_is_no_stream_is_not_taken_for_one(planted: Any) -> None:
    result = planted("graceful").stop(streams=2, requests=[{"target": "/", "expect": {"status": [204]}}])
    assert result.failure is not None
    assert "a stream did not begin" in result.failure


@plain
def test_streams_exclude_other_requests(planted: Any) -> None:
    with pytest.raises(EngineError, match="streams"):
        planted("graceful").stop(target="/stream", streams=2, rate=10.0)
