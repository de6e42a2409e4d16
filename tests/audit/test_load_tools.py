"""Results of load tools: read as they write them, looked at by the checks that they allow, and the others named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_commands import touchstone
from touchstone.audit.audit import Audit, audit
from touchstone.audit.read import read_publication, read_together
from touchstone.failure import UsageError

WRK = """Running 10s test @ http://127.0.0.1:8080/users
  2 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     5.00ms    1.10ms  25.30ms   90.12%
    Req/Sec    10.01k   240.11    11.20k    71.00%
  Latency Distribution
     50%    4.80ms
     75%    5.60ms
     90%    7.00ms
     99%   {p99}
  200000 requests in 10.00s, 60.12MB read
{errors}Requests/sec:  {rate}
Transfer/sec:      6.01MB
"""
HEY = """
Summary:
  Total:\t10.0010 secs
  Slowest:\t0.0400 secs
  Fastest:\t0.0003 secs
  Average:\t0.0050 secs
  Requests/sec:\t19998.0002

Latency distribution:
  10%% in 0.0021 secs
  50%% in 0.0048 secs
  99%% in 0.0120 secs

Details (average, fastest, slowest):
  DNS+dialup:\t0.0000 secs, 0.0003 secs, 0.0400 secs

Status code distribution:
  [200]\t199000 responses
  [500]\t1000 responses

Error distribution:
  [7]\tGet "http://127.0.0.1:8080/": dial tcp 127.0.0.1:8080: connect: connection refused
