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


WRK2 = """Running 30s test @ http://127.0.0.1:80/index.html
  2 threads and 100 connections
  Thread calibration: mean lat.: 10087 usec, rate sampling interval: 22 msec
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.60ms    1.92ms  12.49ms   68.46%
    Req/Sec     1.04k     1.08k    2.50k    72.79%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    6.67ms
 99.000%   11.18ms
100.000%   12.50ms

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.921     0.000000            1         1.00
#[Mean    =        6.602, StdDeviation   =        1.919]
----------------------------------------------------------
  60018 requests in 30.00s, 19.81MB read
Requests/sec:   2000.28
Transfer/sec:    676.18KB
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


DROPPED = {"iterations": {"count": 200_000, "rate": 1.0}, "dropped_iterations": {"count": 9000, "rate": 1.0}}


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
        (k6() | {"metrics": k6()["metrics"] | {"checks": {"passes": 900, "fails": 100}}}, "checks-failed"),
        (k6() | {"metrics": k6()["metrics"] | DROPPED}, "rate-not-reached"),
        (wrk(p99="3.00s").replace("25.30ms", "4.00s"), "mean-unlike-percentiles"),
        (wrk().replace("200000 requests", "0 requests").replace("20000.00", "0.00"), "nothing-answered"),
        (vegeta(throughput=500.0, wait=10_000_000_000), "rate-not-reached"),
        (vegeta(throughput=float("inf")), "impossible-number"),
        (oha(summary=oha()["summary"] | {"average": 0.03}), "mean-unlike-percentiles"),
    ],
)
def test_a_fault_in_a_tools_result_is_found(tmp_path: Path, document: object, code: str) -> None:
    assert code in codes(audited(tmp_path, document))


SHORT = vegeta(
    latencies={"mean": 100e6, "50th": 100e6, "95th": 104e6, "99th": 108e6, "max": 110e6},
    duration=1_990_000_000, wait=101_000_000, requests=200, rate=100.5, throughput=95.6, status_codes={"200": 200},
)  # fmt: skip
"""An attack of 2 s on a service that takes 100 ms: `throughput` is over the wait for the last response as well."""


@pytest.mark.parametrize("document", [wrk(), oha(), vegeta(), WRK2, SHORT])
def test_a_sound_result_has_no_fault(tmp_path: Path, document: object) -> None:
    assert not codes(audited(tmp_path, document))


BOMBARDIER = (Path(__file__).parent / "recorded/bombardier-1.2.6-rate.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(("mean_us", "code"), [(5e3, None), (39e3, None), (80e3, "littles-law")])
def test_connections_that_wait_for_their_turn_have_a_bound_and_may_be_idle(
    tmp_path: Path, mean_us: float, code: str | None
) -> None:
    """Each of bombardier's 4 connections waits for its response and for its turn: at 101/s, 40 ms are the most."""
    document = json.loads(BOMBARDIER)
    document["result"]["latency"] = {"mean": mean_us, "max": 500e3}
    made = audited(tmp_path, document)
    assert codes(made) - {"errors-in-throughput"} == ({code} if code else set())
    assert "Little's law" not in {check for check, _, _ in made.not_applied}


def test_an_open_loop_that_does_not_tell_its_rate_is_held_to_no_closed_loops_law(tmp_path: Path) -> None:
    made = audited(tmp_path, WRK2)
    assert made.publication.format == "wrk2"
    assert "closed-loop-latency" not in {code for code, _, _ in made.by_cause}
    assert "Little's law" in {check for check, _, _ in made.not_applied}


def test_who_refuses_quickly_has_kept_the_rate(tmp_path: Path) -> None:
    refused = vegeta(throughput=950.0, status_codes={"200": 9500, "404": 500})
    assert codes(audited(tmp_path, refused)) == {"errors-not-in-throughput"}


def test_what_could_not_be_checked_is_named(tmp_path: Path) -> None:
    reasons = {check: reason for check, _, reason in audited(tmp_path, HEY).not_applied}
    assert reasons["Little's law"] == "the file does not give the number of connections"
    assert "Little's law" not in {check for check, _, _ in audited(tmp_path, wrk()).not_applied}
    (law,) = [r for check, _, r in audited(tmp_path, vegeta()).not_applied if check == "Little's law"]
    assert "open loop" in law


def test_several_files_of_one_load_are_a_series(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(4)]
    for path, rate in zip(paths, ("19800.00", "20000.00", "20200.00", "20000.00"), strict=True):
        path.write_text(wrk(rate=rate, p99=f"12.0{path.stem}ms"))
    made = audit(read_together(paths), files=4)
    assert made.repeated is not None
    assert made.repeated.rate.low < 20_000 < made.repeated.rate.high
    assert made.repeated.scatter == pytest.approx(0.008, abs=0.002)
    assert "measured-once" not in {code for code, _, _ in made.by_cause}
    done = touchstone(tmp_path, "audit", *map(str, paths))
    assert done.returncode == 0, done.stderr
    assert "4 runs, whose rate varies by 0.8%: 19,999/s (19," in done.stdout
    assert "not checked" in done.stdout
    few = audit(read_together(paths[:2]), files=2)
    assert few.repeated is not None and few.repeated.rate.low < 19_900 < few.repeated.rate.high


def test_a_copy_is_no_repetition(tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    for path in (one, other):
        path.write_text(wrk())
    for pair in ((one, other), (one, one)):
        with pytest.raises(UsageError, match="has the same bytes as"):
            read_together(pair)


@pytest.mark.parametrize(
    "document",
    [
        vegeta(status_codes=None),
        vegeta(status_codes=[200]),
        {"metrics": {"http_reqs": [1], "http_req_duration": {}}},
        {"metrics": {"http_reqs": {"count": float("inf"), "rate": 1}, "http_req_duration": {}}},
        oha(statusCodeDistribution={"": 1}),
    ],
)
def test_a_value_of_another_kind_is_told_as_such(tmp_path: Path, document: object) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(document))
    with pytest.raises(UsageError, match="not as its format has it"):
        read_publication(path)


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
