"""What goes before a load is tried when the contract is checked: a failing login is known before anything is timed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.run.test_end_to_end import report_of
from touchstone.isolation.port import free_port, listeners

SERVER = """
import json, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/ping":
            return self.answer(200, "pong")
        if "session=s1" in self.headers.get("Cookie", "") or self.headers.get("Authorization") == "Bearer t1":
            return self.answer(200, "Ann")
        self.answer(401, "who are you?")

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if os.environ.get("FAULT") == "login":
            return self.answer(403, "no such user")
        with open("logins", "a") as file:
            file.write("x")
        self.answer(200, json.dumps({"token": "t1"}), [("Set-Cookie", "session=s1")])

    def answer(self, status, body, fields=()):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
"""
SCENARIO = """
schema = 1
name = "login"
title = "Login"
summary = "A service that lets in who has logged in"

[ready]
target = "/ping"
expect = { body = "pong" }

[[contract]]
id = "closed"
says = "nobody is let in without a login"
steps = [{ target = "/me", expect = { status = 401 } }]

[loads.me]
title = "Who am I"
connections = 2

[[loads.me.requests]]
name = "me"
target = "/me"
headers = { authorization = "Bearer {capture.token}" }
expect = { body = "Ann" }

[[loads.me.prepare]]
method = "POST"
target = "/login"
captures = { token = { json = "/token" } }

[loads.visit]
title = "A visit"
connections = 2

[[loads.visit.journeys]]
name = "visit"
steps = [
  { name = "login", method = "POST", target = "/login" },
  { name = "me", target = "/me", expect = { body = "Ann" } },
]
"""
STACK = """
schema = 1
scenario = "login"
name = "{name}"
title = "{name}"
language = "Python"
[needs]
python3 = ">=3.11"
[variants.plain]
title = "{name}"
build = []
artifacts = ["server.py"]
run = ["python3", "server.py"]
env = {{ FAULT = "{fault}" }}
"""


def scenario(folder: Path, **stacks: str) -> Path:
    folder.mkdir()
    (folder / "scenario.toml").write_text(SCENARIO)
    for name, fault in stacks.items():
        (folder / name).mkdir()
        (folder / name / "server.py").write_text(SERVER)
        (folder / name / "stack.toml").write_text(STACK.format(name=name, fault=fault))
    return folder


@contextmanager
def service(folder: Path, fault: str = "") -> Iterator[str]:
    folder.mkdir()
    (folder / "server.py").write_text(SERVER)
    port = free_port()
    env = os.environ | {"HOST": "127.0.0.1", "PORT": str(port), "FAULT": fault}
    process = subprocess.Popen([sys.executable, "server.py"], env=env, cwd=folder)
    try:
        while not listeners(port):
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize(
    ("load", "says"),
    [
        ("me", "what goes before the load me is answered"),
        ("visit", "the requests of the load visit are answered"),
    ],
)
def test_a_service_whose_login_fails_does_not_hold_and_says_what_it_answered(
    tmp_path: Path, load: str, says: str
) -> None:
    folder = scenario(tmp_path / "login")
    with service(tmp_path / "a") as good, service(tmp_path / "b", "login") as bad:
        words = ["--phase", "verify", "--load", load, "--url", f"good={good}", "--url", f"bad={bad}"]
        code, report = report_of(tmp_path, str(folder), *words)
    assert code == 4
    (failed,) = report["judgement"]["failed"]
    assert failed["contender"] == "bad"
    assert says in failed["reason"]
    checks = {s["contender"]: s["checks"] for s in report["run"]["samples"]}
    (broken,) = [check for check in checks["bad"] if not check["passed"]]
    assert "403" in broken["broken"][0]["received"] and "no such user" in broken["broken"][0]["received"]
    assert (tmp_path / "a" / "logins").read_text() == "x", "once"


def test_stacks_are_prepared_as_the_loads_prepare_them(tmp_path: Path) -> None:
    folder = scenario(tmp_path / "login", sound="", broken="login")
    code, report = report_of(tmp_path, str(folder), "--phase", "build", "--phase", "verify")
    assert code == 4
    checks = {s["contender"]: s["checks"] for s in report["run"]["samples"] if s["phase"] == "verify"}
    told = {check["id"]: check["passed"] for check in checks["sound/plain"]}
    assert told == {"closed": True, "load-visit": True, "load-me": True}
    (broken,) = [check for check in checks["broken/plain"] if not check["passed"]]
    assert broken["id"] == "load-visit", "the first thing that is wrong is enough"


@pytest.mark.slow
def test_what_was_captured_once_is_sent_under_the_load(tmp_path: Path) -> None:
    folder = scenario(tmp_path / "login")
    with service(tmp_path / "a") as good:
        words = ["--phase", "verify", "--phase", "load", "--load", "me", "--rounds", "1", "--url", f"good={good}"]
        code, report = report_of(tmp_path, str(folder), *words)
    assert code == 0, report["judgement"]["failed"]
    assert (tmp_path / "a" / "logins").read_text() == "x", "once"
