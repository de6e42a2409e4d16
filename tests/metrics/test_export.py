"""Live figures reach a scrape, a file and a collector; a place that cannot be opened is refused at once."""

from __future__ import annotations

import gzip
import io
import json
import re
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from rich.console import Console

from tests.cli.test_load import null_server
from tests.command import COMMAND, touchstone
from tests.judge.sound import sound_run
from touchstone.failure import UsageError
from touchstone.metrics import places
from touchstone.metrics.display import ExportingDisplay
from touchstone.metrics.live import LiveMetrics
from touchstone.run.progress import LogDisplay

ROOT = Path(__file__).resolve().parents[2]
OPENMETRICS = "application/openmetrics-text; version=1.0.0"
TURN = {
    "event": "slice",
    "contender": "go/plain",
    "lap_phase": "load",
    "ok": 100,
    "errors": {"status": 2, "timeout": 1},
    "rate": 400.0,
    "latency": {"count": 98, "p50": 0.002, "p99": 0.004, "max": 0.009},
    "server_cpu_s": 0.2,
    "engine_cpu_s": 0.05,
}


def scraped(url: str) -> dict[str, float]:
    """What a scrape gives, by metric and labels, as the reference parser reads it."""
    request = urllib.request.Request(url, headers={"Accept": OPENMETRICS})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
        text = answer.read().decode()
    return {
        " ".join([sample.name, *(value for value in sample.labels.values() if value)]): sample.value
        for family in text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


@contextmanager
def exporting(*wanted: str) -> Iterator[tuple[ExportingDisplay, str]]:
    """A display that exports, and its words so far."""
    said = io.StringIO()
    with closing(ExportingDisplay(LogDisplay(Console(file=said)), list(wanted))) as display, display:
        yield display, said.getvalue()


def test_a_scrape_sees_turns_progress_and_figures() -> None:
    sample = (
        sound_run()
        .samples[0]
        .model_copy(
            update={
                "phase": "load",
                "round": 3,
                "contender": "go/plain",
                "load": "users",
                "figures": {"throughput": 9.5},
            }
        )
    )
    with exporting("0") as (display, said):
        url = said.split("metrics: ")[1].split()[0]
        display.total(4)
        display.begins(sample)
        display.event(TURN)
        display.event({**TURN, "ok": 50, "latency": None, "rate": None, "server_cpu_s": None})
        display.measured(sample)
        display.advance()
        found = scraped(url)
        assert found["touchstone_requests_total go/plain users ok load 3 load"] == 150
        display.begins(sample)
        display.event({"event": "phase", "name": "warmup"})
        for ok in (10, 30, 5):
            display.event({"event": "progress", "t": 1, "ok": ok, "errors": 1, "connections": 8, "queue": 2})
        later = scraped(url)
    assert found["touchstone_requests_total go/plain users error load 3 load"] == 6
    assert found["touchstone_server_cpu_seconds_total go/plain users load 3 load"] == 0.2
    assert found["touchstone_engine_cpu_seconds_total go/plain users load 3 load"] == 0.1
    assert found["touchstone_latency_seconds go/plain users load 0.99 3 load"] == 0.004
    assert found["touchstone_throughput_per_second go/plain users load 3 load"] == 400.0
    assert found["touchstone_figure go/plain throughput users load 3 1/s"] == 9.5
    assert (found["touchstone_measurements planned"], found["touchstone_measurements done"]) == (4, 1)
    # A count that falls belongs to the sample's next load.
    assert later["touchstone_requests_total go/plain users ok load 3 warmup"] == 35
    assert later["touchstone_connections go/plain users load 3 warmup"] == 8


def test_a_file_has_a_line_for_each_event_and_keeps_older_ones(tmp_path: Path) -> None:
    file = tmp_path / "live.ndjson"
    file.write_text('{"older": 1}\n', encoding="utf-8")
    sample = sound_run().samples[0]
    with exporting(str(file)) as (display, _):
        display.begins(sample)
        display.event({**TURN, "rate": float("inf")})
        display.measured(sample)
    older, turn, figures = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    assert older == {"older": 1}
    assert (turn["event"], turn["contender"], turn["stage"], turn["rate"]) == ("slice", "go/plain", "load", None)
    assert (turn["phase"], turn["load"], turn["round"]) == (sample.phase, "", "")
    assert figures["figures"] == sample.figures


def test_a_full_disk_is_named_once_and_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "full.ndjson").symlink_to("/dev/full")
    said = io.StringIO()
    display = ExportingDisplay(LogDisplay(Console(file=said, width=400)), [str(tmp_path / "full.ndjson")])
    with closing(display), display:
        display.event(TURN)
        display.event(TURN)
    assert said.getvalue().count("no more lines are written: No space left on device") == 1


