"""Messages over WebSockets against a server of the library `websockets`: loads by the command and by a manifest, the
contract, and `ready`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import touchstone
from touchstone.contract.checker import ContractChecker
from touchstone.engine.ask import AskedService
from touchstone.engine.client import run_job
from touchstone.engine.job import Timing, load_job, request
from touchstone.engine.protocol import BootJob
from touchstone.isolation.port import free_port
from touchstone.manifest.contract import Check
from touchstone.manifest.load import Load
from touchstone.manifest.scenario import Ready
from touchstone.record.boot_result import BootResult
from touchstone.record.engine import LoadResult
from touchstone.record.sample import CheckOutcome

MEASURED = (0, 4)
"""A result may be withdrawn where the generator gets no CPU."""
MESSAGE = "price {counter}"


@pytest.fixture(scope="module", name="port")
def _port() -> Iterator[int]:
    command = [sys.executable, str(Path(__file__).with_name("server.py"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())
        server.terminate()


def load(port: int, folder: Path, path: str, *words: str) -> tuple[int, str]:
    url = f"ws://127.0.0.1:{port}/{path}"
    done = touchstone("load", url, "-b", MESSAGE, "-n", "60", "-c", "2", *words, cwd=folder)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("words", [(), ("--pipeline", "4"), ("-R", "500"), ("--no-keepalive",)])
def test_each_message_has_its_echo(port: int, tmp_path: Path, words: tuple[str, ...]) -> None:
    code, said = load(port, tmp_path, "", *words)
    assert code in MEASURED, said
    assert "60 sent, 60 right" in said and "60 came" in said
    assert said.startswith("ws://127.0.0.1")


def test_a_server_that_greets_needs_the_number_of_its_greetings(port: int, tmp_path: Path) -> None:
    code, said = load(port, tmp_path, "greet", "--greetings", "1")
    assert code in MEASURED and "60 sent, 60 right" in said, said
    code, said = load(port, tmp_path, "greet")
    assert code in (1, 4), said


@pytest.mark.parametrize(
    ("fault", "words", "said"),
    [
        ("wrong", (), 'the message that came back is "other", expected "price '),
        ("doubled", (), "the echo of the message before it came twice"),
        ("disordered", ("--pipeline", "4", "--timeout", "500ms"), "the echo came behind that of a message"),
        ("lost", ("--pipeline", "4", "--timeout", "500ms"), "and messages that were sent later had theirs"),
        ("close", ("--pipeline", "4"), 'close code 4001: "enough"'),
    ],
)
def test_a_wrong_echo_is_named(port: int, tmp_path: Path, fault: str, words: tuple[str, ...], said: str) -> None:
    code, printed = load(port, tmp_path, fault, *words)
    assert said in printed and code != 2


def test_what_cannot_be_sent_is_refused_before_anything_is(port: int, tmp_path: Path) -> None:
    for words, said in [
        (("--protocol", "h2c"), "set protocol to h1"),
        (("-m", "POST"), "leave method out"),
        (("-H", "Upgrade: h2c"), "leave it out"),
        (("--expect-status", "101"), "answered with 101"),
        (("--stream", "sse", "--events", "2"), "is not a stream"),
        (("--proto", "x.proto"), "--proto is gRPC's"),
    ]:
        code, printed = load(port, tmp_path, "", *words)
        assert code == 2 and said in printed, printed
    done = touchstone("load", f"http://127.0.0.1:{port}/", "--greetings", "1", cwd=tmp_path)
    assert done.returncode == 2 and "--greetings is WebSocket's" in done.stderr


def test_a_mix_of_messages_is_loaded(port: int, tmp_path: Path) -> None:
    request = '[[requests]]\ntarget = "/"\nwebsocket = {{ kind = "echo" }}\n{}\n'
    (tmp_path / "mix.toml").write_text(
        request.format('body = "a {counter}"') + request.format('encoding = "bytes"\nbody = "\\u0000\\u00ff"')
    )
    words = ("-n", "60", "--mix", "mix.toml")
    done = touchstone("load", f"ws://127.0.0.1:{port}", *words, cwd=tmp_path)
    assert done.returncode in MEASURED and "60 sent, 60 right" in done.stdout, done.stdout + done.stderr
    (tmp_path / "mix.toml").write_text('[[requests]]\ntarget = "/"\n')
    done = touchstone("load", f"ws://127.0.0.1:{port}", *words, cwd=tmp_path)
    assert done.returncode == 2 and "give each `websocket`" in done.stderr


@pytest.mark.parametrize(("messages", "lost"), [(35, 3), (45, 4)])
def test_the_load_of_a_scenario_counts_its_faults(port: int, messages: int, lost: int) -> None:
    # The limit is well above a pause of a busy machine: an echo that is only late would count as well.
    request = {"target": "/lost", "body": MESSAGE, "websocket": {"kind": "echo"}}
    load = Load.model_validate({"title": "e", "requests": [request], "connections": 1, "pipeline": 4, "timeout_s": 2})
    timing = Timing(warmup_s=0.0, measured_s=30.0, idle_s=0.0)
    job = load_job(load, f"http://127.0.0.1:{port}", timing, cpus=[], seed=1, fresh=None)
    result = run_job("load", {**job, "max_requests": messages}, LoadResult)
    assert result.events is not None
    assert result.counts.errors.timeout == lost and result.counts.ok == result.events.count == messages - lost
    # The fourth lost echo ends the sending for lack of free slots: where nothing was sent behind it, it is only late.
    assert lost - result.events.lost in ((0,) if lost < 4 else (0, 1))


def asked(port: int, **step: object) -> CheckOutcome:
    """The outcome of a check with one step."""
    socket = {"kind": "echo", "greetings": step.pop("greetings", 0)}
    whole = {"target": "/", "body": MESSAGE, "websocket": socket} | step
    check = Check.model_validate({"id": "echo", "says": "it echoes", "steps": [whole]})
    return ContractChecker(AskedService.at("127.0.0.1", port, timeout_s=2.0), {}).check(check)


@pytest.mark.parametrize(
    "step",
    [
        {},
        {"repeat": 20, "concurrent": 4},
        {"target": "/greet", "greetings": 1},
        {"encoding": "bytes", "body": "\x00\xff"},
        {"expect": {"pattern": "price \\d+"}, "captures": {"price": {"pattern": "price (\\d+)"}}},
        {"body": '{"a": {counter}}', "expect": {"json": {"a": {"type": "integer"}}}},
    ],
)
def test_a_contract_sends_a_message_and_checks_what_comes_back(port: int, step: dict[str, object]) -> None:
    outcome = asked(port, **step)
    assert outcome.passed, outcome


@pytest.mark.parametrize(
    ("step", "received"),
    [
        ({"expect": {"body": "other"}}, 'expected "other"'),
        ({"target": "/greet"}, 'the message that came back is "welcome"'),
        ({"target": "/greet", "greetings": 2, "within_s": 0.1}, "1 more greetings were to come"),
        ({"target": "/all-wrong"}, 'the message that came back is "other"'),
        ({"target": "/all-close"}, 'close code 4001: "enough"'),
        ({"target": "/all-leave"}, "no answer"),
        ({"target": "/all-lost"}, "the WebSocket is open, and no message came back"),
        ({"target": "/refused"}, "the server answered the handshake with status 403"),
    ],
)
def test_a_contract_names_what_is_wrong(port: int, step: dict[str, object], received: str) -> None:
    outcome = asked(port, **step)
    assert not outcome.passed
    assert received in outcome.broken[0].received, outcome
    assert "message" in outcome.broken[0].expected


def test_a_service_is_ready_when_its_websocket_answers(tmp_path: Path) -> None:
    place = free_port()
    ready = Ready.model_validate({"target": "/", "body": "there?", "websocket": {"kind": "echo"}})
    job: BootJob = {
        "argv": [sys.executable, str(Path(__file__).with_name("server.py"))],
        "env": {"PORT": str(place)},
        "cwd": str(tmp_path),
        "url": f"http://127.0.0.1:{place}",
        "request": request(ready),
        "repeats": 1,
        "timeout_s": 30.0,
        "log": str(tmp_path / "log"),
    }
    (run,) = run_job("boot", job, BootResult).runs
    assert run.failure is None, run
    wrong = ready.model_copy(update={"target": "/refused"})
    (run,) = run_job("boot", {**job, "request": request(wrong), "timeout_s": 3.0}, BootResult).runs
    assert run.failure is not None and "status 403" in str(run)