"""


def wrk(*, p99: str = "12.00ms", errors: str = "", rate: str = "20000.00") -> str:
    return WRK.format(p99=p99, errors=errors, rate=rate)


def oha(**changed: Any) -> dict[str, Any]:
    summary = {"successRate": 1.0, "total": 10.0, "slowest": 0.04, "fastest": 0.0003, "average": 0.005,
               "requestsPerSec": 20_000.0, "totalData": 1, "sizePerRequest": 1, "sizePerSec": 1.0}  # fmt: skip
    return {
        "summary": summary,
        "latencyPercentiles": {"p50": 0.0048, "p99": 0.012, "p99.9": 0.02, "p99.99": None},
        "statusCodeDistribution": {"200": 200_000},
        "errorDistribution": {"aborted due to deadline": 100},
    } | changed


def vegeta(**changed: Any) -> dict[str, Any]:
    return {
        "latencies": {"mean": 5e6, "50th": 4e6, "90th": 7e6, "95th": 8e6, "99th": 12e6, "max": 40e6, "min": 3e5},
        "duration": 9_990_000_000,
        "wait": 10_000_000,
        "requests": 10_000,
        "rate": 1001.0,
        "throughput": 1000.0,
        "success": 1.0,
        "status_codes": {"200": 10_000},
        "errors": [],
    } | changed


def k6(*, nested: bool = False, **duration: float) -> dict[str, Any]:
    metrics: dict[str, Any] = {
        "http_reqs": {"count": 200_000, "rate": 20_000.0},
        "http_req_duration": {"avg": 5.0, "min": 0.3, "med": 4.8, "max": 40.0, "p(90)": 7.0, "p(95)": 8.0} | duration,
        "http_req_failed": {"rate": 0.01},
        "vus_max": {"value": 100},
    }
    if not nested:
        return {"metrics": metrics}
    deep = {name: {"type": "trend", "values": values} for name, values in metrics.items()}
    return {"metrics": deep, "state": {"testRunDurationMs": 10_000.0}}


def audited(folder: Path, document: object) -> Audit:
    path = folder / "run"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return audit(read_publication(path))


def codes(made: Audit) -> set[str]:
    return {fault.code for _, wrong in made.by_entry for fault in wrong}


@pytest.mark.parametrize(
    ("document", "tool", "rate", "p99"),
    [
        (wrk(), "wrk", 20_000.0, 0.012),
        (HEY, "hey", 19_998.0, 0.012),
        (oha(), "oha", 20_000.0, 0.012),
        (vegeta(), "vegeta", 1000.0, 0.012),
        (k6(), "k6", 20_000.0, None),
        (k6(nested=True), "k6", 20_000.0, None),
    ],
)
def test_each_tools_result_is_read(tmp_path: Path, document: object, tool: str, rate: float, p99: float | None) -> None:
    made = audited(tmp_path, document)
    assert made.publication.format == tool
    ((result, _),) = made.by_entry
    assert result.rate == pytest.approx(rate, rel=1e-4)
    assert result.mean_s == pytest.approx(0.005)
    assert result.percentiles.get(0.99) == p99
    assert result.max_s is not None


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (wrk(rate="40000.00"), "littles-law"),
        (wrk(p99="30.00ms"), "percentiles-not-monotone"),
        (wrk(errors="  Non-2xx or 3xx responses: 199000\n"), "errors-in-throughput"),
        (wrk(errors="  Socket errors: connect 0, read 0, write 0, timeout 3\n"), "unanswered-not-in-throughput"),
        (HEY, "errors-in-throughput"),
        (HEY, "unanswered-not-in-throughput"),
        (oha(statusCodeDistribution={"200": 100_000}), "rate-unlike-count"),
        (oha(errorDistribution={"connection refused": 4}), "unanswered-not-in-throughput"),
        (vegeta(throughput=900.0), "rate-not-reached"),
        (vegeta(status_codes={"200": 9000, "0": 1000}), "unanswered-not-in-throughput"),
        (k6(avg=50.0), "percentiles-not-monotone"),
        (k6(), "errors-in-throughput"),
    ],
)
def test_a_fault_in_a_tools_result_is_found(tmp_path: Path, document: object, code: str) -> None:
    assert code in codes(audited(tmp_path, document))


@pytest.mark.parametrize("document", [wrk(), oha(), vegeta()])
def test_a_sound_result_has_no_fault(tmp_path: Path, document: object) -> None:
    assert not codes(audited(tmp_path, document))


def test_what_could_not_be_checked_is_named(tmp_path: Path) -> None:
    told = {check: reason for check, _, reason in audited(tmp_path, HEY).not_applied}
    assert told["Little's law"] == "the file has not the number of connections"
    assert "Little's law" not in {check for check, _, _ in audited(tmp_path, wrk()).not_applied}
    (law,) = [r for check, _, r in audited(tmp_path, vegeta()).not_applied if check == "Little's law"]
    assert "open loop" in law


def test_several_files_of_one_load_are_a_series(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(4)]
    for path, rate in zip(paths, ("19800.00", "20000.00", "20200.00", "20000.00"), strict=True):
        path.write_text(wrk(rate=rate))
    made = audit(read_together(paths), files=4)
    assert made.repeated is not None
    assert made.repeated.rate.low < 20_000 < made.repeated.rate.high
    assert made.repeated.scatter == pytest.approx(0.008, abs=0.002)
    assert "measured-once" not in {code for code, _, _ in made.by_cause}
    done = touchstone(tmp_path, "audit", *map(str, paths))
    assert done.returncode == 0, done.stderr
    assert "4 runs, whose rate scatters by 0.8%: 19,999/s (19," in done.stdout
    assert "not checked" in done.stdout
    few = audit(read_together(paths[:2]), files=2)
    assert few.repeated is not None and few.repeated.rate.low < 19_900 < few.repeated.rate.high


def test_files_of_several_tools_are_refused(tmp_path: Path) -> None:
    one, other = tmp_path / "wrk.txt", tmp_path / "hey.txt"
    one.write_text(wrk())
    other.write_text(HEY)
    with pytest.raises(UsageError, match="wrk, hey"):
        read_together([one, other])


@pytest.mark.parametrize(
    "text", ["Running 10s test @ http://x/\nRequests/sec: 1.0\n", "Summary:\nSlowest:\nRequests/sec:"]
)
def test_a_torn_output_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "torn.txt"
    path.write_text(text)
    with pytest.raises(UsageError, match="not as its format has it"):
        read_publication(path)
