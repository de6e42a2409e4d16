"""The profile of a real server: its passes, its stacks, its counts, and what is said where they cannot be had."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from benchmarks.calibration.limited import binary

from tests.phase.test_peak import Quiet
from tests.run.demo import demo
from touchstone import starter
from touchstone.attribution.category import Category
from touchstone.bench.base import Bench, Built
from touchstone.judge.why.spending import spending
from touchstone.manifest.catalogue import find_scenario, select_contenders
from touchstone.manifest.stack import Profiled
from touchstone.phase.profile.phase import ProfilePhase
from touchstone.phase.profile.profiler import folded, thread_kind
from touchstone.plan.placement import available_cpus, plan_placement
from touchstone.plan.preset import PROFILES
from touchstone.record.run import Environment, Plan
from touchstone.record.sample import Sample
from touchstone.record.store import RunStore
from touchstone.toolchain.async_profiler import fetch_async_profiler, library
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

needs_perf = pytest.mark.skipif(not isinstance(find_tool("perf", ">=5.17"), FoundTool), reason="needs perf")
needs_valgrind = pytest.mark.skipif(not isinstance(find_tool("valgrind"), FoundTool), reason="needs valgrind")
needs_strace = pytest.mark.skipif(not isinstance(find_tool("strace", ">=5"), FoundTool), reason="needs strace")


def profiled(
    tmp_path: Path, *argv: str, found_a_rate: bool = True, language: str = "Python", copy: Profiled | None = None
) -> Sample:
    folder = demo(tmp_path / "demo")
    scenario = find_scenario(str(folder), tmp_path)
    plan = Plan(
        run_id="r", scenario="demo", scenario_version=1, scenario_title="Demo", profile="quick", phases=["profile"],
        loads=["ping"], rounds=1, seed=1, orders=[["sound/plain"]], contenders=[],
    )  # fmt: skip
    store = RunStore(tmp_path / "run")
    store.open(plan, Environment())
    bench = Bench(
        scenario=scenario.scenario,
        loads=scenario.scenario.loads,
        profile=replace(PROFILES["quick"], profile_s=1.0, warm_least_s=0.5, warm_most_s=1.0),
        placement=plan_placement(available_cpus(), dependencies=False),
        store=store,
        scratch=tmp_path,
        seed=1,
        watcher=Quiet(),
    )
    (contender,) = select_contenders(scenario, [], exhibits=False)
    variants = {"plain": contender.variant.model_copy(update={"profiled": copy})}
    stack = contender.stack.model_copy(update={"language": language, "variants": variants})
    contender = replace(contender, stack=stack)
    command = argv or ("/usr/bin/env", "python3", "server.py")
    built = Built(folder / "sound", (), command, {"PATH": "/usr/bin:/bin"})
    bench = replace(bench, builds={contender.name: built})
    phase = ProfilePhase()
    assert len(list(phase.plan(bench, [contender]))) == 1
    assert (phase.rates["ping"] > 0) == found_a_rate
    (sample,) = phase.measure(bench, contender, 1, 0)
    return sample


@needs_perf
@needs_strace
def test_a_server_is_profiled_and_counted_at_a_rate_of_its_own(tmp_path: Path) -> None:
    sample = profiled(tmp_path)
    assert sample.failure is None, sample.failure
    evidence = sample.profile
    assert evidence is not None
    assert evidence.not_profiled is None
    assert evidence.stacks is not None
    assert evidence.profiler is not None
    assert "perf" in evidence.profiler
    assert evidence.profiled is not None
    assert evidence.profiled.requests == pytest.approx(evidence.rate, rel=0.3)
    names = set(evidence.stacks.frames)
    # The server reads and writes sockets, and the kernel says so under every language.
    assert any(name.startswith("tcp_") and name.endswith("_[k]") for name in names)
    assert evidence.stacks.samples > 10
    assert {"profile_cpu", "profiler_cost", "syscalls_per_request", "voluntary_switches_per_request"} <= set(
        sample.figures
    )
    calls = evidence.syscalls
    assert calls is not None
    # The server reads once per request, and writes head and body apart.
    assert calls.counts["recvfrom"] / calls.requests == pytest.approx(1.0, rel=0.15)
    assert calls.counts["sendto"] / calls.requests == pytest.approx(2.0, rel=0.15)
    assert sample.figures["syscalls_per_request"] >= 2
    waits = evidence.waits
    assert waits is not None, evidence.no_waits
    assert waits.looks > 10, waits
    # Half a window without a request at each moment: the one thread sleeps until a connection is ready, or works.
    assert waits.asleep.get("do_epoll_wait", waits.asleep.get("ep_poll", 0)) + waits.running == pytest.approx(
        waits.looks, rel=0.2
    ), waits
    assert sample.figures["cpu_wait_per_request"] >= 0
    assert "cannot run Python" in sample.not_measured["user_instructions_per_request"]
    assert sample.checks, "the contract is checked again at the end"


@needs_strace
def test_without_perf_the_rest_is_measured_and_the_reason_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = tmp_path / "bin"
    refusing.mkdir()
    perf = refusing / "perf"
    perf.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && { echo perf version 6.1.0; exit; }\n'
        "echo 'Error: No permission to enable cpu-clock event.' >&2\nexit 255\n"
    )
    perf.chmod(0o755)
    monkeypatch.setenv("PATH", f"{refusing}:/usr/bin:/bin")
    sample = profiled(tmp_path)
    assert sample.failure is None, sample.failure
    assert sample.profile is not None
    assert sample.profile.stacks is None
    assert "No permission to enable" in (sample.profile.not_profiled or "")
    assert "perf_event_paranoid" in sample.not_measured["profiler_cost"]
    assert "profile_cpu" in sample.figures
    assert "syscalls_per_request" in sample.figures


@needs_perf
@needs_strace
def test_a_node_server_is_started_again_so_that_its_functions_have_names(tmp_path: Path) -> None:
    node = find_tool("node", ">=18")
    if not isinstance(node, FoundTool):
        pytest.skip("needs Node.js")
    server = tmp_path / "lib" / "server.js"
    server.parent.mkdir()
    server.write_text(
        "function pong(response) { response.setHeader('Content-Type', 'text/plain'); response.end('pong'); }\n"
        "require('http').createServer((request, response) => pong(response))"
        ".listen(process.env.PORT, process.env.HOST);\n"
    )
    sample = profiled(tmp_path, str(node.path), str(server), language="JavaScript")
    assert sample.failure is None, sample.failure
    evidence = sample.profile
    assert evidence is not None
    assert evidence.stacks is not None, evidence.not_profiled
    assert evidence.tables == ["node"]
    assert evidence.copy_plain is not None
    names = evidence.stacks.frames
    assert any(name.startswith("./lib/server.js:") for name in names), "the service's own functions have their names"
    assert any(name.startswith("node:_http_server:") for name in names)
    spent = spending(evidence)
    assert spent is not None
    assert spent.categories.get(Category.UNMATCHED, 0.0) < 0.05 * spent.subject, spent.unmatched
    assert not list((tmp_path / "demo" / "sound").glob("isolate-*")), "V8's log is removed"


@pytest.mark.slow
def test_a_jvm_is_sampled_from_within_and_its_collections_counted(tmp_path: Path) -> None:
    java = find_tool("java", ">=21")
    if not isinstance(java, FoundTool) or not isinstance(find_tool("mvn"), FoundTool):
        pytest.skip("needs a JDK and Maven")
    if not library().is_file():
        fetch_async_profiler()
    server = Path(starter.__file__).parent / "java" / "Server.java"
    sample = profiled(tmp_path, str(java.path), "-Dsun.net.httpserver.nodelay=true", str(server))
    assert sample.failure is None, sample.failure
    evidence = sample.profile
    assert evidence is not None
    assert evidence.stacks is not None, evidence.not_profiled
    assert evidence.tables == ["jvm"]
    assert "async-profiler" in (evidence.profiler or "")
    names = evidence.stacks.frames
    assert any(name.startswith("Server.") for name in names), "the service's own functions have their names"
    assert any(name.startswith("sun.net.httpserver.") for name in names)
    assert any(name.startswith("tcp_") and name.endswith("_[k]") for name in names)
    assert "collections_per_request" in sample.figures, sample.not_measured


@pytest.mark.slow
def test_without_async_profiler_a_jvm_is_recorded_by_its_own_recorder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = find_tool("java", ">=21")
    if not isinstance(java, FoundTool):
        pytest.skip("needs a JDK")
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    server = Path(starter.__file__).parent / "java" / "Server.java"
    sample = profiled(tmp_path, str(java.path), "-Dsun.net.httpserver.nodelay=true", str(server))
    assert sample.failure is None, sample.failure
    evidence = sample.profile
    assert evidence is not None
    assert evidence.stacks is not None, evidence.not_profiled
    assert (evidence.profiler or "").startswith("JFR, ")
    assert "touchstone toolchain async-profiler" in (evidence.unseen or "")
    names = evidence.stacks.frames
    assert any(name.startswith("Server.") for name in names), "the service's own functions have their names"
    assert any(name.startswith("sun.net.httpserver.") for name in names)
    assert "C CompilerThre" in names
    assert not any(name.endswith("_[k]") for name in names)
    spent = spending(evidence)
    assert spent is not None
    assert spent.categories[Category.UNSEEN] > 0, "the kernel's part of writing and reading"
    assert spent.categories[Category.JIT] > 0
    assert sum(spent.categories.values()) == pytest.approx(spent.subject)


_ALLOCATES = """package main

