"""`touchstone load` tells by its exit code whether a load was borne, against real servers."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.run.test_end_to_end import touchstone
from touchstone.engine.fail_if import parse_fail_if
from touchstone.engine.locate import engine_path
from touchstone.failure import UsageError
from touchstone.record.distribution import Distribution
from touchstone.record.engine import Counts, Errors, LoadResult, Rate
from touchstone.report.latency_bars import latency_bars


@contextmanager
def engine_server(*words: str) -> Iterator[str]:
    process = subprocess.Popen([engine_path(), *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://{json.loads(process.stdout.readline())['listening']}/"
    finally:
        process.terminate()
        process.wait()


def null_server(*words: str) -> AbstractContextManager[str]:
    return engine_server("null", *words)


def slow_server(delay_ms: int) -> AbstractContextManager[str]:
    return engine_server("echo", "--delay-ms", str(delay_ms))


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


@contextmanager
def python_server(*, nagle: bool) -> Iterator[str]:
    """That of the standard library: it writes head and body apart."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = not nagle

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


SHORT = ("-d", "500ms", "-c", "4")
EASY = ("-d", "1s", "-c", "4", "--rate", "300")
MEASURED = (0, 4)
"""A result may be withdrawn where the generator gets no CPU: for what is not about that, either will do."""


def test_a_load_that_was_borne_ends_with_0(tmp_path: Path) -> None:
    # The generator does little but wait. A busy machine disturbs it now and then, which it then says: once more.
    with slow_server(100) as server:
        words = ("load", f"{server}echo", "-d", "1s", "-c", "4", "--fail-if", "errors > 1%", "--histogram")
        done = touchstone(tmp_path, *words)
        for _ in range(4):
            if done.returncode == 0:
                break
            assert done.returncode in MEASURED, done.stderr
            assert "The result does not stand" in done.stdout
            done = touchstone(tmp_path, *words)
    assert done.returncode == 0, done.stdout
    assert "The result stands" in done.stdout
    assert "####" in done.stdout


@pytest.mark.parametrize("nagle", [True, False])
def test_a_server_that_waits_for_acknowledgements_is_told_how_not_to(tmp_path: Path, nagle: bool) -> None:
    with python_server(nagle=nagle) as url:
        done = touchstone(tmp_path, "load", url, "-d", "1s", "-c", "4")
    assert done.returncode in MEASURED, done.stderr
    assert ("wait for an acknowledgement. Their second part comes" in done.stdout) is nagle
    assert ("do: Set TCP_NODELAY" in done.stdout) is nagle


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


def test_no_secret_of_a_request_is_told(tmp_path: Path) -> None:
    words = ["-H", "Authorization: Bearer xyzzy-123", "-H", "Accept: text/plain", "--json", "--out", "result.json"]
    with null_server("--status", "500") as url:
        done = touchstone(tmp_path, "load", f"{url}?token=xyzzy-456", *SHORT, *words)
    written = (tmp_path / "result.json").read_text()
    assert done.stdout == written
    assert "xyzzy" not in written + done.stderr
    result = json.loads(written)
    (request,) = result["job"]["requests"]
    assert request["headers"] == [["Authorization", "(hidden)"], ["Accept", "text/plain"]]
    assert "Authorization: (hidden)" in result["first_errors"][0]["sent"]


def test_a_load_that_is_let_in_nowhere_says_how_to_get_in(tmp_path: Path) -> None:
    with null_server("--status", "401") as url:
        done = touchstone(tmp_path, "load", url, *SHORT)
    assert done.returncode == 1
    assert "do: add credentials: -H 'Authorization: Bearer ...'" in done.stdout


def test_a_result_that_does_not_stand_ends_with_4_unless_a_condition_is_breached(tmp_path: Path) -> None:
    beyond = ("-d", "500ms", "-c", "1", "--rate", "2000")
    with slow_server(20) as server:
        url = f"{server}echo"
        done = touchstone(tmp_path, "load", url, *beyond)
        assert done.returncode == 4, done.stderr
        assert "The result does not stand" in done.stdout
        done = touchstone(tmp_path, "load", url, *beyond, "--json")
        assert done.returncode == 4
        assert "cannot be trusted: " in done.stderr
        assert "of 2000.0 offered" in done.stderr
        job = tmp_path / "job.json"
        job.write_text(json.dumps(json.loads(done.stdout)["job"]))
        done = touchstone(tmp_path, "load", "--job", str(job))
        assert done.returncode == 4
        assert not json.loads(done.stdout)["generator"]["stands"]
        done = touchstone(tmp_path, "load", url, *beyond, "--fail-if", "rate < 1000")
        assert done.returncode == 3


