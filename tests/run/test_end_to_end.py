"""The command as a user types it, against real servers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import command
from tests.command import COMMAND
from tests.run.demo import add_stack, demo
from touchstone.isolation.cgroup import LABEL, leftover_cgroups


def environment(tmp_path: Path) -> dict[str, str]:
    return os.environ | {"TOUCHSTONE_CACHE": str(tmp_path / "cache"), "NO_COLOR": "1"}


def touchstone(tmp_path: Path, *words: str, within_s: float = 300) -> subprocess.CompletedProcess[str]:
    return command.touchstone(*words, cwd=tmp_path, env=environment(tmp_path), within_s=within_s)


def report_of(tmp_path: Path, *words: str) -> tuple[int, dict[str, Any]]:
    done = touchstone(tmp_path, "run", *words, "--quick", "--json")
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    if done.returncode:
        # pytest shows it below a test that expects another code.
        print(f"exit code {done.returncode}:", *why_not_sound(report), sep="\n  ")
    return done.returncode, report


def why_not_sound(report: dict[str, Any]) -> list[str]:
    """What failed in a run, sample by sample, and what makes its figures invalid."""
    failed = [(s["contender"], s["phase"], s["load"], s["failure"]) for s in report["run"]["samples"] if s["failure"]]
    judgement = report["judgement"]
    failed += [(one["contender"], one["reason"], *one.get("details", [])) for one in judgement["failed"]]
    invalid = [one for one in judgement["findings"] if one["severity"] == "invalid"]
    failed += [(one["contender"], one["load"], one["code"], one["statement"]) for one in invalid]
    return [", ".join(str(part) for part in one if part is not None) for one in failed]


def samples_of(tmp_path: Path, phase: str) -> list[dict[str, Any]]:
    """The samples of the only run, as they are on disk: with slices and series."""
    samples = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("results/*/samples/*.json"))]
    return [sample for sample in samples if sample["phase"] == phase]


def test_a_sound_scenario_is_measured_and_reported(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    add_stack(folder, "other")
    code, report = report_of(tmp_path, str(folder), "--rounds", "2")
    assert code == 0
    figures = {(e["contender"], e["figure"]): e["median"] for e in report["judgement"]["estimates"]}
    for contender in ("sound/plain", "other/plain"):
        assert figures[contender, "throughput"] > 0
        assert figures[contender, "boot_first_response"] > 0
        assert figures[contender, "rss_peak"] > 2**20
    comparison = next(c for c in report["judgement"]["comparisons"] if c["figure"] == "throughput")
    assert {comparison["contender"], comparison["baseline"]} == {"sound/plain", "other/plain"}
    assert not [c for s in report["run"]["samples"] for c in s["checks"] if not c["passed"]]
    results = next((tmp_path / "results").iterdir())
    for name in ("report.html", "report.md", "report.csv", "report.json", "plan.json", "environment.json"):
        assert (results / name).stat().st_size > 0


def test_loads_are_measured_in_slices_with_the_null_server_among_them(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    scenario = folder / "scenario.toml"
    scenario.write_text(scenario.read_text().replace("seconds = 4\n", "seconds = 1\n"))
    add_stack(folder, "other")
    code, report = report_of(tmp_path, str(folder), "--rounds", "3", "--phase", "load")
    assert code == 0
    samples = samples_of(tmp_path, "load")
    apart = len(os.sched_getaffinity(0)) > 1
    assert {s["contender"] for s in samples} == {"sound/plain", "other/plain", "tare"}
    for sample in samples:
        laps = [one["lap"] for one in sample["evidence"]["slices"]["slices"] if one["lap_phase"] == "load"]
        assert laps == [0, 1, 2, 3]
        if sample["contender"] != "tare":
            assert sample["evidence"]["slices"]["warm_up"]["ended"] in {"flat", "budget"}
            # If the contender has a CPU to itself, the others' share there is known.
            taken = [one.get("taken_here") for one in sample["evidence"]["slices"]["slices"]]
            assert all(0 <= share < 1 if apart else share is None for share in taken), taken
        assert (
            sum(one["ok"] for one in sample["evidence"]["slices"]["slices"])
            == sample["evidence"]["result"]["totals"]["ok"]
        )
    (throughput,) = [c for c in report["judgement"]["comparisons"] if c["figure"] == "throughput"]
    assert throughput["rounds"] == 3
    assert throughput["laps"] > 3


def test_who_works_in_the_others_slices_is_named_and_so_are_they(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    add_stack(folder, "busy", fault="never-rests")
    code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load")
    found = {(f["code"], f["contender"]) for f in report["judgement"]["findings"]}
    assert ("works-while-off", "busy/plain") in found
    assert ("neighbour-works", "sound/plain") in found
    assert code == 0


def test_contenders_that_do_not_fit_into_the_memory_at_once_are_loaded_one_by_one(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    add_stack(folder, "other")
    manifest = folder / "scenario.toml"
    text = manifest.read_text()
    manifest.write_text(text.replace("[loads.ping]", "[loads.ping]\nmemory_limit_mb = 1000000"))
    code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load")
    assert any("whole windows" in note for note in report["run"]["notes"])
    loaded = [s for s in report["run"]["samples"] if s["phase"] == "load" and s["contender"] != "tare"]
    assert len(loaded) == 2
    assert all(s["evidence"]["slices"] is None and s["figures"]["throughput"] > 0 for s in loaded)
    assert code == 0


def test_a_slice_that_is_too_short_for_the_service_is_refused_with_one_that_is_not(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    add_stack(folder, "tired", fault="slow")
    code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load", "--slice", "0.1")
    assert code == 4
    failures = {f"{s['failure']['what']}; {s['failure']['fix']}" for s in report["run"]["samples"] if s["failure"]}
    assert any("tired/plain responds" in failure and "--slice" in failure for failure in failures), failures


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("wrong-body", ['the body is "pang", expected "pong"']),
        ("raises", ["| KeyError: 'unicorn'", "-verify-broken.plain.log"]),
        ("200-on-unknown-path", ["expected 404"]),
        ("wrong-port", ["instead of"]),
        ("fails-at-start", ["exited with code 1", "| no database"]),
    ],
)
def test_a_broken_contender_is_named_and_not_timed(tmp_path: Path, fault: str, said: list[str]) -> None:
    folder = demo(tmp_path / "demo")
    add_stack(folder, "broken", fault=fault)
    done = touchstone(tmp_path, "run", str(folder), "--quick", "--rounds", "1")
    assert "broken/plain" in done.stdout
    assert not [words for words in said if words not in done.stdout]
    assert done.returncode == 4, "a run in which a contender failed is not a success"
    assert "broken/plain failed:" in done.stdout
    samples = list((tmp_path / "results").glob("*/samples/*broken*"))
    assert not [sample for sample in samples if "-load-" in sample.name]
    assert list((tmp_path / "results").glob("*/samples/*-load-sound*"))


@pytest.mark.parametrize("fault", ["goes-silent", "leaves-one-in-500"])
def test_a_service_that_stops_answering_in_the_warm_up_is_no_success(tmp_path: Path, fault: str) -> None:
    folder = demo(tmp_path / "demo")
    manifest = folder / "scenario.toml"
    # Each silent turn lasts until its requests have timed out.
    manifest.write_text(manifest.read_text().replace("[loads.ping]", "[loads.ping]\ntimeout_s = 3.0"))
    add_stack(folder, "silent", fault=fault)
    code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load")
    assert code == 4
    invalid = {f["code"] for f in report["judgement"]["findings"] if f["contender"] == "silent/plain"}
    assert invalid & {"nothing-answered", "warm-up-unanswered", "errors-above-allowance"}
    assert [failed["contender"] for failed in report["judgement"]["failed"]] == ["silent/plain"]


@pytest.mark.slow
def test_a_service_that_fails_in_one_round_of_two_is_no_success(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    add_stack(folder, "moody", fault="wrong-in-its-last-life")  # it is started for the contract, and for each round
    code, report = report_of(tmp_path, str(folder), "--rounds", "2", "--phase", "load")
    assert code == 4
    assert [failed["contender"] for failed in report["judgement"]["failed"]] == ["moody/plain"]
    assert "in round 2" in report["judgement"]["failed"][0]["reason"]


def test_a_missing_tool_and_a_failing_build_do_not_stop_the_others(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    add_stack(folder, "future", version=">=99")
    add_stack(folder, "unbuildable", build='[["python3", "-c", "import sys; sys.exit(\\"no compiler\\")"]]')
    done = touchstone(tmp_path, "run", str(folder), "--quick", "--rounds", "1")
    assert "needs python3 >=99" in done.stdout
    assert done.returncode == 4
    assert "unbuildable/plain failed: build:" in done.stdout
    assert "future/plain failed" not in done.stdout
    assert "| no compiler" in done.stdout
    (log,) = (tmp_path / "results").glob("*/logs/*unbuildable*")
    assert f"read the log: {log}" in done.stdout
    assert "no compiler" in log.read_text()
    assert list((tmp_path / "results").glob("*/samples/*-load-sound*"))


def test_a_variant_may_need_what_its_base_built(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    with (folder / "sound" / "stack.toml").open("a") as manifest:
        # The second build, which is timed warm, must find the base's artifact as the first one did.
        manifest.write("""
