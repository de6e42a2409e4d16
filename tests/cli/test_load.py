"""`touchstone load` tells by its exit code whether a load was borne, against real servers."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.run.test_end_to_end import touchstone
from touchstone.engine.fail_if import parse_fail_if
from touchstone.engine.locate import engine_path
from touchstone.failure import UsageError
from touchstone.record.engine import Counts, Distribution, Errors, LoadResult, Rate
from touchstone.report.latency_bars import latency_bars


@contextmanager
def null_server(*words: str) -> Iterator[str]:
    process = subprocess.Popen([engine_path(), "null", *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://{json.loads(process.stdout.readline())['listening']}/"
    finally:
        process.terminate()
        process.wait()


@contextmanager
def http2_server() -> Iterator[str]:
    """It begins every connection by SETTINGS, as HTTP/2 with prior knowledge does, and answers nothing else."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                if connection.recv(4096).startswith(b"PRI * HTTP/2.0"):
                    connection.sendall(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
                else:
                    connection.sendall(b"\x00\x00\x08\x07\x00" + b"\x00" * 12)

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    listener.close()


SHORT = ("-d", "500ms", "-c", "4")


def test_a_load_that_was_borne_ends_with_0(tmp_path: Path) -> None:
    with null_server() as url:
        done = touchstone(tmp_path, "load", url, *SHORT, "--fail-if", "errors > 1%", "--histogram")
    assert done.returncode == 0, done.stderr
    assert "requests/s" in done.stdout
    assert "####" in done.stdout


def test_a_breached_condition_ends_with_3_and_is_named(tmp_path: Path) -> None:
    with null_server() as url:
        done = touchstone(tmp_path, "load", url, *SHORT, "--fail-if", "p50 > 1us", "--fail-if=rate < 1")
    assert done.returncode == 3
    assert "failed: p50 > 1us: " in done.stdout
    assert "rate < 1:" not in done.stdout


def test_a_load_of_which_most_fails_ends_with_1(tmp_path: Path) -> None:
    with null_server("--status", "500") as url:
        done = touchstone(tmp_path, "load", url, *SHORT, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["counts"]["ok"] == 0
    assert "100.0% of the requests had no correct response" in done.stderr


def test_a_server_of_http2_alone_is_named(tmp_path: Path) -> None:
    with http2_server() as url:
        done = touchstone(tmp_path, "load", url, *SHORT)
    assert done.returncode == 1
    assert "speaks HTTP/2 only" in done.stdout


def test_the_help_tells_the_labs_own_options(tmp_path: Path) -> None:
    done = touchstone(tmp_path, "load", "--help")
    assert done.returncode == 0
    assert "--connections" in done.stdout
    assert "--fail-if" in done.stdout


@pytest.mark.parametrize("text", ["", "p99", "p99 > 20", "p98 > 2ms", "errors > 5ms", "rate < 5ms", "p99 = 2ms"])
def test_a_condition_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"condition|held against"):
        parse_fail_if(text)
    assert touchstone(tmp_path, "load", "http://127.0.0.1:9/", "--fail-if", text).returncode == 2


@pytest.mark.parametrize(
    ("text", "breached"),
    [
        ("errors > 1%", True),
        ("errors > 2%", False),
        ("errors >= 2%", True),
        ("p99 > 20ms", False),
        ("p99 >= 0.02s", True),
        ("p99.9 > 20ms", True),
        ("rate < 1k", True),
        ("rate < 900/s", False),
        ("max > 1s", True),
    ],
)
def test_a_condition_holds_just_beyond_its_bound(text: str, breached: bool) -> None:
    result = LoadResult(
        counts=Counts(sent=100, ok=98, errors=Errors(timeout=2)),
        rate=Rate(achieved=900.0),
        latency=Distribution(count=98, p99=0.02, p99_9=0.021, max=None),
    )
    assert (parse_fail_if(text).breach(result) is not None) == breached


def test_bars_show_the_smallest_share(tmp_path: Path) -> None:
    curve = [(0.0, 1e-3), (0.5, 1e-3), (0.99, 2e-3), (0.999, 0.1), (1.0, 1.0)]
    rows = latency_bars(Distribution(count=1000, curve=curve)).splitlines()[1:]
    assert rows[-1].split()[0:2] == ["1", "s"]
    assert rows[-1].endswith("#")
    shares = [float(row.split("%")[0].split()[-1]) for row in rows]
    assert sum(shares) == pytest.approx(100, abs=0.1)