MIX = """
[[requests]]
name = "often"
target = "/often/{key:1..500:zipf}"
weight = 3
[[requests]]
name = "seldom"
target = "/seldom?q={row.term:url}"
method = "POST"
headers = { accept = "text/html" }
body = "x"
"""


def shares(text: str) -> dict[str, float]:
    """By request: its share of all that were sent, all of them answered correctly."""
    requests = json.loads(text)["requests"]
    assert all(request["ok"] == request["sent"] for request in requests)
    return {request["name"]: request["sent"] / sum(one["sent"] for one in requests) for request in requests}


def test_several_urls_of_one_server_are_asked_for_equally_often(tmp_path: Path) -> None:
    with null_server() as url:
        done = touchstone(tmp_path, "load", f"{url}a", f"{url}b?c", *EASY, "--json")
        assert done.returncode in MEASURED, done.stderr
        assert shares(done.stdout) == pytest.approx({"/a": 0.5, "/b?c": 0.5}, abs=0.15)
        done = touchstone(tmp_path, "load", f"{url}a", f"{url}b?c", *EASY)
        assert re.search(r"^ +/b\?c +\d+ +\d+\.\d % +0$", done.stdout, re.MULTILINE)
        done = touchstone(tmp_path, "load", f"{url}a", "http://127.0.0.1:1/a", *SHORT)
    assert done.returncode == 2
    assert "two servers" in done.stderr


def test_a_mix_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "terms.csv").write_text("term\nred wine\n")
    (tmp_path / "mix.toml").write_text('rows = "terms.csv"\n' + MIX)
    with null_server() as url:
        done = touchstone(tmp_path, "load", url, *EASY, "--json", "--mix", "mix.toml", "-H", "Accept: text/plain")
    assert done.returncode in MEASURED, done.stderr
    assert shares(done.stdout) == pytest.approx({"often": 0.75, "seldom": 0.25}, abs=0.15)
    often, seldom = json.loads(done.stdout)["job"]["requests"]
    assert often["headers"] == [["Accept", "text/plain"]]
    assert seldom["headers"] == [["accept", "text/html"]]
    assert seldom["expect"]["status"] == [200]


JOURNEY = """
[[journeys]]
name = "life"
steps = [
  { name = "ask", target = "/", captures = { length = { header = "content-length" } } },
  { name = "again", target = "/{capture.length}" },
]
"""


def test_a_mix_of_journeys_goes_through_them(tmp_path: Path) -> None:
    (tmp_path / "mix.toml").write_text(JOURNEY)
    with null_server() as url:
        done = touchstone(tmp_path, "load", url, *EASY, "--json", "--mix=mix.toml")
    assert done.returncode in MEASURED, done.stderr
    (life,) = json.loads(done.stdout)["journeys"]
    assert life["completed"] > 10
    assert life["failed"] == 0


@pytest.mark.parametrize(
    ("mix", "words", "said"),
    [
        (MIX.replace("weight", "wieght"), (), "did you mean 'weight'"),
        (MIX, (), "{row.term}: the rows have no such column"),
        ('rows = "absent.csv"\n' + MIX, (), "absent.csv"),
        ("", (), "`requests` or `journeys`"),
        (MIX.replace("{row.term:url}", "{nmae}"), (), "is not a placeholder"),
        (JOURNEY.replace("capture.length", "capture.size"), (), "no earlier step captures it"),
        (JOURNEY, ("--pipeline", "2"), "pipeline"),
        (JOURNEY, ("--method", "PUT"), "cannot be used with"),
        (JOURNEY, ("--proto", "notes.proto"), "cannot be used with"),
        (JOURNEY, ("--expect-grpc-status", "OK"), "cannot be used with"),
        (JOURNEY, ("--stream", "sse"), "cannot be used with"),
        (JOURNEY, ("--events", "5"), "--events needs --stream"),
        (JOURNEY, ("--mix", "other.toml"), "given twice"),
        (JOURNEY, ("--job", "job.json"), "names its requests itself"),
        (JOURNEY, ("--knee", "p99<20ms", "--histogram"), "searches for a rate"),
    ],
)
def test_a_mix_that_cannot_be_sent_is_refused_before_anything_is(
    tmp_path: Path, mix: str, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "mix.toml").write_text(mix)
    done = touchstone(tmp_path, "load", "http://127.0.0.1:9", "--mix", "mix.toml", *words)
    assert done.returncode == 2
    # A long path is broken where the line ends.
    assert "".join(said.split()) in "".join(done.stderr.split())


