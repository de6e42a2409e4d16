"""A cluster in small, by the user's commands: placement, one load from two generators, faults, who may join."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.cluster.conftest import THOUSAND_SECONDS
from tests.cluster.network import HEAD_PORT, Machine
from tests.cluster.runs import loads, run_demo, wait_for_nodes
from tests.run.demo import demo

pytestmark = pytest.mark.cluster


def test_doctor_shows_nodes_clocks_and_the_way_between_them(cluster: list[Machine]) -> None:
    server, _, ahead, _ = cluster
    done = server.touchstone("doctor", "--cluster", f"{server.address}:{HEAD_PORT}", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["what"]: row for row in json.loads(done.stdout)}
    assert "wrong" not in {row["state"] for row in rows.values()}, rows
    assert sum("Gbit/s" in row["found"] for row in rows.values()) == 2
    found = rows[f"generator-{ahead.address}: clock"]["found"]
    distance, residual = (float(number) / 1e3 for number in re.findall(r"[-+]?\d+\.\d+(?= ms|,)", found)[:2])
    assert abs(distance - THOUSAND_SECONDS) <= residual + 1e-6, found


def test_a_run_with_two_generators_comes_to_its_report(cluster: list[Machine]) -> None:
    server, *generators, _ = cluster
    done = run_demo(server, "plain")
    assert (server.folder / "plain-results" / "report.html").exists(), done.stdout + done.stderr
    for record in loads(server, "plain"):
        assert record["failure"] is None, record["failure"]
        parts = record["evidence"]["result"]["generators"]
        assert [part["name"] for part in parts] == [f"generator-{machine.address}" for machine in generators]
        assert all(part["ok"] > 0 and part["errors"] == 0 for part in parts)
        assert sum(part["sent"] for part in parts) == record["evidence"]["result"]["counts"]["sent"]
        turns = [turn for turn in record["evidence"]["slices"]["slices"] if turn["lap_phase"] == "load"]
        assert turns and all(turn["began_s"] is not None for turn in turns)
        assert record["evidence"]["result"]["latency"]["count"] == sum(turn["latency"]["count"] for turn in turns)
        assert record["evidence"]["result"]["watch"]["window"]["cpu_s"] > 0, "the server was watched on its own machine"
        assert parts[1]["clock_ahead_s"] == pytest.approx(THOUSAND_SECONDS, abs=0.01)
        assert record["contender"] == "tare" or record["process"]["env"]["HOST"] == server.address


def test_a_generator_lost_in_the_window_is_named_and_nothing_hangs(cluster: list[Machine]) -> None:
    server, generator, *_ = cluster

    def end_its_engine() -> None:
        deadline = time.monotonic() + 120
        while not (workers := generator.pids("load --worker")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.0)
        for pid in workers:
            subprocess.run(["kill", "-9", str(pid)], check=False)

    killer = threading.Thread(target=end_its_engine)
    killer.start()
    done = run_demo(server, "lost")
    killer.join()
    failures = [record["failure"]["what"] for record in loads(server, "lost") if record["failure"]]
    assert any(f"generator generator-{generator.address}" in what for what in failures), done.stdout + done.stderr
    sound = [record for record in loads(server, "lost") if not record["failure"]]
    assert sound, "the other samples are kept"


def test_a_node_lost_in_the_window_is_named_and_one_that_comes_back_is_used(cluster: list[Machine]) -> None:
    server, generator, *_ = cluster
    failed: list[float] = []

    def end_the_machine() -> None:
        deadline = time.monotonic() + 120
        while not generator.pids("load --worker") and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.0)
        failed.append(time.monotonic())
        generator.fail()

    killer = threading.Thread(target=end_the_machine)
    killer.start()
    done = run_demo(server, "gone", "--rounds", "1")
    killer.join()
    assert time.monotonic() - failed[0] < 150, "the run hung"
    failures = [record["failure"]["what"] for record in loads(server, "gone") if record["failure"]]
    assert any(generator.address in what and "lost" in what for what in failures), done.stdout + done.stderr
    generator.leave()
    generator.join("generator", head=server)
    wait_for_nodes(server, 3)
    run_demo(server, "back", "--rounds", "1")
    assert [record["failure"] for record in loads(server, "back")] == [None] * len(loads(server, "back"))
    assert all(len(record["evidence"]["result"]["generators"]) == 2 for record in loads(server, "back"))


def test_a_node_without_the_token_is_refused(cluster: list[Machine], tmp_path: Path) -> None:
    server, generator, *_ = cluster
    stranger = tmp_path / "token"
    stranger.write_text("0" * 64)
    words = ["doctor", "--cluster", f"{server.address}:{HEAD_PORT}"]
    done = generator.touchstone(*words, RAY_AUTH_TOKEN_PATH=str(stranger))
    assert done.returncode == 1 and "no cluster" in done.stderr, done.stdout + done.stderr
    done = generator.touchstone(*words, RAY_AUTH_MODE="")
    assert done.returncode == 2 and "RAY_AUTH_MODE" in done.stderr


def test_a_run_called_elsewhere_is_carried_out_on_the_servers_node(cluster: list[Machine]) -> None:
    server, generator, *_ = cluster
    folder = demo(generator.folder / "sent")
    out = generator.folder / "sent-results"
    head = f"{server.address}:{HEAD_PORT}"
    words = ["run", folder, "--cluster", head, "--quick", "--phase", "load", "--load", "ping", "--rounds", "1"]
    done = generator.touchstone(*words, "--out", out)
    assert (out / "report.html").exists(), done.stdout + done.stderr
    records = [json.loads(path.read_text()) for path in (out / "samples").glob("*.json")]
    hosts = {record["process"]["env"].get("HOST") for record in records if record["phase"] == "load"}
    assert server.address in hosts


def test_two_servers_measure_rounds_of_one_run(cluster: list[Machine]) -> None:
    server, *_, other = cluster
    wait_for_nodes(server, 3)
    other.join("server", head=server)
    try:
        done = run_demo(server, "fleet", "--rounds", "2")
    finally:
        other.leave()
    out = server.folder / "fleet-results"
    assert (out / "report.html").exists(), done.stdout + done.stderr
    assert "is lost" not in done.stdout, done.stdout
    machines = {record["round"]: record["process"]["placement"]["machine"] for record in loads(server, "fleet")}
    assert machines[1] == f"server-{server.address}" and machines[2] == f"server-{other.address}", done.stdout
    by_machine = {
        process["placement"]["machine"]: process["env"].get("HOST")
        for process in (record["process"] for record in loads(server, "fleet"))
    }
    assert set(by_machine) == {f"server-{server.address}", f"server-{other.address}"}
    for record in loads(server, "fleet"):
        assert len(record["evidence"]["result"]["generators"]) == 1, "each server has a generator of its own"


def test_a_generator_without_room_for_the_engine_is_named(cluster: list[Machine], tmp_path: Path) -> None:
    server, *_, other = cluster
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(small)], check=True)
    try:
        other.join("generator", head=server, XDG_CACHE_HOME=str(small))
        done = run_demo(server, "full")
    finally:
        other.leave()
        subprocess.run(["umount", "--lazy", str(small)], check=True)
    assert done.returncode == 1, done.stdout
    assert other.address in done.stderr and "cannot keep the engine" in done.stderr, done.stderr
