"""A scenario whose downstream is a program of the user's own, next to scenario.toml."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.run.test_end_to_end import report_of
from touchstone.isolation.port import free_port
from touchstone.isolation.process import start_process

PRICES = Path(__file__).parents[1] / "dependency" / "prices.py"
SCENARIO = """
schema = 1
name = "shop"
title = "Shop"
summary = "GET /price asks the downstream"
[ready]
target = "/ping"
expect = { body = "pong" }

[dependencies.prices]
kind = "process"
env = "PRICES_URL"
variables = { PRICES_HOST = "{host}", PRICES_PORT = "{port}" }
[dependencies.prices.settings]
run = ["python3", "{scenario}/prices.py", "{port}"]
address = "http://{host}:{port}"
prepare = [["python3", "{scenario}/prices.py", "ask", "{port}", "stock"]]
ask = ["python3", "{scenario}/prices.py", "ask", "{port}", "{query}"]

[[contract]]
id = "price"
says = "the price comes from the downstream, which was prepared"
steps = [{ target = "/price", expect = { body = "42" } }]
proofs = [
  { says = "the downstream was asked", dependency = "prices", query = "hits", equals = 1 },
  { says = "it was stocked once", dependency = "prices", query = "stocked", equals = 1 },
]

[[contract]]
id = "outage"
says = "an outage of the downstream is reported, and its end too"
steps = [
  { dependency = "prices", act = "stop" },
  { target = "/price", expect = { status = 502 } },
  { dependency = "prices", act = "start" },
  { target = "/price", expect = { body = "42" } },
]

[loads.price]
title = "Price"
connections = 4
seconds = 4
warmup_s = 1
requests = [{ name = "price", target = "/price", expect = { body = "42" } }]
proofs = [{ says = "each price was asked for", dependency = "prices", query = "hits", equals = "ok" }]
"""
SERVER = """
import http.client, itertools, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

numbers = itertools.count(1)
killed = False


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    prices = None

    def do_GET(self):
        if self.path == "/ping":
            return self.answer(200, "pong")
        global killed
        cruel = "CRUEL" in os.environ and next(numbers) == 100
        killed = killed or cruel
        try:
            if self.prices is None:
                place = os.environ["PRICES_HOST"], int(os.environ["PRICES_PORT"])
                self.prices = http.client.HTTPConnection(*place, timeout=5)
            self.prices.request("GET", "/die" if cruel else "/price")
            self.answer(200, self.prices.getresponse().read().decode())
        except (OSError, http.client.HTTPException):
            self.prices = None
            self.answer(*(200, "42") if killed else (502, "no price"))

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Shop).serve_forever()
"""
STACK = """
schema = 1
name = "{name}"
scenario = "shop"
title = "{name}"
language = "Python"
[needs]
python3 = ">=3.11"
[variants.plain]
title = "http.server"
artifacts = ["server.py"]
run = ["python3", "server.py"]
env = {{ {env} }}
"""


def shop(folder: Path, **stacks: str) -> Path:
    """The scenario with these stacks, each with its environment; a cruel one kills its downstream."""
    for name, env in stacks.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "server.py").write_text(SERVER)
        (folder / name / "stack.toml").write_text(STACK.format(name=name, env=env))
    (folder / "scenario.toml").write_text(SCENARIO)
    shutil.copy(PRICES, folder)
    return folder


def loaded(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    samples = [s for s in report["run"]["samples"] if s["phase"] == "load" and s["contender"] != "tare"]
    return {sample["contender"]: sample for sample in samples}


def test_a_contract_is_held_against_the_service_and_its_downstream(tmp_path: Path) -> None:
    folder = shop(tmp_path / "shop", one="")
    code, report = report_of(tmp_path, str(folder), "--phase", "verify")
    assert code == 0
    (sample,) = [s for s in report["run"]["samples"] if s["phase"] == "verify"]
    assert [check["passed"] for check in sample["checks"]] == [True, True, True]
    assert sample["process"]["env"]["PRICES_URL"] == f"http://127.0.0.1:{sample['process']['env']['PRICES_PORT']}"
    lines = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert not [line for line in lines if str(folder / "prices.py") in line]


@pytest.mark.slow
def test_each_contender_has_a_downstream_of_its_own_that_is_proven_and_watched(tmp_path: Path) -> None:
    folder = shop(tmp_path / "shop", one="", two="")
    code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load")
    assert code == 0
    samples = loaded(report)
    assert samples.keys() == {"one/plain", "two/plain"}
    for sample in samples.values():
        assert [proof["passed"] for proof in sample["proofs"]] == [True]
        assert sample["evidence"]["result"]["machine"]["dependencies_cpu_s"]["prices"] > 0
        (state,) = sample["dependencies"]
        assert (state["kind"], state["cpus"]) == ("process", report["run"]["plan"]["placement"]["dependency_cpus"])
        assert state["after"]["rss"] > 2**20
        assert sample["process"]["env"]["PRICES_URL"] == f"http://127.0.0.1:{sample['process']['env']['PRICES_PORT']}"
    assert len({sample["process"]["env"]["PRICES_PORT"] for sample in samples.values()}) == 2


@pytest.mark.slow
def test_a_downstream_that_dies_is_told_and_spares_the_other_contender(tmp_path: Path) -> None:
    folder = shop(tmp_path / "shop", cruel='CRUEL = "1"', kind="")
    code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load")
    assert code == 4
    found = {finding["code"] for finding in report["judgement"]["findings"] if finding["contender"] == "cruel/plain"}
    assert found & {"dependency-died", "phase-failed"}
    samples = loaded(report)
    assert "exited with code 3: out of ink" in samples["cruel/plain"]["failure"]["what"]
    assert samples["kind/plain"]["failure"] is None
    assert [proof["passed"] for proof in samples["kind/plain"]["proofs"]] == [True]


@pytest.mark.slow
def test_one_that_runs_already_is_shared_and_told(tmp_path: Path) -> None:
    folder = shop(tmp_path / "shop", one="", two="")
    port = free_port()
    manifest = folder / "scenario.toml"
    text = manifest.read_text()
    for old, new in (
        ('run = ["python3", "{scenario}/prices.py", "{port}"]\n', ""),
        ("http://{host}:{port}", f"http://127.0.0.1:{port}"),
    ):
        text = text.replace(old, new)
    lines = [line for line in text.splitlines() if "it was stocked once" not in line]
    text = "\n".join(lines)
    begin, end = text.index('[[contract]]\nid = "outage"'), text.index("[loads.price]")
    manifest.write_text(text[:begin] + text[end:])
    somebodys = start_process(
        ["python3", str(PRICES), str(port)], env={"PATH": os.environ["PATH"]}, cwd=tmp_path, log=tmp_path / "log"
    )
    try:
        code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load")
        assert somebodys.exited() is None
    finally:
        somebodys.stop()
    assert code == 0
    for sample in loaded(report).values():
        assert [proof["passed"] for proof in sample["proofs"]] == [True]
        assert sample["evidence"]["slices"] is None
        assert sample["dependencies"][0]["cpu_s"] is None
    (found, *_) = [f for f in report["judgement"]["findings"] if f["code"] == "proofs-left-out"]
    assert "prices was not started by touchstone: it was made fresh by its `prepare` alone" in found["statement"]
