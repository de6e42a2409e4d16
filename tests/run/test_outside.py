"""Services that somebody else started, measured by their URLs: real servers that the lab leaves running."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.test_load import null_server
from tests.run.demo import SERVER, demo
from tests.run.test_end_to_end import report_of, touchstone
from touchstone.bench.outside import inspect_outside
from touchstone.cli.services import read_services
from touchstone.failure import UsageError
from touchstone.isolation.cgroup import create_cgroup, find_cgroup
from touchstone.isolation.port import free_port, listeners
from touchstone.manifest.catalogue import outside_contenders, read_scenario_folder
from touchstone.phase.registry import select_phases

PROVEN = """
[dependencies.database]
kind = "sqlite"
env = "DATABASE_PATH"
settings = { schema = "CREATE TABLE t(a)" }
[settings]
POOL = 4
[[contract]]
id = "stored"
says = "it is stored"
steps = [{ target = "/ping", expect = { body = "pong" } }]
proofs = [{ says = "one row", dependency = "database", query = "SELECT count(*) FROM t", equals = 1 }]
"""


@contextmanager
def service(folder: Path, fault: str = "", *, mode: tuple[str, ...] = ()) -> Iterator[tuple[str, int]]:
    """A server of its own, by an interpreter with these options; gives its URL and its process id."""
    folder.mkdir(exist_ok=True)
    (folder / "server.py").write_text(SERVER)
    port = free_port()
    env = os.environ | {"HOST": "127.0.0.1", "PORT": str(port), "FAULT": fault}
    process = subprocess.Popen([sys.executable, *mode, str(folder / "server.py")], env=env)
    try:
        while not listeners(port):
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}", process.pid
        assert process.poll() is None, "the lab ended a service that is not its own"
    finally:
        process.terminate()
        process.wait()


BOTH = """
schema = 1
name = "both"
title = "Both protocols"
summary = "One answer over HTTP/1.1 and over HTTP/2."
ready = { target = "/" }
contract = [{ id = "answers", says = "it answers", steps = [{ target = "/", expect = { body = "ok" } }] }]
[loads.h1]
title = "HTTP/1.1"
connections = 4
seconds = 1
warmup_s = 0.5
requests = [{ name = "one", target = "/", expect = { body = "ok" } }]
[loads.h2]
title = "HTTP/2"
protocol = "h2c"
connections = 2
streams = 2
seconds = 1
warmup_s = 0.5
requests = [{ name = "one", target = "/", expect = { body = "ok" } }]
"""


def test_a_load_speaks_the_protocol_that_it_states(tmp_path: Path) -> None:
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "scenario.toml").write_text(BOTH)
    with null_server() as url:
        code, report = report_of(tmp_path, "both", "--rounds", "1", "--phase", "load", "--url", f"null={url}")
    assert code == 0
    loaded = {s["load"]: s for s in report["run"]["samples"] if s["phase"] == "load" and s["contender"] == "null"}
    assert loaded["h2"]["spec"]["protocol"] == "h2c"
    for sample in loaded.values():
        assert sample["figures"]["throughput"] > 0
        assert not sample["failure"]
    with service(tmp_path / "a") as (url, _):
        (tmp_path / "both" / "scenario.toml").write_text(BOTH.replace('"ok"', '"pong"').replace('"/"', '"/ping"'))
        code, report = report_of(tmp_path, "both", "--rounds", "1", "--phase", "load", "--url", f"old={url}")
    assert code == 4
    (failed,) = report["judgement"]["failed"]
    assert "HTTP/1.1" in failed["reason"]


def test_a_service_is_put_next_to_a_stack_in_the_same_laps(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    with service(tmp_path / "a") as (url, _):
        code, report = report_of(tmp_path, str(folder), "--rounds", "2", "--stacks", "sound", "--url", f"staging={url}")
    assert code == 0
    figures = {(e["contender"], e["figure"]): e["median"] for e in report["judgement"]["estimates"]}
    for contender in ("sound/plain", "staging"):
        assert figures[contender, "throughput"] > 0
    # Its process is found by its listening port.
    assert figures["staging", "rss_peak"] > 0
    assert figures["staging", "cpu_per_request"] > 0
    assert ("staging", "boot_first_response") not in figures
    assert figures["sound/plain", "boot_first_response"] > 0
    (comparison,) = [c for c in report["judgement"]["comparisons"] if c["figure"] == "throughput"]
    assert (comparison["contender"], comparison["baseline"]) == ("staging", "sound/plain")
    assert comparison["laps"] > 3
    shared = {f["contender"] for f in report["judgement"]["findings"] if f["code"] == "rounds-share-process"}
    assert shared == {"staging"}


def test_a_service_that_breaks_the_contract_is_not_timed_and_what_nobody_can_prove_is_told(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    manifest = folder / "scenario.toml"
    manifest.write_text(manifest.read_text().replace("[loads.ping]", PROVEN + "[loads.ping]"))
    (folder / "sound/stack.toml").unlink()  # A scenario without a stack is enough.
    development = service(tmp_path / "a", mode=("-X", "dev"))
    with development as (good, _), service(tmp_path / "b", "200-on-unknown-path") as (bad, _):
        code, report = report_of(
            tmp_path, str(folder), "--phase", "verify", "--url", f"good={good}", "--url", f"bad={bad}"
        )
    assert code == 4
    (failed,) = report["judgement"]["failed"]
    assert failed["contender"] == "bad"
    assert "an unknown path is 404" in failed["reason"]
    left_out = [f for f in report["judgement"]["findings"] if f["code"] == "proofs-left-out"]
    told = next(f["evidence"]["left_out"] for f in left_out if f["contender"] == "good")
    assert any("one row" in line for line in told)
    assert any("POOL" in line for line in told)
    (developed,) = [f for f in report["judgement"]["findings"] if f["code"] == "development-mode"]
    assert developed["contender"] == "good"
    assert "-X dev" in developed["statement"]


def test_a_load_that_only_a_starter_could_put_on_is_not_measured_and_nothing_has_failed(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    manifest = folder / "scenario.toml"
    manifest.write_text(manifest.read_text() + "memory_limit_mb = 64\n")
    with service(tmp_path / "a") as (url, _):
        code, report = report_of(tmp_path, str(folder), "--phase", "load", "--rounds", "1", "--url", f"staging={url}")
        refused = touchstone(tmp_path, "run", str(folder), "--cpus", "0.5", "--url", f"staging={url}")
    assert report["judgement"]["failed"] == []
    (sample,) = [s for s in report["run"]["samples"] if s["phase"] == "load"]
    assert "limit of memory" in sample["not_measured"]["throughput"]
    assert code in (0, 4)  # A run of which nothing was measured carries no figure.
    assert refused.returncode == 2
    assert "leave --cpus out" in refused.stderr


def test_services_without_a_scenario_are_held_against_nobodys_contract(tmp_path: Path) -> None:
    refused = touchstone(tmp_path, "run", "--url", "a=http://127.0.0.1:9/")
    assert refused.returncode == 2
    assert "--url needs a scenario" in refused.stderr
    assert not (tmp_path / "results").exists()


def test_a_control_group_is_found_by_its_path_and_gives_the_process() -> None:
    group = create_cgroup()
    if group is None:
        pytest.skip("no control group is permitted here")
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        group.join(sleeper.pid)
        found = find_cgroup(group.paths["memory"])
        assert found is not None
        assert found.pids() == [sleeper.pid]
        assert set(found.folders) <= {*group.folders, *found.folders}
        assert find_cgroup(Path("/nowhere/at/all")) is None
    finally:
        sleeper.kill()
        sleeper.wait()
        group.remove()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"urls": ["a"]}, "has no name"),
        ({"urls": ["a=http://127.0.0.1:{port}", "a=http://127.0.0.1:{port}"]}, "names 'a' twice"),
        ({"urls": ["sound=http://127.0.0.1:{port}"]}, "two contenders would be called 'sound'"),
        ({"urls": ["a=http://127.0.0.1:{closed}"]}, "nothing listens at"),
        ({"urls": ["a=https://127.0.0.1:{closed}"]}, "nothing listens at"),
        ({"urls": ["a=http://127.0.0.1:{port}/base"]}, "has a path"),
        ({"urls": ["a=http://192.0.2.7"]}, "is not this machine"),
        ({"urls": ["a=http://nohost.invalid"]}, "there is no host"),
        ({"urls": ["a=127.0.0.1:80"]}, "must begin with http://, https:// or unix:/"),
        ({"urls": ["a=http://127.0.0.1:99999"]}, "the port is not a number from 1 to 65535"),
        ({"urls": ["Big=http://127.0.0.1:{port}"]}, "cannot be the name"),
        ({"urls": ["a=http://127.0.0.1:{port}"], "pids": ["a=4194999"]}, "there is no process 4194999"),
        ({"urls": ["a=http://127.0.0.1:{port}"], "pids": ["a=x"]}, "is not a process id"),
        ({"urls": ["a=http://127.0.0.1:{port}"], "pids": ["b=1"]}, "no --url names"),
        ({"urls": ["a=http://127.0.0.1:{port}"], "cgroups": ["a=/nowhere"]}, "there is no control group"),
        ({"urls": ["a=http://127.0.0.1:{port}"], "allowed": ["192.0.2.7"]}, "no --url has the host of"),
    ],
)
def test_bad_input_is_named_before_anything_is_measured(tmp_path: Path, words: dict[str, list[str]], said: str) -> None:
    folder = read_scenario_folder(demo(tmp_path / "demo"))
    with service(tmp_path / "a") as (url, _):
        ports = {"port": url.rpartition(":")[2], "closed": free_port()}
        urls, pids, cgroups, allowed = (
            [word.format(**ports) for word in words.get(name, [])] for name in ("urls", "pids", "cgroups", "allowed")
        )
        with pytest.raises(UsageError, match=said):
            for contender in outside_contenders(folder, read_services(urls, pids, cgroups, allowed)):
                assert contender.outside
                inspect_outside(contender.outside)


def test_a_phase_that_only_the_lab_could_carry_out_is_refused(tmp_path: Path) -> None:
    scenario = read_scenario_folder(demo(tmp_path / "demo")).scenario
    with pytest.raises(UsageError, match="'boot' needs services that touchstone starts"):
        select_phases(scenario, ("boot",), all_outside=True)
    assert [p.kind.name for p in select_phases(scenario, ("load",), all_outside=True)] == ["verify", "load"]
