"""A real downstream is started, called, counted, made to fail, brought back and ended."""

from __future__ import annotations

import http.client
import os
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from touchstone.dependency.base import DependencyContext, DependencyError, UnknownActError
from touchstone.dependency.echo import Echo
from touchstone.engine.locate import engine_path
from touchstone.failure import TouchstoneError
from touchstone.vocabulary.dependency import DEPENDENCIES


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Echo]:
    try:
        engine = engine_path()
    except TouchstoneError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("echo")
    cpus = (max(os.sched_getaffinity(0)),)
    context = DependencyContext(folder / "data", folder / "log", cpus, engine, folder / "cache")
    echo = Echo("downstream", "DOWNSTREAM_URL", {"delay_ms": 5}, context)
    echo.start()
    yield echo
    echo.stop()


@pytest.fixture
def echo(started: Echo) -> Echo:
    started.reset({})
    return started


def get(echo: Echo, target: str, times: int = 1) -> int:
    """Get it by one kept connection; the last status."""
    address = echo.environment()["DOWNSTREAM_URL"].removeprefix("http://")
    connection = http.client.HTTPConnection(address, timeout=20)
    try:
        for _ in range(times):
            connection.request("GET", target)
            response = connection.getresponse()
            response.read()
        return response.status
    finally:
        connection.close()


def test_hits_and_connections_are_counted_and_begin_anew_with_each_reset(echo: Echo) -> None:
    assert tuple(echo.address()) == DEPENDENCIES["echo"].address
    assert get(echo, "/echo", times=7) == 200
    assert echo.ask("hits:/echo") == 7
    assert echo.ask("connections:opened") == 1
    assert echo.observe()["hits"] == 7
    echo.reset({})
    assert echo.ask("hits:/echo") == 0


def test_a_bound_is_answered_yes_or_by_what_was_found(echo: Echo) -> None:
    get(echo, "/echo")
    get(echo, "/echo")
    assert echo.ask("connections:opened <= 2") == "yes"
    assert echo.ask("connections:opened <= 1") == "no, 2"


def test_the_answer_takes_the_delay_that_was_asked_for(echo: Echo) -> None:
    echo.reset({"delay_ms": 60})
    begin = time.monotonic()
    get(echo, "/echo")
    assert time.monotonic() - begin >= 0.06
    assert echo.read_settings() == {"delay_ms": 60, "server": "engine"}
    state = echo.state({}, {}, [])
    assert state.asked["delay_ms"] == 60


def test_message_ids_are_logged_in_the_order_of_their_arrival(echo: Echo) -> None:
    for name in ("0-1", "0-0", "0-1"):
        get(echo, f"/echo?id={name}")
    arrivals = echo.arrivals()
    assert [arrival.id for arrival in arrivals] == ["0-1", "0-0", "0-1"]
    assert arrivals == sorted(arrivals, key=lambda arrival: arrival.at_s)
    assert abs(arrivals[-1].at_s - time.monotonic()) < 60
    assert echo.ask("ids:duplicates") == 1


@pytest.mark.parametrize(("arguments", "status"), [({}, 500), ({"status": 429}, 429)])
def test_it_fails_until_it_recovers(echo: Echo, arguments: dict[str, Any], status: int) -> None:
    echo.act("fail", arguments)
    assert get(echo, "/echo") == status
    echo.act("recover", {})
    assert get(echo, "/echo") == 200


def test_it_refuses_connections_and_still_tells_its_counters(echo: Echo) -> None:
    echo.act("refuse", {})
    deadline = time.monotonic() + 5
    with pytest.raises(OSError):
        while time.monotonic() < deadline:
            get(echo, "/echo")
    assert isinstance(echo.ask("hits:/echo"), int)
    echo.act("recover", {})
    assert _within(5, lambda: get(echo, "/echo")) == 200


def test_a_reset_ends_a_fault(echo: Echo) -> None:
    echo.act("fail", {})
    echo.reset({})
    assert get(echo, "/echo") == 200


def test_slow_is_slower_than_the_delay(echo: Echo) -> None:
    echo.act("slow", {"delay_ms": 150})
    begin = time.monotonic()
    assert get(echo, "/echo") == 200
    assert time.monotonic() - begin >= 0.15


def test_open_connections_are_its_sessions_and_leftovers_of_the_next_reset(echo: Echo) -> None:
    address = echo.environment()["DOWNSTREAM_URL"].removeprefix("http://")
    connection = http.client.HTTPConnection(address, timeout=20)
    connection.request("GET", "/echo")
    connection.getresponse().read()
    assert echo.sessions() == 1
    assert echo.reset({}) == ["connections of an earlier client still open: 1"]
    assert echo.sessions() == 0
    connection.close()


def test_its_ceiling_is_measured_once_and_recorded(echo: Echo) -> None:
    ceiling = echo.ceiling("")
    assert ceiling is not None and ceiling > 0
    assert echo.state({}, {}, []).ceiling == ceiling


@pytest.mark.slow
def test_the_python_downstream_takes_its_place_and_opens_a_connection_a_request(echo: Echo) -> None:
    engine_ceiling = echo.ceiling("")
    echo.reset({"server": "python"})
    for _ in range(3):
        assert get(echo, "/echo?id=7") == 200
    assert echo.ask("hits:/echo") == 3
    assert echo.ask("connections:opened") == 3
    assert [arrival.id for arrival in echo.arrivals()] == ["7"] * 3
    assert echo.read_settings()["server"] == "python"
    python_ceiling = echo.ceiling("")
    assert python_ceiling is not None and engine_ceiling is not None
    assert python_ceiling < engine_ceiling
    with pytest.raises(DependencyError, match="does not fail on demand"):
        echo.act("fail", {})


def test_what_it_does_not_know_is_said(echo: Echo) -> None:
    with pytest.raises(UnknownActError, match="fail, slow, refuse, recover, count"):
        echo.act("explode", {})
    for query in ("hits", "connections:none", "nothing:here"):
        with pytest.raises(DependencyError, match="no counter"):
            echo.ask(query)
    with pytest.raises(DependencyError, match="cannot be 'ruby'"):
        echo.reset({"server": "ruby"})


def test_stop_leaves_no_process(started: Echo, echo: Echo) -> None:
    (pid,) = echo.pids()
    echo.stop()
    echo.stop()
    assert not psutil.pid_exists(pid)
    assert echo.pids() == []
    echo.start()


def _within(seconds: float, call: Any) -> Any:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return call()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