def test_the_targets_of_a_mix_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "mix.toml").write_text(JOURNEY)
    for url in ("http://127.0.0.1:9/path", "http://127.0.0.1:9/?"):
        done = touchstone(tmp_path, "load", url, "--mix", "mix.toml")
        assert done.returncode == 2
        assert "give the server's address alone, http://127.0.0.1:9" in done.stderr
    assert touchstone(tmp_path, "load", "http://127.0.0.1:9/", "--mix").returncode == 2


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["-c", "5"], "--connections"),
        (["--rate=9", "--poisson"], "--rate, --poisson"),
        (["--stream=sse", "--events=3"], "--stream, --events"),
        (["--duration=10s"], "--duration"),
    ],
)
def test_flags_that_a_job_would_hide_are_refused(tmp_path: Path, words: list[str], named: str) -> None:
    (tmp_path / "job.json").write_text('{"url": "http://127.0.0.1:9/"}')
    done = touchstone(tmp_path, "load", "--job", "job.json", *words)
    assert done.returncode == 2
    assert f"write {named} into it" in done.stderr


def test_progress_is_a_flag_without_a_value(tmp_path: Path) -> None:
    with null_server() as url:
        done = touchstone(tmp_path, "load", "--progress", url, "-n", "3", "-c", "1")
    assert '{"event":"connected"' in done.stderr
    assert "3 sent" in done.stdout


def test_a_stream_is_not_compared_with_another_tool(tmp_path: Path) -> None:
    with null_server() as url:
        done = touchstone(tmp_path, "load", url, *SHORT, "--stream=lines", "--events=1", "--cross-check=wrk")
    assert done.returncode == 2
    assert "one plain GET" in done.stderr


def test_a_server_of_http2_alone_is_named(tmp_path: Path) -> None:
    with http2_server() as url:
        done = touchstone(tmp_path, "load", url, *SHORT)
    assert done.returncode == 1
    assert "speaks HTTP/2 only, and the load is HTTP/1.1: --protocol h2c" in done.stdout


@pytest.mark.parametrize("protocol", ["h1", "h2c"])
def test_a_server_that_answers_is_not_said_to_speak_http2_alone(tmp_path: Path, protocol: str) -> None:
    """It answers both, and each response is wrong."""
    with null_server() as url:
        done = touchstone(tmp_path, "load", url, *SHORT, "--protocol", protocol, "--expect-status", "404")
    assert done.returncode == 1
    assert "status 200, expected 404" in done.stdout
    assert "HTTP/2 only" not in done.stdout


def test_the_help_tells_the_labs_own_options(tmp_path: Path) -> None:
    done = touchstone(tmp_path, "load", "--help")
    assert done.returncode == 0
    assert "--connections" in done.stdout
    assert "--fail-if" in done.stdout


def test_a_result_goes_to_a_pipe_as_to_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with null_server() as url, os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as end:
        done = touchstone(tmp_path, "load", url, *SHORT, "--out", str(pipe))
        assert json.loads(end.read())["counts"]["ok"] > 0, done.stderr
    assert pipe.is_fifo()


def test_a_result_that_could_not_be_written_is_refused_before_the_load(tmp_path: Path) -> None:
    for place, why in ((tmp_path / "none/r.json", "there is no folder"), (tmp_path, "it is a folder")):
        done = touchstone(tmp_path, "load", "http://127.0.0.1:1/", "--out", str(place))
        assert done.returncode == 2, done.stderr
        assert why in done.stderr
        assert "connection" not in done.stderr, "nothing was sent"
    done = touchstone(tmp_path, "load", "http://127.0.0.1:1/", "--out", "one.json", "--out=other.json")
    assert (done.returncode, "--out is given twice" in done.stderr) == (2, True)


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
        counts=Counts(sent=100, ok=98, failed=2, errors=Errors(timeout=2)),
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