import (
	"net/http"
	"os"
)

var sink []byte

func main() {
	http.HandleFunc("/ping", func(w http.ResponseWriter, _ *http.Request) {
		sink = make([]byte, 64<<10)
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte("pong"))
	})
	_ = http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil)
}
"""


def test_what_a_go_program_allocates_is_counted(tmp_path: Path) -> None:
    go = find_tool("go", ">=1.21")
    if not isinstance(go, FoundTool):
        pytest.skip("needs Go")
    source = tmp_path / "main.go"
    source.write_text(_ALLOCATES)
    program = tmp_path / "program"
    subprocess.run([go.path, "build", "-o", program, source], check=True, cwd=tmp_path)
    sample = profiled(tmp_path, str(program), language="Go")
    assert sample.failure is None, sample.failure
    assert sample.profile is not None
    assert sample.profile.heap is not None, sample.profile.no_heap
    assert sample.figures["allocated_per_request"] == pytest.approx(67_000, rel=0.1)
    assert 0 < sample.figures["collections_per_request"] < 1


@needs_valgrind
def test_the_instructions_of_a_native_program_are_counted_and_alike_each_time(tmp_path: Path) -> None:
    counted = []
    for turn in ("first", "second"):
        sample = profiled(tmp_path / turn, str(binary()), "tokens", "20000", language="C")
        assert sample.failure is None, sample.failure
        assert "user_instructions_per_request" in sample.figures, sample.not_measured
        counted.append(sample.figures["user_instructions_per_request"])
    # It reads, compares the path and sends: about a hundred.
    assert 50 < counted[0] < 5_000
    assert counted[1] == pytest.approx(counted[0], rel=0.1)


_DIES = """
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = 0

    def do_GET(self):
        Handler.asked += 1
        if Handler.asked > 20:
            os._exit(7)
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"pong")

ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
"""


def test_a_process_that_ends_in_a_pass_is_a_failure_and_no_zero(tmp_path: Path) -> None:
    script = tmp_path / "dies.py"
    script.write_text(_DIES)
    sample = profiled(tmp_path, "/usr/bin/env", "python3", str(script), found_a_rate=False)
    assert sample.failure is not None
    said = sample.failure.what
    assert "no connection" in said or "requests of a profile's pass failed" in said, said
    assert sample.figures == {}


@needs_strace
def test_a_copy_that_cannot_be_loaded_costs_its_stacks_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    broken = "open('server.py', 'w').write('raise SystemExit(1)')"
    sample = profiled(tmp_path, copy=Profiled(build=[["python3", "-c", broken]]))
    assert sample.failure is None, sample.failure
    assert sample.profile is not None
    assert "the copy for the profiler: the server exited with code 1" in (sample.profile.not_profiled or "")
    assert (sample.profile.stacks, sample.profile.profiled) == (None, None)
    assert {"profile_cpu", "syscalls_per_request"} <= sample.figures.keys()


_DIES_OF_PERF = """
import os, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"pong")

    def log_message(self, *_):
        pass


