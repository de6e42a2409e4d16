"""gRPC calls against a server of grpcio: by the command, in a manifest, and between contract and load."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import grpc
from tests.command import touchstone
from tests.grpc.server import start
from touchstone.contract.checker import ContractChecker
from touchstone.engine.ask import AskedService, RequestValues
from touchstone.engine.client import run_job
from touchstone.engine.job import Timing, load_job
from touchstone.engine.locate import engine_path
from touchstone.failure import UsageError
from touchstone.manifest.contract import Check
from touchstone.manifest.load import Load
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.spoken import SpokenProtocol
from touchstone.record.engine import LoadResult
from touchstone.traffic.null_server import null_load, server

PROTO = str(Path(__file__).parent / "notes.proto")
NOTES = "test.notes.Notes"
MEASURED = (0, 4)
"""A result may be withdrawn where the generator gets no CPU."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server, port = start()
    yield port
    server.stop(None)


def load(port: int, folder: Path, method: str, *words: str) -> tuple[int, str]:
    url = f"grpc://127.0.0.1:{port}/{method}"
    streams = () if "--protocol" in words else ("--streams", "4")
    done = touchstone("load", url, "-n", "60", "-c", "2", *streams, *words, cwd=folder)
    return done.returncode, done.stdout + done.stderr


def test_a_call_is_loaded_by_its_url(port: int, tmp_path: Path) -> None:
    message = '{"text": "note {counter}", "number": {counter}, "main_colour": "COLOUR_RED", "counts": {"a": 1}}'
    code, said = load(port, tmp_path, f"{NOTES}/Echo", "--proto", PROTO, "-b", message, "--expect-body", message)
    assert code in MEASURED, said
    assert "60 sent, 60 right" in said


def test_a_wrong_message_and_a_status_are_named(port: int, tmp_path: Path) -> None:
    code, said = load(port, tmp_path, f"{NOTES}/Echo", "--proto", PROTO, "-b", '{"text": "a"}', "--expect-body", "{}")
    assert code == 1
    assert "the message differs from byte" in said
    refused = ("--proto", PROTO, "-b", '{"code": 9, "message": "not now: \u00e9 %"}')
    code, said = load(port, tmp_path, f"{NOTES}/Fail", *refused)
    assert code == 1
    assert "grpc-status FAILED_PRECONDITION (9): not now: \u00e9 %; expected OK" in said
    code, said = load(port, tmp_path, f"{NOTES}/Fail", *refused, "--expect-grpc-status", "OK,FAILED_PRECONDITION")
    assert code in MEASURED, said


def test_messages_of_server_streaming_are_counted(port: int, tmp_path: Path) -> None:
    words = ("--proto", PROTO, "--stream", "messages", "--counter", "json.number")
    code, said = load(port, tmp_path, f"{NOTES}/List", *words, "--events", "3")
    assert code in MEASURED, said
    assert "60 sent, 60 right" in said
    assert "180 came" in said
    code, said = load(port, tmp_path, f"{NOTES}/List", *words, "--events", "4")
    assert code == 1
    assert "lost event" in said


def test_messages_that_a_method_takes_as_a_stream_are_sent_and_their_replies_counted(port: int, tmp_path: Path) -> None:
    two = ('{"text": "a{counter}", "number": 1} {"text": "a{counter}", "number": 2}', "--messages", "3")
    sent = ("--proto", PROTO, "-b", *two)
    code, said = load(port, tmp_path, f"{NOTES}/Put", *sent, "--expect-body", '{"number": 6}')
    assert code in MEASURED, said
    assert "60 sent, 60 right" in said
    chat = (*sent, "--stream", "messages", "--expect-pattern", '.*"text":"a.*')
    code, said = load(port, tmp_path, f"{NOTES}/Chat", *chat, "--events", "6")
    assert code in MEASURED, said
    assert "360 came" in said
    code, said = load(port, tmp_path, f"{NOTES}/Chat", *chat, "--events", "7")
    assert code == 1
    assert "lost event" in said
    code, said = load(port, tmp_path, f"{NOTES}/Chat", *chat, "--events", "6", "--counter", "json.number")
    assert "doubled" in said


