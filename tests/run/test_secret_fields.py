"""A service that wants a token: given by the environment, asked for early, and in no record."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.run.test_end_to_end import report_of

TOKEN = "open{sesame}-4711"
SCENARIO = r"""
schema = 1
name = "vault"
title = "Vault"
summary = "GET /ping answers clients with the token"
[ready]
target = "/ping"
headers = { Authorization = "Bearer {env.VAULT_TOKEN}" }
expect = { body = "pong" }
[[contract]]
id = "token"
says = "who has no token is refused"
steps = [
  { target = "/ping", headers = { Authorization = "Bearer {env.VAULT_TOKEN}" }, expect = { body = "pong" } },
  { target = "/ping", expect = { status = 401 } },
]
[loads.ping]
title = "Ping"
connections = 2
error_allowance = 0.5
[[loads.ping.requests]]
weight = 9
target = "/ping"
headers = { Authorization = "Bearer {env.VAULT_TOKEN}" }
[[loads.ping.requests]]
weight = 9
target = "/ping"
headers = { Authorization = "Bearer {env.VAULT_TOKEN}", X-Api-Key = "sesame" }
[[loads.ping.requests]]
method = "POST"
target = "/odd?at={env.VAULT_TOKEN:url}"
headers = { Authorization = "Bearer {env.VAULT_TOKEN}" }
body = "\u0000\u00ff{env.VAULT_TOKEN:json}"
encoding = "bytes"
expect = { body = "pong" }
"""
SERVER = """
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Vault(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        known = self.headers["Authorization"] == "Bearer open{sesame}-4711"
        self.answer(200 if known else 401, b"pong")

    def do_POST(self):
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        known = self.path == "/odd?at=open%7Bsesame%7D-4711" and sent == b"\\x00\\xffopen{sesame}-4711"
        self.answer(200 if known else 400, f"odd {self.headers['Authorization']} {self.path} {sent[2:]}".encode())

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Vault).serve_forever()
"""
STACK = """
schema = 1
name = "one"
scenario = "vault"
title = "One"
language = "Python"
[needs]
python3 = ">=3.11"
[variants.plain]
title = "http.server"
artifacts = ["server.py"]
run = ["python3", "server.py"]
"""


def vault(folder: Path) -> Path:
    (folder / "one").mkdir(parents=True)
    (folder / "scenario.toml").write_text(SCENARIO)
    (folder / "one" / "stack.toml").write_text(STACK)
    (folder / "one" / "server.py").write_text(SERVER)
    return folder


def test_a_token_reaches_the_service_and_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = vault(tmp_path / "vault")
    monkeypatch.setenv("VAULT_TOKEN", TOKEN)
    phases = ("--phase", "verify", "--phase", "load", "--phase", "boot")
    _, report = report_of(tmp_path, str(folder), *phases, "--whole-windows", "--rounds", "1")
    (load,) = [s for s in report["run"]["samples"] if s["phase"] == "load" and s["contender"] == "one/plain"]
    assert load["evidence"]["result"]["counts"]["ok"] > 0
    (first, *_) = load["evidence"]["result"]["first_errors"]
    assert "Authorization: (hidden)" in first["sent"]
    assert first["class"] == "wrong_body"
    assert "odd (hidden)" in first["received"]
    assert "/odd?at=(hidden)" in first["sent"]
    written = [path for path in (tmp_path / "results").rglob("*") if path.is_file()]
    assert written
    assert [str(path) for path in written if b"sesame" in path.read_bytes()] == []


def test_a_token_that_is_not_set_is_asked_for_before_anything_is_built(tmp_path: Path) -> None:
    folder = vault(tmp_path / "vault")
    done = subprocess.run(
        [sys.executable, "-m", "touchstone", "run", str(folder), "--quick"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "ready.headers.Authorization: the environment variable VAULT_TOKEN is not set" in said
    assert not (tmp_path / "results").exists()