def sampled(task):
    with open(f"/proc/{task}/cmdline") as words, open(f"/proc/{task}/stat") as stat:
        records = words.read().split("\\0")[1:2] == ["record"]
        return records and int(stat.read().rpartition(")")[2].split()[1]) == os.getppid()


def watch():
    while True:
        time.sleep(0.05)
        for task in filter(str.isdigit, os.listdir("/proc")):
            try:
                if sampled(task):
                    time.sleep(0.8)
                    os._exit(3)
            except OSError:
                pass


threading.Thread(target=watch, daemon=True).start()
ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
"""


@needs_perf
def test_a_server_that_dies_while_it_is_sampled_leaves_no_profiler_behind(tmp_path: Path) -> None:
    script = tmp_path / "dies.py"
    script.write_text(_DIES_OF_PERF)
    sample = profiled(tmp_path, "/usr/bin/env", "python3", str(script))
    assert sample.failure is not None
    assert sample.profile is not None
    assert sample.profile.stacks is None
    assert [child.pid for child in psutil.Process().children() if child.name() == "perf"] == []


def test_equal_stacks_are_folded_and_read_back() -> None:
    stacks = folded([(["worker", "main", "f"], 2), (["worker", "main", "g"], 1), (["worker", "main", "f"], 3)])
    assert stacks.read() == [(["worker", "main", "f"], 5), (["worker", "main", "g"], 1)]
    assert stacks.samples == 6
    ((deep, _count),) = folded([([str(n) for n in range(500)], 1)]).read()
    assert deep[0] == "0"
    assert deep[-1] == "499"
    assert len(deep) < 250


@pytest.mark.parametrize(
    ("name", "kind"),
    [("tokio-rt-worker-12", "tokio-rt-worker"), ("qtp1234-56", "qtp"), ("GC Thread#3", "GC Thread"), ("7", "thread")],
)
def test_a_threads_kind_has_no_number(name: str, kind: str) -> None:
    assert thread_kind(name) == kind
