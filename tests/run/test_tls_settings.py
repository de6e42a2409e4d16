"""How TLS is spoken with a service, in every phase: client's certificate, server's name, oldest version."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.run.test_end_to_end import report_of, touchstone
from tests.run.test_protocols import LOAD, SCENARIO, STACK, over_tls_at, written
from touchstone.engine.locate import engine_path
from touchstone.failure import UsageError
from touchstone.manifest.catalogue import read_scenario_folder
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.spoken import TlsSettings
from touchstone.plan.plan import with_tls

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

def named(_session, name, _context):
    return None if name == "shop.test" else ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME

class Server(ThreadingHTTPServer):
    request_queue_size = 128
    def handle_error(self, *_):
        pass

server = Server((os.environ["HOST"], int(os.environ["PORT"])), Handler)
context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=os.environ["CLIENTS"])
context.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
context.verify_mode = ssl.CERT_REQUIRED
context.minimum_version = ssl.TLSVersion.TLSv1_3
context.sni_callback = named
# The handshake is the handler's matter: a silent connection holds nobody up.
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
"""
PHASES = """
[hold]
request = { target = "/", expect = { body = "ok" } }
levels = [5, 20]
[peak]
load = "one"
[stop]
load = "one"
rate = 50
connections = 4
[probe]
target = "/"
protocols = ["h1-tls", "h2c"]
"""
SETTINGS = 'tls = { cert = "client.pem", key = "client.key", sni = "shop.test", min_version = "1.3" }'


def _certificate(folder: Path, name: str) -> None:
    words = [f"--cert={folder / name}.pem", f"--key={folder / name}.key", "localhost"]
    subprocess.run([engine_path(), "certificate", *words], check=True)


def _demanding(folder: Path, own: str) -> Path:
    """A scenario whose service asks for a client's certificate, serves one name, and speaks TLS 1.3 alone."""
    speaks = STACK.replace('title = "own"', 'title = "own"\nspeaks = ["h1-tls"]', 1)
    stack = speaks + f'env = {{ CLIENTS = "{folder / "client.pem"}" }}\n'
    written(folder, {"one": ""}, own=own, stack=stack)
    (folder / "own" / "server.py").write_text(SERVER)
    with (folder / "scenario.toml").open("a") as file:
        file.write(PHASES)
    _certificate(folder, "client")
    return folder