def test_a_call_over_tls_is_loaded_by_its_url(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run([engine_path(), "certificate", f"--cert={cert}", f"--key={key}", "localhost"], check=True)
    pair = (key.read_bytes(), cert.read_bytes())
    server, port = start(credentials=grpc.ssl_server_credentials([pair]))
    url = f"grpcs://localhost:{port}/{NOTES}/Echo"
    message = '{"text": "note {counter}"}'
    sent = ("-n", "60", "-c", "2", "--proto", PROTO, "-b", message, "--expect-body", message)
    done = touchstone("load", url, *sent, "--cacert", str(cert), cwd=tmp_path)
    unknown = touchstone("load", url, *sent, "--verify", cwd=tmp_path)
    server.stop(None)
    assert done.returncode in MEASURED, done.stdout + done.stderr
    assert "60 sent, 60 right" in done.stdout
    assert "ALPN h2" in done.stdout
    assert unknown.returncode == 1
    assert "self-signed: name the authority" in unknown.stderr


def test_the_health_protocol_needs_no_schema(port: int, tmp_path: Path) -> None:
    expect = ("--expect-pattern", '\\{"status":"SERVING"\\}')
    code, said = load(port, tmp_path, "grpc.health.v1.Health/Check", *expect)
    assert code in MEASURED, said


@pytest.mark.parametrize(
    ("method", "words", "why"),
    [
        (f"{NOTES}/Gone", (), "it has Chat, Echo, Fail, List, Nothing, Put"),
        (f"{NOTES}/List", (), "streams its responses: name `stream`, with kind messages"),
        (f"{NOTES}/Echo", ("-b", '{"txt": 1}'), "unrecognized field name 'txt'"),
        (f"{NOTES}/Echo", ("--protocol", "h1"), "gRPC needs HTTP/2"),
        (f"{NOTES}/Echo", ("--expect-status", "200"), "name grpc_status"),
        (f"{NOTES}/Echo", ("--expect-grpc-status", "FINE"), '"FINE" is not a code'),
        (f"{NOTES}/Echo", ("--messages", "2"), "takes one message: leave messages out"),
        (f"{NOTES}/Echo", ("-b", "{} {}"), "takes one message"),
        (f"{NOTES}/Put", ("-b", '{} {"txt": 1}'), "message 2: this is not a test.notes.Note in JSON"),
        (f"{NOTES}/Chat", (), "streams its responses: name `stream`"),
    ],
)
def test_what_does_not_fit_is_refused(port: int, tmp_path: Path, method: str, words: tuple[str, ...], why: str) -> None:
    code, said = load(port, tmp_path, method, "--proto", PROTO, *words)
    assert code == 2
    assert why in said


def scenario(folder: Path, load_words: str = "", top: str = 'protocol = "h2c"') -> Scenario:
    shutil.copy(PROTO, folder / "notes.proto")
    text = f"""
        schema = 1
        name = "notes"
        title = "Notes"
        summary = "Notes"
        {top}
        ready = {{ grpc = "grpc.health.v1.Health/Check", expect = {{ json = {{ status = "SERVING" }} }} }}
        contract = []
        [loads.echo]
        title = "Echo"
        connections = 2
        {load_words}
        [[loads.echo.requests]]
        grpc = "{NOTES}/Echo"
        proto = "notes.proto"
        body = '{{"text": "a{{counter}}", "inner_notes": [{{"number": 5}}], "at": "2026-01-02T03:04:05Z"}}'
        expect = {{ json = {{ text = "a{{counter}}", number = 0, at = "2026-01-02T03:04:05Z" }} }}
    """
    (folder / "scenario.toml").write_text(text, encoding="utf-8")
    return read_manifest(folder / "scenario.toml", Scenario)


def carried_out(wanted: Load, port: int) -> LoadResult:
    job = load_job(wanted, f"http://127.0.0.1:{port}", Timing(0.0, 30.0, 0.0), cpus=[], seed=1, fresh=None)
    return run_job("load", {**job, "max_requests": 50}, LoadResult)


def test_contract_and_load_send_and_check_the_same(port: int, tmp_path: Path) -> None:
    wanted = scenario(tmp_path)
    service = AskedService.at("127.0.0.1", port, spoken=SpokenProtocol("h2c"))
    assert not service.exchange(wanted.ready, RequestValues(1, "f", 0)).faults
    request = wanted.loads["echo"].requests[0]
    answer = service.exchange(request, RequestValues(7, "f", 0))
    assert not answer.faults
    assert answer.field("grpc-status") == "0"
    assert answer.field("x-bin") == "AP8"
    assert b'"text":"a7"' in answer.body
    result = carried_out(wanted.loads["echo"], port)
    assert (result.counts.ok, result.counts.status) == (50, {"OK": 50})


def test_a_status_that_is_not_expected_is_a_class_of_its_own(port: int, tmp_path: Path) -> None:
    request: dict[str, Any] = {"grpc": f"{NOTES}/Fail", "proto": PROTO, "body": '{"code": 5, "message": "gone"}'}
    wanted = Load.model_validate({"title": "Fail", "protocol": "h2c", "requests": [request]})
    result = carried_out(wanted, port)
    assert (result.counts.errors.grpc_status, result.counts.wrong, result.counts.failed) == (50, 50, 0)
    assert result.counts.status == {"NOT_FOUND": 50}
    answer = AskedService.at("127.0.0.1", port, spoken=SpokenProtocol("h2c")).exchange(
        wanted.requests[0], RequestValues(1, "f", 0)
    )
    assert answer.faults == ("grpc-status NOT_FOUND (5): gone; expected OK",)


@pytest.mark.parametrize(
    ("words", "top", "why"),
    [
        ("", "", 'set `protocol = "h2c"`'),
        ('protocol = "h1"', 'protocol = "h2c"', 'set `protocol = "h2c"`'),
    ],
)
def test_grpc_over_http_1_is_refused_before_anything_starts(tmp_path: Path, words: str, top: str, why: str) -> None:
    with pytest.raises(UsageError, match="gRPC needs HTTP/2") as raised:
        scenario(tmp_path, words, top)
    assert why in str(raised.value)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"target": "/"}, "leave `method` and `target` out"),
        ({"method": "GET"}, "leave `method` and `target` out"),
        ({"expect": {"status": 404}}, "name expect.grpc_status"),
    ],
)
def test_a_call_has_no_words_of_plain_http(change: dict[str, Any], why: str) -> None:
    request = {"grpc": f"{NOTES}/Echo", "proto": PROTO} | change
    with pytest.raises(ValueError, match=why):
        Load.model_validate({"title": "Echo", "protocol": "h2c", "requests": [request]})


