"""Outputs that load tools wrote themselves, of the versions in their names: each is read, and found to be in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_commands import touchstone
from touchstone.audit.audit import audit
from touchstone.audit.published import PublishedResult
from touchstone.audit.read import read_publication
from touchstone.failure import UsageError

RECORDED = Path(__file__).parent / "recorded"
COUNTED = {"errors-in-throughput", "errors-not-in-throughput", "checks-failed"}
"""The service answered every tenth request with 500, on purpose; all else would be a fault of the reader."""
FIGURES: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "ab-2.3-e.csv": ("ab", None, {"rate": None, "p99": 0.013366, "answered": None}),
    "ab-2.3-errors.txt": (
        "ab",
        "2.3",
        {"rate": 3769.63, "mean_s": 0.001061, "p99": 0.013, "max_s": 0.02, "errors": 50},
    ),
    "ab-2.3-g.tsv": ("ab", None, {"rate": None, "answered": 59, "errors": None}),
    "ab-2.3.txt": ("ab", "2.3", {"rate": 3114.33, "mean_s": 0.001284, "connections": 4, "answered": 500, "errors": 0}),
    "artillery-2.0.21.json": ("Artillery", None, {"rate": 43.478, "mean_s": 0.0039, "p99": 0.022, "open_loop": True}),
    "autocannon-4.6.0.txt": ("autocannon", None, {"rate": 1228, "duration_s": 2.25, "answered": 2000}),
    "autocannon-7.3.0-codes.txt": ("autocannon", None, {"rate": 611, "answered": 1222, "errors": 123}),
    "autocannon-9.0.0-latency.txt": (
        "autocannon",
        None,
        {"rate": 4138, "mean_s": 0.00069, "p99": 0.013, "errors": 414},
    ),
    "autocannon-9.0.0-rate.json": ("autocannon", None, {"rate": 127.18, "p99": 0.031, "open_loop": True}),
    "autocannon-9.0.0.json": ("autocannon", None, {"rate": 2429.2, "mean_s": 0.00415, "pipeline": 3, "errors": 257}),
    "autocannon-9.0.0.txt": ("autocannon", None, {"rate": 12_916, "mean_s": 0.00011, "p99": None, "connections": 4}),
    "bombardier-1.2.6-json.txt": ("bombardier", None, {"rate": 13_834.1, "mean_s": 0.00028746, "p99": 0.003701}),
    "bombardier-1.2.6-rate.json": ("bombardier", None, {"rate": 100.9, "offered": 100.0, "errors": 10}),
    "bombardier-1.2.6-requests.txt": ("bombardier", None, {"rate": 9374.55, "answered": 300, "duration_s": None}),
    "bombardier-1.2.6-result-alone.txt": (
        "bombardier",
        None,
        {"rate": 1969.83, "mean_s": 0.00271, "p99": 0.01314, "connections": None, "answered": 3697},
    ),
    "bombardier-1.2.6.txt": ("bombardier", None, {"rate": 7889.0, "mean_s": 0.00050507, "p99": 0.01189}),
    "fortio-1.68.0-rate.json": ("fortio", "1.68.0", {"rate": 99.441, "offered": 100.0, "p99": 0.00868192}),
    "fortio-1.68.0.json": ("fortio", "1.68.0", {"rate": 13_706.5, "errors": 1371, "offered": None, "connections": 4}),
    "gatling-3.14.3.txt": (
        "Gatling",
        None,
        {"rate": 53.33, "mean_s": 0.042, "p99": 0.331, "answered": 160, "errors": 13},
    ),
    "ghz-0.93.0-errors.json": ("ghz", None, {"rate": 654.2, "answered": 40, "errors": 40}),
    "ghz-0.93.0-quick-errors.txt": (
        "ghz",
        None,
        {"mean_s": 0.054229999999999993, "min_s": 0.10065, "answered": 40, "errors": 20},
    ),
    "ghz-0.93.0.json": ("ghz", None, {"rate": 2294.1, "p99": 0.0051337, "connections": 4, "errors": 0}),
    "ghz-0.93.0.txt": ("ghz", None, {"rate": 2179.17, "mean_s": 0.00167, "p99": 0.01312, "duration_s": 0.04589}),
    "h2load-1.52.0-errors.txt": (
        "h2load",
        None,
        {"rate": 11_254.42, "mean_s": 0.000348, "errors": 50, "answered": 500},
    ),
    "h2load-1.52.0.txt": ("h2load", None, {"rate": 25_495.0, "mean_s": 0.000151, "max_s": 0.05005, "connections": 4}),
    "hey-0.1.5.csv": ("hey", None, {"answered": 39, "errors": 4}),
    "hey-0.1.5.txt": ("hey", None, {"rate": 2371.2135, "mean_s": 0.0016, "p99": 0.0204, "errors": 20}),
    "jmeter-5.5.jtl": ("JMeter", None, {"answered": 40, "unanswered": 0}),
    "jmeter-5.5.xml": ("JMeter", None, {"answered": 12, "errors": 1, "max_s": 0.223}),
    "k6-1.8.1-handle-summary.json": ("k6", None, {"rate": 6202.0, "p99": 0.0052199, "duration_s": 1.0008095}),
    "k6-1.8.1-lines.json": ("k6", None, {"unanswered": 0}),
    "k6-1.8.1-machine-readable.json": ("k6", "1.8.1", {"rate": 6537.03, "mean_s": 0.0005681, "errors": 654}),
    "k6-1.8.1-summary-export.json": ("k6", None, {"rate": 4618.91, "p99": 0.00590515, "checks": (464, 4643)}),
    "k6-1.8.1.csv": ("k6", None, {"rate": None, "answered": 15}),
    "locust-2.47.0_stats.csv": ("Locust", None, {"rate": 1558.6072, "mean_s": 0.0017265, "p99": 0.008, "errors": 151}),
    "locust-2.47.0_stats_history.csv": ("Locust", None, {"rate": 1560.0, "p99": None, "answered": 3120, "errors": 151}),
    "rewrk-0.3.2.txt": ("rewrk", None, {"rate": 1800.96, "mean_s": 0.00217, "p99": None, "connections": 4}),
    "siege-4.0.7.json": ("siege", None, {"rate": 304.49, "mean_s": 0.01, "max_s": 0.05, "errors": 0}),
    "vegeta-12.13.0-encode.json": ("vegeta", None, {"answered": 30, "open_loop": True}),
    "vegeta-12.13.0-hdrplot.txt": ("vegeta", None, {"rate": None, "p99": None, "max_s": 0.017054311}),
    "vegeta-12.13.0.json": ("vegeta", None, {"rate": 90.582, "p99": 0.0067814, "errors": 10}),
    "vegeta-12.13.0.txt": ("vegeta", None, {"rate": 90.95, "mean_s": 0.000750458, "p99": 0.006984, "errors": 10}),
    "wrk-4.1.0-errors.txt": ("wrk", None, {"rate": 2297.36, "mean_s": 0.0069, "errors": 242}),
    "wrk-4.1.0-slow-machine.txt": ("wrk", None, {"rate": 941.69, "mean_s": 0.01253, "p99": 0.1032}),
    "wrk-4.1.0-threads.txt": ("wrk", None, {"rate": 338.82, "p99": 0.04374, "connections": 9}),
}


def value(result: PublishedResult, name: str) -> object:
    return result.percentiles.get(0.99) if name == "p99" else getattr(result, name)


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_what_a_tool_wrote_is_read_with_its_name_and_version(name: str) -> None:
    tool, version, figures = FIGURES[name]
    made = audit(read_publication(RECORDED / name))
    ((result, faults),) = made.by_entry
    assert (result.tool, result.version) == (tool, version)
    for key, expected in figures.items():
        exact = expected is None or isinstance(expected, tuple)
        assert value(result, key) == (expected if exact else pytest.approx(expected, rel=1e-3)), key
    assert {fault.code for fault in faults} <= COUNTED
    assert not made.publication.left_out


def test_each_recorded_output_is_looked_at() -> None:
    others = {"rewrk-0.3.2-rounds.json"}
    assert {path.name for path in RECORDED.iterdir() if path.is_file()} == FIGURES.keys() | others


def test_each_round_of_a_run_is_a_result() -> None:
    results = read_publication(RECORDED / "rewrk-0.3.2-rounds.json").results
    assert [round(result.rate or 0) for result in results] == [12_623, 6_564]


UNREADABLE = {
    "ab-2.3-w.html": ("ab's HTML table", "without -w"),
    "artillery-2.0.21.txt": ("Artillery's printed report", "artillery run --output"),
    "fortio-1.68.0.txt": ("fortio's printed result", "fortio load -json"),
    "gatling-3.14.3-simulation.log": ("simulation.log of Gatling 3.14.3", "Global Information"),
    "ghz-0.93.0.csv": ("ghz's CSV", "ghz -O json"),
    "httperf-0.9.0.txt": ("httperf's output", "another tool|no other output"),
    "k6-1.8.1.txt": ("k6's printed summary", "k6 run --summary-export"),
    "locust-2.47.0.json": ("Locust's JSON", "locust --csv"),
    "locust-2.47.0.txt": ("Locust's printed table", "locust --csv"),
    "locust-2.47.0_failures.csv": ("Locust's list of failures", "locust --csv"),
    "vegeta-12.13.0-encode.csv": ("vegeta's results as CSV", "vegeta report -type=json"),
    "vegeta-12.13.0-hist.txt": ("vegeta's histogram", "vegeta report -type=json"),
    "vegeta-12.13.0.bin": ("vegeta's results in their binary form", "vegeta report -type=json"),
}


@pytest.mark.parametrize("name", sorted(UNREADABLE))
def test_what_cannot_be_read_is_named_with_the_export_that_can(name: str) -> None:
    what, instead = UNREADABLE[name]
    with pytest.raises(UsageError, match=what) as refused:
        read_publication(RECORDED / "unreadable" / name)
    assert any(one in (refused.value.fix or "") for one in instead.split("|"))
    assert {path.name for path in (RECORDED / "unreadable").iterdir()} == UNREADABLE.keys()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<!DOCTYPE html>\n<html><head><title>Locust Test Report</title>", "Locust's HTML report"),
        ("<html>\n<title>Gatling Stats - Global Information</title>", "Gatling's HTML report"),
        ("<html>\n<title>Apache JMeter Dashboard</title>", "JMeter's HTML dashboard"),
        ('<?xml version="1.0"?>\n<jmeterTestPlan version="1.2">', "JMeter's test plan"),
        (
            "summary =   4800 in 00:00:10 =  480.0/s Avg:     3 Min:     0 Max:    20 Err:     0 (0.00%)",
            "printed summary",
        ),
        ("1795752448695,186,HTTP Request,200,OK,Thread Group 1-4,,true\n", "without the line of names"),
        ("<!DOCTYPE html><html><body>", "an HTML page"),
    ],
)
def test_pages_and_plans_are_no_results(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "page").write_text(text)
    with pytest.raises(UsageError, match=what):
        read_publication(tmp_path / "page")


def test_the_command_names_tool_version_and_figures(tmp_path: Path) -> None:
    done = touchstone(tmp_path, "audit", str(RECORDED / "fortio-1.68.0.json"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("fortio 1.68.0: 1 result, 1 of them")
    assert "13,707/s, mean 291 µs, p50 514 µs, p99 1.04 ms, max 10.1 ms" in done.stdout
    refused = touchstone(tmp_path, "audit", str(RECORDED / "unreadable" / "k6-1.8.1.txt"))
    assert refused.returncode == 2
    assert "do: run `k6 run --summary-export FILE`" in refused.stderr


def test_a_mean_of_all_calls_is_not_compared_with_percentiles_of_the_right_ones() -> None:
    compared = {"ghz-0.93.0-quick-errors.txt": False, "ghz-0.93.0.txt": True}
    for name, expected in compared.items():
        checks = {check for check, _, _ in audit(read_publication(RECORDED / name)).not_applied}
        assert ("mean against percentiles" not in checks) is expected, name


def test_a_depth_of_no_request_is_not_known(tmp_path: Path) -> None:
    recorded = (RECORDED / "autocannon-9.0.0.json").read_text(encoding="utf-8")
    changed = recorded.replace('"pipelining":3', '"pipelining":0').replace('"pipelining": 3', '"pipelining": 0')
    assert changed != recorded
    (tmp_path / "result.json").write_text(changed, encoding="utf-8")
    made = audit(read_publication(tmp_path / "result.json"))
    assert ("Little's law", 1, "the file does not say how many requests a connection may have in flight") in (
        made.not_applied
    )