def _samples(report: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for sample in report["run"]["samples"]:
        if sample["contender"] == "own/plain":
            found.setdefault(sample["phase"], []).append(sample)
    return found


def test_every_phase_speaks_tls_as_the_scenario_says(tmp_path: Path) -> None:
    folder = _demanding(tmp_path / "spoken", SETTINGS)
    phases = ("boot", "load", "hold", "peak", "stop", "probe")
    words = [word for phase in phases for word in ("--phase", phase)]
    _code, report = report_of(tmp_path, str(folder), "--rounds", "1", *words)
    found = _samples(report)
    assert {*phases, "verify"} <= set(found)
    assert not [s["failure"] for samples in found.values() for s in samples if s["failure"]]
    assert found["load"][0]["spec"]["tls_settings"]["sni"] == "shop.test"
    (negotiated,) = found["load"][0]["evidence"]["result"]["tls"]["negotiated"]
    assert negotiated["version"] == "1.3"
    (flying,) = [s for s in found["stop"] if s["load"] == "in-flight"]
    assert flying["evidence"]["result"]["before"]["right"] > 0
    own, other = found["probe"]
    assert (own["load"], own["figures"]["probe_kept"] > 0) == (None, True)
    assert other["load"] == "h2c" and "does not speak it" in other["not_measured"]["probe_kept"]


def test_a_client_without_a_certificate_is_told_what_is_missing(tmp_path: Path) -> None:
    folder = _demanding(tmp_path / "spoken", 'tls = { sni = "shop.test" }')
    manifest = folder / "scenario.toml"
    # The lab asks until this time is over; a busy machine starts the service long before.
    soon = 'ready = { target = "/", within_s = 15 }'
    manifest.write_text(manifest.read_text().replace('ready = { target = "/" }', soon))
    code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load")
    assert code == 4
    (failed,) = report["judgement"]["failed"]
    assert "client's certificate" in failed["reason"]


def test_options_of_run_speak_tls_to_a_service_that_runs(tmp_path: Path) -> None:
    folder = written(tmp_path / "spoken", {"plain": ""})
    with over_tls_at(tmp_path) as url:
        words = ("--rounds", "1", "--phase", "load", "--url", f"null={url}", "--sni", "localhost", "--verify")
        code, report = report_of(tmp_path, str(folder), *words)
        assert code == 4
        assert "unknown authority" in report["judgement"]["failed"][0]["reason"]
        trusting = (*words[:-1], "--cacert", str(tmp_path / "cert.pem"), "--tls-min", "1.3")
        code, report = report_of(tmp_path, str(folder), *trusting)
    assert code == 0
    (loaded,) = [s for s in report["run"]["samples"] if s["contender"] == "null" and s["phase"] == "load"]
    assert loaded["figures"]["throughput"] > 0
    assert loaded["spec"]["tls_settings"] == {
        "ca_file": str(tmp_path / "cert.pem"),
        "sni": "localhost",
        "min_version": "1.3",
    }


def test_options_about_tls_need_something_that_speaks_it(tmp_path: Path) -> None:
    folder = read_scenario_folder(written(tmp_path / "spoken", {"one": ""}))
    with pytest.raises(UsageError, match="nothing is spoken over TLS"):
        with_tls(folder, TlsSettings(sni="shop.test"))


def test_an_option_takes_the_place_of_what_it_excludes(tmp_path: Path) -> None:
    folder = written(tmp_path / "spoken", {"one": ""}, own='tls = { ca_file = "a.pem", cert = "b.pem", key = "b.key" }')
    wanted = TlsSettings(verify=False, cert="/c.pem")
    changed = with_tls(read_scenario_folder(folder), wanted).scenario
    assert changed.spoken.settings == wanted
    assert changed.loads["one"].spoken.settings == wanted


def _loads(own: str, load: str) -> Scenario:
    text = SCENARIO.replace('title = "Spoken"', f'title = "Spoken"\n{own}')
    return Scenario.model_validate(tomllib.loads(text + LOAD.format(name="one", spoken=load)))


@pytest.mark.parametrize(
    ("own", "load", "sni"),
    [
        ('tls = { sni = "a" }', "", "a"),
        ('tls = { sni = "a" }', "tls = true", "a"),
        ('tls = { sni = "a" }', 'protocol = "h2"', "a"),
        ('tls = { sni = "a" }', 'tls = { sni = "b" }', "b"),
        ('tls = { sni = "a" }', "tls = {}", None),
        ('tls = { sni = "a" }', "tls = false", None),
        ('tls = { sni = "a" }', 'protocol = "h2c"', None),
    ],
)
def test_loads_over_tls_have_the_scenarios_settings(own: str, load: str, sni: str | None) -> None:
    spoken = _loads(own, load).loads["one"].spoken
    assert spoken.settings.sni == sni
    assert spoken.tls is (load not in ("tls = false", 'protocol = "h2c"'))


@pytest.mark.parametrize(
    ("settings", "key", "words"),
    [
        ('tls = { cert = "none.pem" }', "tls", "none.pem: No such file"),
        ('tls = { cert = "a.pem", key = "b.key" }', "tls", "is not that of the certificate"),
        ('tls = { ca_file = "scenario.toml" }', "tls", "scenario.toml"),
        ('tls = { sni = "127.0.0.1" }', "tls", "an address is never sent as a name"),
        ('tls = { key = "a.key" }', "tls", "belongs to the client's certificate"),
        ('tls = { verify = false, ca_file = "a.pem" }', "tls", "leave it out"),
        ('tls = { min_version = "1.1" }', "tls.min_version", "'1.2' or '1.3'"),
        ('tls = { snu = "a" }', "tls.snu", "snu"),
        ('protocol = "h2c"\ntls = { sni = "a" }', "loads.one", "is HTTP/2 without TLS"),
    ],
)
def test_settings_that_cannot_be_used_are_named_before_a_run(
    tmp_path: Path, settings: str, key: str, words: str
) -> None:
    folder = written(tmp_path / "spoken", {"one": ""}, own=settings)
    for name in ("a", "b"):
        _certificate(folder, name)
    found = touchstone(tmp_path, "check", str(folder))
    assert found.returncode == 2, found.stdout
    said = found.stdout + found.stderr
    assert words in said and key in said, said