@contextmanager
def collector() -> Iterator[tuple[str, list[ExportMetricsServiceRequest]]]:
    """An OTLP collector that keeps all requests."""
    kept: list[ExportMetricsServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if self.path == "/v1/metrics":
                kept.append(ExportMetricsServiceRequest.FromString(body))
            answer = ExportMetricsServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", kept
        server.shutdown()


def test_a_collector_has_everything_when_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with collector() as (url, kept), exporting(url) as (display, _):
        display.begins(sound_run().samples[0])
        display.event(TURN)
        display.__exit__(None, None, None)
        resource = kept[-1].resource_metrics[0]
        assert "touchstone" in {one.value.string_value for one in resource.resource.attributes}
        metrics = {metric.name: metric for scope in resource.scope_metrics for metric in scope.metrics}
        points = metrics["touchstone_requests"].sum.data_points
        counts = {
            next(one.value.string_value for one in point.attributes if one.key == "outcome"): point.as_double
            for point in points
        }
        assert counts == {"ok": 100, "error": 3}
        assert metrics["touchstone_throughput_per_second"].gauge.data_points[0].as_double == 400.0
        display.__enter__()


def test_a_collector_that_goes_away_is_named_once_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_WAIT_S", 1.0)
    said = io.StringIO()
    with collector() as (url, _):
        display = ExportingDisplay(LogDisplay(Console(file=said, width=400)), [url])
    with closing(display):
        for _ in range(2):
            with display:
                display.event(TURN)
    assert said.getvalue().count(f"--metrics {url}: a push failed") == 1


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("nowhere", "names no place"),
        ("", "names no place"),
        ("live.csv", "names no place"),
        ("-1", "names no place"),
        ("65536", "cannot be listened on"),
        ("256.1.1.1:0", "cannot be listened on"),
        ("192.0.2.1:0", "cannot be listened on"),
        ("no/folder/live.ndjson", "cannot be written"),
        ("http://127.0.0.1:1", "cannot be reached"),
        ("http://127.0.0.1:x", "cannot be reached"),
        ("http://", "cannot be reached"),
    ],
)
def test_a_place_that_cannot_be_opened_is_refused(place: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        ExportingDisplay(LogDisplay(Console(quiet=True)), [place])
    assert refused.value.fix


def test_every_command_refuses_a_busy_port_before_it_begins(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = str(busy.getsockname()[1])
        for words in (["run", "hello", "--quick"], ["ab", "main"], ["load", "http://127.0.0.1:1/"]):
            done = touchstone(*words, "--metrics", port, cwd=tmp_path)
            assert (done.returncode, f"--metrics {port} cannot be listened on" in done.stderr) == (2, True), words
    assert list(tmp_path.iterdir()) == []


def test_a_port_is_of_this_machine_alone_unless_an_address_is_named() -> None:
    with exporting("0") as (_, said):
        assert re.search(r"http://127\.0\.0\.1:\d+/metrics", said)
    with exporting("[::1]:0") as (_, said):
        assert re.search(r"http://\[::1\]:\d+/metrics", said)


def test_a_scraper_that_breaks_off_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with exporting("0") as (_, said):
        url = said.split("metrics: ")[1].split()[0]
        for sent in (b"", b"GET /met", b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", urlsplit(url).port)) as scraper:
                scraper.sendall(sent)
                time.sleep(0.05)
                scraper.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        time.sleep(0.1)
        assert "touchstone_measurements planned" not in scraped(url)
    assert capfd.readouterr() == ("", "")


def test_a_load_is_scraped_while_it_goes_on(tmp_path: Path) -> None:
    with null_server() as url:
        command = [*COMMAND, "load", url, "-c", "2", "-d", "2", "--metrics", "0", "--metrics", "live.ndjson"]
        with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as load:
            assert load.stderr is not None
            place = load.stderr.readline().split("metrics: ")[1].split()[0]
            counts: list[float] = []
            while load.poll() is None and len(counts) < 2:
                found = scraped(place).get("touchstone_requests_total ok load load")
                if found and found not in counts:
                    counts.append(found)
            out, err = load.communicate()
    assert len(counts) == 2, (out, err)
    assert counts[0] < counts[1]
    assert "requests/s" in out
    assert '"event"' not in err
    lines = [json.loads(line) for line in (tmp_path / "live.ndjson").read_text(encoding="utf-8").splitlines()]
    assert lines[-1]["event"] == "figures"
    assert lines[-1]["figures"]["throughput"] > 0


def test_without_the_sdk_a_collector_is_refused_and_a_port_is_not() -> None:
    script = """
import sys
sys.modules["opentelemetry"] = None
from touchstone.cli.main import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, "load", "http://127.0.0.1:1/", "--metrics", "http://127.0.0.1:4318"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "touchstone-lab[otlp]" in done.stderr


def test_the_dashboard_shows_what_is_exported() -> None:
    dashboard = json.loads((ROOT / "packaging/grafana-dashboard.json").read_text(encoding="utf-8"))
    asked = set(re.findall(r"touchstone_[a-z_]+", json.dumps(dashboard)))
    names = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in LiveMetrics().registry.collect()
    }
    # The generator's own CPU is of use to touchstone alone.
    assert asked == names - {"touchstone_engine_cpu_seconds_total"}


def test_the_page_has_the_points_that_it_does_not_have_yet() -> None:
    def points(after: str = "") -> Any:
        with urllib.request.urlopen(f"{curves}points{after}", timeout=10) as answer:
            return json.load(answer)

    with exporting("0") as (display, said):
        curves = said.split("curves: ")[1].split()[0]
        display.total(4)
        display.event(TURN)
        display.event({**TURN, "rate": None})
        first = points()
        for t, ok in ((0.5, 100), (1.0, 300), (0.5, 50)):
            display.event({"event": "progress", "t": t, "ok": ok, "errors": 0, "connections": 8, "queue": 0})
        rest = points(f"?after={first['made']}")
        assert points("?after=99")["points"] == []
        assert points("?after=x")["made"] == 4
    turn = first["points"][0]
    assert (first["made"], turn["contender"], turn["stage"]) == (1, "go/plain", "load")
    assert (turn["rate"], turn["p99"], turn["cpu"]) == (400.0, 0.004, 0.002)
    assert first["measurements"] == {"planned": 4, "done": 0}
    # A load that begins counts from 0 again.
    assert [point["rate"] for point in rest["points"]] == [200.0, 400.0, 100.0]