@pytest.mark.parametrize("change", [{"proto": "notes.proto"}, {"messages": 2}, {"expect": {"grpc_status": "OK"}}])
def test_words_of_grpc_need_a_call(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="name its method by `grpc`"):
        Load.model_validate({"title": "Echo", "requests": [{"target": "/"} | change]})


def test_a_contract_checks_methods_that_take_a_stream(port: int) -> None:
    sent = {"proto": PROTO, "body": '{"text": "a"} {"text": "b"}', "messages": 2}
    put = {"grpc": f"{NOTES}/Put", **sent, "expect": {"json": {"number": 4}}}
    chat = {"grpc": f"{NOTES}/Chat", **sent, "stream": {"kind": "messages", "events": 4}}
    service = AskedService.at("127.0.0.1", port, spoken=SpokenProtocol("h2c"))
    check = Check.model_validate({"id": "sent", "says": "notes are taken", "steps": [put, chat]})
    outcome = ContractChecker(service, {}).check(check)
    assert outcome.passed, outcome


LISTED: dict[str, Any] = {"grpc": f"{NOTES}/List", "proto": PROTO}


@pytest.mark.parametrize(
    ("more", "faults"),
    [
        ({"stream": {"events": 3, "counter": "json.number", "first": 1}}, []),
        ({"stream": {"events": 2}}, []),
        ({"stream": {"events": 4}}, ["1 event is missing: 3 of 4 came before the stream was over"]),
        ({"stream": {"events": 3, "counter": "json.number", "first": 0}}, ["the first missing is 0"]),
        ({"stream": {"events": 3, "expect": {"json": {"number": 1}}}}, ["event 2 of the stream"]),
        ({"stream": {"events": 4}, "expect": {"grpc_status": "NOT_FOUND"}}, ["grpc-status OK"]),
    ],
)
def test_a_contract_checks_messages_of_server_streaming(port: int, more: dict[str, Any], faults: list[str]) -> None:
    step = LISTED | more | {"stream": {"kind": "messages", **more["stream"]}}
    check = Check.model_validate({"id": "list", "says": "notes are listed", "steps": [step]})
    service = AskedService.at("127.0.0.1", port, spoken=SpokenProtocol("h2c"))
    outcome = ContractChecker(service, {}).check(check)
    assert outcome.passed == (not faults), outcome
    for fault, broken in zip(faults, outcome.broken, strict=True):
        assert fault in broken.received
        assert f"{more['stream']['events']} events" in broken.expected


