"""A service that listens on a Unix socket: loads, contract and drafts name it as `unix:PATH`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run.test_end_to_end import report_of, touchstone
from tests.run.test_protocols import written
from touchstone.engine.locate import engine_path

SERVER = """
import os, socketserver, sys
from http.server import BaseHTTPRequestHandler

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = b"ok" if self.path == "/" else self.path.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass

class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 128

Server(sys.argv[1], Handler).serve_forever()
"""


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[Path]:
    """The socket of a service that answers `ok` at `/`, and elsewhere the path."""
    place = tmp_path / "app.sock"
    with subprocess.Popen([sys.executable, "-c", SERVER, str(place)]) as server:
        deadline = time.monotonic() + 20
        while not place.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        yield place
        server.terminate()


def _load(*words: str) -> subprocess.CompletedProcess[str]:
    command = [str(engine_path()), "load", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("backend", ["epoll", "io_uring"])
@pytest.mark.parametrize(("ending", "body"), [("", "ok"), (":/a?b=c", "/a?b=c")])
def test_a_load_goes_over_a_unix_socket(listening: Path, backend: str, ending: str, body: str) -> None:
    url = f"unix:{listening}{ending}"
    words = ["-c4", "-n100", "-d20s", "--backend", backend, "--expect-body", body, "--json"]
    for more in ([], ["--no-keepalive"], ["--rate", "500"]):
        done = _load(url, *words, *more)
        assert done.returncode == 0, done.stderr
        counts = json.loads(done.stdout)["counts"]
        assert counts["ok"] == 100 and not any(counts["errors"].values()), counts


def test_what_cannot_go_over_a_unix_socket_is_named(listening: Path) -> None:
    for words, code, said in [
        ([f"unix:{listening}.none", "-d1s"], 1, "No such file"),
        (["unix:/run/"], 2, "absolute path"),
        (["unix:/" + "x" * 107], 2, "107 bytes"),
        ([f"unix:{listening}", "--source", "127.0.0.0/8"], 2, "IPv4 only"),
        ([f"unix:{listening}", "--sni", "a"], 2, "https"),
        ([f"unix:{listening}", "--protocol", "h2"], 2, "https"),
        ([f"unix:{listening}", "http://127.0.0.1:1/"], 2, "two servers"),
    ]:
        done = _load(*words)
        assert done.returncode == code, (words, done.stderr)
        assert said in done.stderr, done.stderr
    probed = subprocess.run(
        [str(engine_path()), "probe", f"unix:{listening}"], capture_output=True, text=True, timeout=60, check=False
    )
    assert probed.returncode == 2 and "goes over TCP" in probed.stderr, probed.stderr


def test_a_run_measures_a_service_on_a_unix_socket(tmp_path: Path, listening: Path) -> None:
    folder = written(tmp_path / "spoken", {"plain": ""})
    with (folder / "scenario.toml").open("a") as file:
        file.write('[probe]\ntarget = "/"\n')
    words = ("--rounds", "1", "--phase", "load", "--phase", "probe", "--url", f"app=unix:{listening}")
    code, report = report_of(tmp_path, str(folder), *words)
    assert code == 0
    samples = {s["phase"]: s for s in report["run"]["samples"] if s["contender"] == "app"}
    assert samples["load"]["figures"]["throughput"] > 0
    # The process that has the socket is found.
    assert samples["load"]["figures"]["rss_peak"] > 2**20
    assert samples["verify"]["checks"] and all(check["passed"] for check in samples["verify"]["checks"])
    assert "Unix socket" in samples["probe"]["not_measured"]["probe_kept"]


def test_a_socket_that_nobody_listens_on_is_named_before_the_run(tmp_path: Path) -> None:
    folder = written(tmp_path / "spoken", {"plain": ""})
    done = touchstone(tmp_path, "run", str(folder), "--quick", "--url", f"app=unix:{tmp_path}/none.sock")
    assert done.returncode == 2
    assert "nothing listens at unix:" in done.stderr and "No such file" in done.stderr, done.stderr


def test_a_draft_is_made_of_what_a_unix_socket_answers(tmp_path: Path, listening: Path) -> None:
    done = touchstone(tmp_path, "new", "drafted", "--from-url", f"unix:{listening}:/hello")
    assert done.returncode == 0, done.stderr
    assert touchstone(tmp_path, "check", "drafted").returncode == 0
    assert 'body = "/hello"' in (tmp_path / "drafted" / "scenario.toml").read_text()
    code, report = report_of(tmp_path, "drafted", "--rounds", "1", "--phase", "load", "--url", f"app=unix:{listening}")
    assert code == 0
    assert [s for s in report["run"]["samples"] if s["phase"] == "load" and s["figures"].get("throughput")]
