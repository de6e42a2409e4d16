"""What is spoken with a contender: TLS with the certificate of the run, HTTP/2, and what is said of one that cannot."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.test_load import null_server
from tests.run.test_end_to_end import report_of
from touchstone.engine.locate import engine_path
from touchstone.failure import UsageError
from touchstone.manifest.catalogue import ScenarioFolder, read_scenario_folder
from touchstone.manifest.outside import ExternalService
from touchstone.plan.plan import over_tls

SCENARIO = """
schema = 1
name = "spoken"
title = "Spoken"
summary = "One answer, in whatever is spoken."
ready = { target = "/" }
contract = [{ id = "answers", says = "it answers", steps = [{ target = "/", expect = { body = "ok" } }] }]
"""
LOAD = """
[loads.{name}]
title = "{name}"
{spoken}
connections = 2
seconds = 0.5
warmup_s = 0.2
requests = [{{ name = "one", target = "/", expect = {{ body = "ok" }} }}]
"""
STACK = """
schema = 1
name = "own"
scenario = "spoken"
title = "own"
language = "Python"
[needs]
python3 = ">=3.11"
[variants.plain]
title = "plain"
artifacts = ["server.py"]
run = ["python3", "server.py"]
"""
SERVER = """
import os, ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *words):
        pass

server = ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler)
if certificate := os.environ.get("TLS_CERT"):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, os.environ["TLS_KEY"])
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


def written(folder: Path, loads: dict[str, str], *, own: str = "", stack: str = STACK) -> Path:
    (folder / "own").mkdir(parents=True)
    text = SCENARIO.replace('title = "Spoken"', f'title = "Spoken"\n{own}')
    (folder / "scenario.toml").write_text(
        text + "".join(LOAD.format(name=name, spoken=spoken) for name, spoken in loads.items())
    )
    (folder / "own" / "stack.toml").write_text(stack)
    (folder / "own" / "server.py").write_text(SERVER)
    return folder


@contextmanager
def over_tls_at(folder: Path) -> Iterator[str]:
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run([engine_path(), "certificate", f"--cert={cert}", f"--key={key}", "localhost"], check=True)
    with null_server("--tls-cert", str(cert), "--tls-key", str(key)) as url:
        yield url.replace("http:", "https:")


def test_a_stack_speaks_tls_where_it_is_asked_to(tmp_path: Path) -> None:
    folder = written(tmp_path / "spoken", {"clear": "", "secure": "tls = true"})
    code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load", "--phase", "boot")
    assert code == 0
    samples = [s for s in report["run"]["samples"] if s["contender"] == "own/plain"]
    loaded = {s["load"]: s for s in samples if s["phase"] == "load"}
    for name, tls in (("clear", False), ("secure", True)):
        assert loaded[name]["figures"]["throughput"] > 0
        assert loaded[name]["spec"].get("tls", False) is tls
        assert ("TLS_CERT" in loaded[name]["process"]["env"]) is tls
    # The null server speaks the same: each load has its own ceiling.
    tares = [s for s in report["run"]["samples"] if s["contender"] == "tare" and s["phase"] == "load"]
    assert sorted(s["load"] for s in tares if not s["failure"]) == ["clear", "secure"]
    (verified,) = [s for s in samples if s["phase"] == "verify"]
    assert {check["id"] for check in verified["checks"]} >= {"answers", "answers-h1-tls", "load-secure-h1-tls"}


def test_a_scenario_over_tls_is_started_and_timed_over_tls(tmp_path: Path) -> None:
    stack = STACK + 'env = { FILES = "{tls.cert}:{tls.key}" }\n'
    folder = written(tmp_path / "spoken", {"one": ""}, own="tls = true", stack=stack)
    code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "boot")
    assert code == 0
    (booted,) = [s for s in report["run"]["samples"] if s["phase"] == "boot"]
    assert booted["figures"]["boot_first_response"] > 0
    files = booted["process"]["env"]["FILES"].split(":")
    assert [Path(one).name for one in files] == ["cert.pem", "key.pem"]


def test_a_stack_that_does_not_speak_what_is_asked_is_named_or_left_out(tmp_path: Path) -> None:
    folder = written(tmp_path / "spoken", {"h2c": 'protocol = "h2c"'})
    code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load")
    assert code == 4
    (failed,) = report["judgement"]["failed"]
    assert "asked over HTTP/2 without TLS (h2c), and does not speak it" in failed["reason"]
    states = STACK.replace('title = "own"', 'title = "own"\nspeaks = ["h1"]', 1)
    folder = written(tmp_path / "states", {"h2c": 'protocol = "h2c"', "h1": ""}, stack=states)
    code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load")
    assert code == 0
    loaded = {s["load"]: s for s in report["run"]["samples"] if s["phase"] == "load" and s["contender"] != "tare"}
    assert loaded["h1"]["figures"]["throughput"] > 0
    assert "the stack says that it does not" in loaded["h2c"]["not_measured"]["throughput"]


def test_a_service_named_by_https_is_measured_over_tls(tmp_path: Path) -> None:
    folder = written(tmp_path / "spoken", {"plain": "", "two": 'protocol = "h2"'})
    with over_tls_at(tmp_path) as url:
        words = ("--rounds", "1", "--phase", "load", "--url", f"null={url}")
        code, report = report_of(tmp_path, str(folder), *words)
    assert code == 0
    loaded = {s["load"]: s for s in report["run"]["samples"] if s["phase"] == "load" and s["contender"] == "null"}
    assert [loaded[name]["spec"].get("tls", False) for name in ("plain", "two")] == [True, True]
    assert all(sample["figures"]["throughput"] > 0 for sample in loaded.values())


def folder_of(tmp_path: Path, loads: dict[str, str], own: str = "") -> ScenarioFolder:
    return read_scenario_folder(written(tmp_path / "spoken", loads, own=own))


def test_urls_of_both_schemes_need_loads_that_state_what_they_speak(tmp_path: Path) -> None:
    both = [
        ExternalService("a", "http://127.0.0.1:1", "127.0.0.1", 1),
        ExternalService("b", "https://127.0.0.1:2", "127.0.0.1", 2),
    ]
    folder = folder_of(tmp_path, {"silent": "", "stated": "tls = false", "two": 'protocol = "h2c"'})
    with pytest.raises(UsageError, match="some services have http:// URLs and some https://"):
        over_tls(folder, both)
    loads = over_tls(folder, both[1:]).scenario.loads
    assert {name: load.tls for name, load in loads.items()} == {"silent": True, "stated": False, "two": False}
    assert over_tls(folder, both[:1]) is folder


def test_a_load_that_states_nothing_speaks_what_the_scenario_says(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path, {"silent": "streams = 4", "tls": "tls = true", "h1": 'protocol = "h1"'}, 'protocol = "h2"'
    )
    found = {name: load.spoken.label for name, load in folder.scenario.loads.items()}
    assert found == {"silent": "h2", "tls": "h1-tls", "h1": "h1"}
    assert folder.scenario.spoken.label == "h2"