def test_calls_go_to_the_port_that_grpc_has_for_itself(port: int) -> None:
    check = Check.model_validate({"id": "a", "says": "it is there", "steps": [{"grpc": "grpc.health.v1.Health/Check"}]})
    service = AskedService.at("127.0.0.1", 1, spoken=SpokenProtocol("h2c"), grpc_port=port)
    assert ContractChecker(service, {}).check(check).passed
    assert service.url_of(Load.model_validate(MIXED).requests[1]) == "http://127.0.0.1:1"


MIXED: dict[str, Any] = {
    "title": "Both",
    "protocol": "h2c",
    "requests": [{"grpc": "grpc.health.v1.Health/Check"}, {"target": "/"}],
}


def test_checks_with_calls_are_made_over_http_2_alone(tmp_path: Path) -> None:
    whole = scenario(tmp_path)
    calls, plain = (
        Check.model_validate({"id": name, "says": name, "steps": [step]})
        for name, step in (("calls", LISTED), ("plain", {"target": "/"}))
    )
    whole = whole.model_copy(update={"contract": [calls, plain]})
    assert whole.contract_over("h1") == [plain]
    assert whole.contract_over("h2c") == [calls, plain]


def test_a_contract_with_calls_needs_a_load_over_http_2(tmp_path: Path) -> None:
    text = """
        schema = 1
        name = "notes"
        title = "Notes"
        summary = "Notes"
        ready = { target = "/" }
        [[contract]]
        id = "health"
        says = "it is there"
        steps = [{ grpc = "grpc.health.v1.Health/Check" }]
        [loads.plain]
        title = "Plain"
        requests = [{ target = "/" }]
        [loads.other]
        title = "Other"
        protocol = "PROTOCOL"
        requests = [{ target = "/" }]
    """
    path = tmp_path / "scenario.toml"
    path.write_text(text.replace("PROTOCOL", "h2c"), encoding="utf-8")
    assert read_manifest(path, Scenario).loads["plain"].protocol == "h1"
    path.write_text(text.replace("PROTOCOL", "h1"), encoding="utf-8")
    with pytest.raises(UsageError, match="needs HTTP/2, and everything speaks"):
        read_manifest(path, Scenario)


def test_the_null_server_answers_a_call_that_streams(tmp_path: Path) -> None:
    checked = {"counter": "json.number", "first": 1, "stamp": "json.number", "expect": {"json": {"text": "a"}}}
    stream = {"kind": "messages", "events": 20, **checked}
    wanted = Load.model_validate({"title": "List", "protocol": "h2c", "requests": [LISTED | {"stream": stream}]})
    with server("null", [], sorted(os.sched_getaffinity(0))) as null:
        job = load_job(null_load(wanted), null.url, Timing(0.0, 30.0, 0.0), cpus=[], seed=1, fresh=None)
        result = run_job("load", {**job, "max_requests": 50}, LoadResult)
    assert (result.counts.ok, result.counts.not_right) == (50, 0)