[variants.packed]
title = "made from its base"
base = "plain"
build = [["cp", "server.py", "packed.py"]]
artifacts = ["server.py", "packed.py"]
run = ["python3", "packed.py"]
""")
    code, report = report_of(tmp_path, str(folder), "--stacks", "sound/packed", "--phase", "build", "--phase", "verify")
    assert code == 0
    samples = {sample["phase"]: sample for sample in report["run"]["samples"]}
    assert samples["build"]["failure"] is None
    assert samples["build"]["figures"]["build_warm"] > 0
    assert all(check["passed"] for check in samples["verify"]["checks"])


def test_an_interruption_keeps_what_was_measured_and_leaves_nothing(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    process = subprocess.Popen(
        [*COMMAND, "run", str(folder), "--quick", "--rounds", "50"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not list((tmp_path / "results").glob("*/samples/*-load-sound*.json")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.1)
    time.sleep(0.7)
    own = {child.pid for child in psutil.Process(process.pid).children(recursive=True)}
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 130, output
    assert "report.html" in output
    assert not [pid for pid in own if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
    assert not [group for group in leftover_cgroups() if group.name.startswith(f"{LABEL}{process.pid}-")]
    assert next((tmp_path / "results").glob("*/report.html")).stat().st_size > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "nothing-like-it"], "there is no scenario"),
        (["run", "{demo}", "--stacks", "absent"], "there is no stack"),
        (["run", "{demo}", "--load", "absent"], "has no load"),
        (["run", "{demo}", "--phase", "absent"], "there is no phase"),
        (["run", "{demo}", "--rounds", "0"], "--rounds is 0"),
        (["run", "{demo}", "--quick", "--thorough"], "exclude each other"),
        (["run", "{demo}", "--minutes", "1", "--until-decided", "1"], "exclude each other"),
        (["run", "{demo}", "--minutes", "-1"], "cannot be negative"),
        (["run", "{demo}", "--minutes", "nan"], "is not a finite number"),
        (["run", "{demo}", "--until-decided", "nan"], "is not a finite number"),
        (["run", "{demo}", "--no-such-option"], "--no-such-option"),
        (["show", "absent"], "there is no run"),
    ],
)
def test_bad_input_is_named_with_the_usage_exit_code(tmp_path: Path, words: list[str], said: str) -> None:
    folder = demo(tmp_path / "demo")
    done = touchstone(tmp_path, *(word.replace("{demo}", str(folder)) for word in words))
    assert done.returncode == 2, done.stderr
    assert said in done.stderr


def test_a_full_disk_is_said_and_what_was_measured_is_kept(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    done = touchstone(tmp_path, "run", str(folder), "--quick", "--rounds", "1", "--out", "/dev/full/results")
    assert done.returncode == 1
    assert "cannot be written" in done.stderr


def test_one_cpu_is_enough_and_the_sharing_is_said(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    cpu = str(min(os.sched_getaffinity(0)))
    done = subprocess.run(
        ["taskset", "-c", cpu, *COMMAND, "run", str(folder), "--quick", "--rounds", "1", "--json"],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    plan = json.loads(done.stdout)["run"]["plan"]
    assert f"share CPU {cpu}" in plan["placement"]["shared"][0]
    codes = {finding["code"] for finding in json.loads(done.stdout)["judgement"]["findings"]}
    assert "shared-cpus" in codes
