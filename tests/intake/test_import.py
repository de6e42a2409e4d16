"""An entry of another benchmark becomes a stack of a valid scenario, and names its omissions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import touchstone
from tests.intake.entries import http_arena_entry, techempower_entry
from touchstone.check.folder import check_folder
from touchstone.failure import UsageError
from touchstone.intake.adopt import adopt
from touchstone.intake.http_arena import read_http_arena
from touchstone.intake.techempower import read_techempower
from touchstone.manifest.catalogue import ScenarioFolder, read_scenario_folder
from touchstone.manifest.contract import Send
from touchstone.manifest.stack import Image

BOTH = {"json_url": "/json", "plaintext_url": "/plaintext", "port": 8080}


def asked(folder: ScenarioFolder) -> dict[str, str]:
    """By target and body: the body that the contract wants."""
    steps = [step for check in folder.scenario.contract for step in check.steps if isinstance(step, Send)]
    return {f"{step.method} {step.target} {step.body or ''}".strip(): step.expect.body or "" for step in steps}


def images(folder: ScenarioFolder) -> dict[str, Image | None]:
    return {f"{stack.name}/{name}": one.image for stack in folder.stacks for name, one in stack.variants.items()}


def ports(folder: ScenarioFolder) -> dict[str, int | None]:
    return {f"{stack.name}/{name}": one.port for stack in folder.stacks for name, one in stack.variants.items()}


def test_an_entry_of_httparena_is_asked_what_its_profiles_ask(tmp_path: Path) -> None:
    profiles = ["baseline", "limited-conn", "pipelined", "upload", "latency-10k", "latency-1m", "async"]
    entry = http_arena_entry(tmp_path / "my_server", profiles)
    (entry / "src").mkdir()
    (entry / "src" / "main.go").write_text("package main")
    done = touchstone(tmp_path, "import", "httparena", "my_server")
    assert done.returncode == 0, done.stderr
    assert "a load's has a length" in done.stdout
    folder = read_scenario_folder(tmp_path / "httparena")
    assert check_folder(folder) == []
    assert images(folder) == {"my-server/image": Image(dockerfile="Dockerfile", seccomp="unconfined")}
    assert ports(folder) == {"my-server/image": 8080}
    assert (folder.folder / "my-server" / "src" / "main.go").is_file()
    assert asked(folder) == {
        "GET /baseline11?a=13&b=42": "55",
        "GET /baseline11?a=271&b=828": "1099",
        "POST /baseline11?a=13&b=42 20": "75",
        "POST /baseline11?a=13&b=42 907": "962",
        "GET /pipeline": "ok",
        **{f"POST /upload {{x*{size}}}": str(size) for size in (17, 512_000, 2_097_152, 10_485_760)},
        "GET /baseline11?a=1&b=2": "3",
        "GET /delay/15": "15",
    }
    loads = folder.scenario.loads
    assert list(loads) == profiles
    assert loads["pipelined"].pipeline == 16
    assert loads["limited-conn"].requests_per_connection == 10
    assert (loads["latency-10k"].loop, loads["latency-10k"].rate) == ("open", 10_000)
    assert [request.method for request in loads["baseline"].requests] == ["GET", "POST"]
    assert touchstone(tmp_path, "check", "httparena").returncode == 0


def test_an_entry_of_h2c_is_asked_over_http_2_at_its_own_port(tmp_path: Path) -> None:
    entry = read_http_arena(http_arena_entry(tmp_path / "entry", ["baseline", "baseline-h2c"]))
    adopt(entry, tmp_path / "arena", ["baseline-h2c"])
    folder = read_scenario_folder(tmp_path / "arena")
    assert folder.scenario.protocol == "h2c"
    load = folder.scenario.loads["baseline-h2c"]
    assert (load.protocol, load.streams, load.connections) == ("h2c", 100, 256)
    (stack,) = folder.stacks
    assert {name: variant.port for name, variant in stack.variants.items()} == {"image-h2c": 8082}


SCHEMA = """
syntax = "proto3";
package benchmark;
service BenchmarkService {
  rpc GetSum (SumRequest) returns (SumReply);
  rpc StreamSum (StreamRequest) returns (stream SumReply);
}
message SumRequest { int32 a = 1; int32 b = 2; }
message StreamRequest { int32 a = 1; int32 b = 2; int32 count = 3; }
message SumReply { int32 result = 1; }
"""


@pytest.mark.parametrize(
    ("tests", "variant", "port", "protocol"),
    [
        (["unary-grpc", "stream-grpc"], "image-grpc", 8080, "h2c"),
        (["unary-grpc-tls", "stream-grpc-tls", "baseline-h2"], "image-h2", 8443, "h2"),
        (["echo-ws"], "image", 8080, "h1"),
        (["baseline", "echo-ws"], "image", 8080, "h1"),
    ],
)
def test_grpc_websockets_and_http_2_over_tls_are_asked_where_the_entry_has_them(
    tmp_path: Path, tests: list[str], variant: str, port: int, protocol: str
) -> None:
    source = http_arena_entry(tmp_path / "one", tests)
    (source / "proto").mkdir()
    (source / "proto" / "benchmark.proto").write_text(SCHEMA)
    (source / "main.go").write_text('os.Getenv("TLS_CERT")')
    done = touchstone(tmp_path, "import", "httparena", "one", *(word for test in tests for word in ("--test", test)))
    assert done.returncode == 0, done.stderr
    folder = read_scenario_folder(tmp_path / "httparena")
    assert check_folder(folder) == []
    assert ports(folder) == {f"one/{variant}": port}
    assert folder.scenario.protocol == protocol
    assert {load.protocol for load in folder.scenario.loads.values()} == {protocol}
    assert list(folder.scenario.loads) == tests
    for name, load in folder.scenario.loads.items():
        (request, *_) = load.requests
        assert (request.grpc is not None) == ("grpc" in name)
        assert (request.stream is not None) == ("stream" in name)
        assert (request.websocket is not None) == (name == "echo-ws")
    assert touchstone(tmp_path, "check", "httparena").returncode == 0


@pytest.mark.parametrize(
    ("profile", "why"),
    [
        ("json", "mounts"),
        ("json-comp", "mounts"),
        ("json-tls", "mounts"),
        ("8gbit", "TLS"),
        ("static-h3", "HTTP/3"),
        ("json-h2c", "mounts"),
        ("baseline-h2", "TLS_CERT"),
        ("unary-grpc", "no .proto file"),
        ("stream-grpc-tls", "no .proto file"),
        ("gateway-h3", "containers"),
        ("echo-ws-limited", "WebSocket"),
        ("fortunes", "PostgreSQL"),
        ("jsn", "does not know"),
    ],
)
def test_a_profile_that_the_lab_does_not_express_is_named_with_the_reason(
    tmp_path: Path, profile: str, why: str
) -> None:
    entry = read_http_arena(http_arena_entry(tmp_path / "one", ["pipelined", profile]))
    (said,) = map(str, adopt(entry, tmp_path / "arena").left_out)
    assert f"profile {profile}:" in said
    assert why in said
    alone = read_http_arena(http_arena_entry(tmp_path / "two", [profile]))
    with pytest.raises(UsageError, match="nothing that touchstone can ask") as refused:
        adopt(alone, tmp_path / "other")
    assert why in str(refused.value)
    assert not (tmp_path / "other").exists()


def test_a_second_entry_joins_the_scenario_that_is_there(tmp_path: Path) -> None:
    out = tmp_path / "arena"
    adopt(read_http_arena(http_arena_entry(tmp_path / "one", ["baseline", "pipelined"])), out, ["pipelined"])
    text = (out / "scenario.toml").read_text()
    more = adopt(read_http_arena(http_arena_entry(tmp_path / "two", ["async", "pipelined"])), out)
    assert [one.what for one in more.left_out] == ["the test async"]
    assert (out / "scenario.toml").read_text() == text
    assert list(images(read_scenario_folder(out))) == ["one/image", "two/image"]
    with pytest.raises(UsageError, match="pipelined at /pipeline"):
        adopt(read_http_arena(http_arena_entry(tmp_path / "three", ["baseline"])), out)
    assert not (out / "three").exists()


def test_implementations_of_techempower_are_variants(tmp_path: Path) -> None:
    implementations = {
        "default": BOTH | {"db_url": "/db", "database": "Postgres", "port": 3000},
        "Pre_Fork": BOTH | {"dockerfile": "other.dockerfile"},
        "bare": {"json_url": "/json", "port": 8080},
        "elsewhere": BOTH | {"plaintext_url": "/text"},
        "queries": {"query_url": "/queries?queries=", "port": 8080},
        "commanded": BOTH | {"docker_cmd": "go run ."},
        "portless": BOTH | {"port": "8080"},
    }
    entry = techempower_entry(tmp_path / "Fast.Go", implementations)
    (entry / "other.dockerfile").write_text("FROM scratch\nARG TFB_TEST_NAME\nARG VERSION=1\n")
    done = touchstone(tmp_path, "import", "techempower", "Fast.Go", "--out", "te")
    assert done.returncode == 0, done.stderr
    folder = read_scenario_folder(tmp_path / "te")
    assert check_folder(folder) == []
    assert images(folder) == {
        "fast-go/default": Image(dockerfile="Fast.Go.dockerfile", seccomp="unconfined"),
        "fast-go/pre-fork": Image(
            dockerfile="other.dockerfile", seccomp="unconfined", args={"TFB_TEST_NAME": "Fast.Go-Pre_Fork"}
        ),
    }
    assert ports(folder) == {"fast-go/default": 3000, "fast-go/pre-fork": 8080}
    assert asked(folder) == {"GET /json": "", "GET /plaintext": "Hello, World!"}
    for what in ("bare: ", "elsewhere: ", "queries: ", "docker_cmd", "'8080'", "test db: ", "Postgres"):
        assert what in done.stdout
    json = adopt(read_techempower(entry), tmp_path / "json", ["json"])
    assert {"fast-go/default", "fast-go/bare", "fast-go/elsewhere"} <= images(
        read_scenario_folder(tmp_path / "json")
    ).keys()
    assert "the test plaintext" in [one.what for one in json.left_out]


@pytest.mark.parametrize(
    ("benchmark", "change", "said"),
    [
        ("httparena", {"meta.json": "{"}, "cannot be read"),
        ("httparena", {"meta.json": "[]"}, "no JSON object"),
        ("httparena", {"meta.json": '{"tests": "baseline"}'}, "not a list of profiles"),
        ("httparena", {"Dockerfile": None}, "no Dockerfile"),
        ("httparena", {"Dockerfile": None, "build.sh": "docker build ."}, "build.sh"),
        ("httparena", {"meta.json": None, "benchmark_config.json": "{}"}, "touchstone import techempower"),
        ("techempower", {}, "touchstone import httparena"),
        ("techempower", {"benchmark_config.json": '{"tests": [{"default": 1}]}'}, "names no implementation"),
        ("techempower", {"benchmark_config.json": '{"tests": [{"default": {"json_url": "/"}}]}'}, "default"),
        ("httparna", {}, "httparena"),
    ],
)
def test_a_folder_that_is_no_entry_is_refused(
    tmp_path: Path, benchmark: str, change: dict[str, str | None], said: str
) -> None:
    entry = http_arena_entry(tmp_path / "one", ["baseline"])
    for name, text in change.items():
        (entry / name).unlink() if text is None else (entry / name).write_text(text)
    done = touchstone(tmp_path, "import", benchmark, "one")
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / benchmark).exists()


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    entry = read_http_arena(http_arena_entry(tmp_path / "one", ["baseline"]))
    with pytest.raises(UsageError, match="in the entry itself"):
        adopt(entry, entry.folder / "arena")
    with pytest.raises(UsageError, match="no test 'pipelined'"):
        adopt(entry, tmp_path / "arena", ["pipelined"])
    adopt(entry, tmp_path / "arena")
    with pytest.raises(UsageError, match="exists already"):
        adopt(entry, tmp_path / "arena")
    other = read_techempower(techempower_entry(tmp_path / "two", {"default": BOTH}))
    with pytest.raises(UsageError, match="no test of TechEmpower"):
        adopt(other, tmp_path / "arena")
    with pytest.raises(UsageError, match="says what is asked"):
        adopt(read_http_arena(http_arena_entry(tmp_path / "three", ["baseline"])), tmp_path / "arena", ["baseline"])


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    http_arena_entry(tmp_path / "one", ["baseline"])
    (tmp_path / "file").write_text("in the way")
    for out, cause in (("file", "file: it exists already"), ("file/arena", "file/arena: a part of the path is no")):
        done = touchstone(tmp_path, "import", "httparena", "one", "--out", out)
        assert done.returncode == 1
        assert cause in done.stderr
        assert "Traceback" not in done.stderr
