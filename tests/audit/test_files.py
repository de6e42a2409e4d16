"""Files as they come: several runs, corrected and uncorrected figures, encodings, locales, zeros, and torn parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.audit.test_recorded import RECORDED
from tests.audit.versions import OHA
from tests.cli.test_commands import touchstone
from touchstone.audit.audit import Audit, audit
from touchstone.audit.published import PublishedResult
from touchstone.audit.read import read_publication
from touchstone.failure import UsageError

WRK = """Running 10s test @ http://127.0.0.1:8080/
  2 threads and {connections} connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     {mean}    1.20ms  {max}   80.00%
    Req/Sec     3.90k   200.00     4.40k    70.00%
{distribution}  78000 requests in 10.00s, 9.80MB read
Requests/sec:   7800.00
Transfer/sec:      0.98MB
"""
DISTRIBUTION = (
    "  Latency Distribution\n     50%    4.00ms\n     75%    4.60ms\n     90%    5.40ms\n     99%    9.00ms\n"
)
CORRECTED = """  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    6.20ms
 99.000%   10.80ms
100.000%   11.31ms
"""
UNCORRECTED = """  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts \
into account))
 50.000%    2.70ms
 99.000%    5.40ms
100.000%    6.20ms
"""


def wrk(connections: int = 32, mean: str = "4.10ms", highest: str = "20.10ms", distribution: str = DISTRIBUTION) -> str:
    return WRK.format(connections=connections, mean=mean, max=highest, distribution=distribution)


def read(folder: Path, text: str | bytes, name: str = "result.txt") -> list[PublishedResult]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_publication(path).results


def looked_at(folder: Path, text: str) -> Audit:
    read(folder, text)
    return audit(read_publication(folder / "result.txt"))


def codes(made: Audit) -> set[str]:
    return {fault.code for _, wrong in made.by_entry for fault in wrong}


@pytest.mark.parametrize("name", [path.name for path in RECORDED.iterdir() if path.is_file()])
@pytest.mark.parametrize("between", ["", "\n\n", "\n$ the next command\n"])
def test_outputs_pasted_one_after_the_other_are_each_a_result(tmp_path: Path, name: str, between: str) -> None:
    text = (RECORDED / name).read_text()
    joins = text.endswith("\n") or between.startswith("\n")
    if "encode" in name or "lines" in name or name.endswith((".xml", ".jtl", ".csv", ".tsv")) or not joins:
        pytest.skip("of events there is one run a file, and a table is a file of its own")
    once = read(tmp_path, text)
    twice = read(tmp_path, text + between + text)
    assert [one.rate for one in twice] == [one.rate for one in once] * 2
    assert len({one.entry for one in twice}) == 2 * len(once)


@pytest.mark.parametrize("name", ["hey-0.1.5.csv", "locust-2.47.0_stats.csv", "jmeter-5.5.jtl", "k6-1.8.1.csv"])
def test_a_table_whose_head_comes_again_holds_two_runs(tmp_path: Path, name: str) -> None:
    text = (RECORDED / name).read_text()
    assert [one.answered for one in read(tmp_path, text + text)] == [read(tmp_path, text)[0].answered] * 2


def test_outputs_of_several_tools_in_one_file_are_each_of_its_tool(tmp_path: Path) -> None:
    names = ["wrk-4.1.0-threads.txt", "ab-2.3.txt", "k6-1.8.1-machine-readable.json", "hey-0.1.5.txt", "ghz-0.93.0.txt"]
    names += ["autocannon-9.0.0.txt", "h2load-1.52.0.txt", "fortio-1.68.0.json", "gatling-3.14.3.txt"]
    results = read(
        tmp_path, "\n".join((RECORDED / name).read_text() for name in names) + OHA.format(total="1 sec", slowest="9 ms")
    )
    assert [one.tool for one in results] == [
        "wrk", "ab", "k6", "hey", "ghz", "autocannon", "h2load", "fortio", "Gatling", "oha"
    ]  # fmt: skip


def test_runs_of_one_load_are_its_repetitions_and_of_several_are_not(tmp_path: Path) -> None:
    made = looked_at(tmp_path, wrk() + wrk(mean="4.11ms") + wrk(mean="4.12ms"))
    assert made.repeated is not None and made.repeated.runs == 3
    assert "measured-once" not in {code for code, _, _ in made.by_cause}
    assert looked_at(tmp_path, wrk() + wrk(64, mean="8.20ms")).repeated is None
    hey = (RECORDED / "hey-0.1.5.txt").read_text()
    assert looked_at(tmp_path, hey + hey.replace("0.0016", "0.0017")).repeated is None  # hey does not name its load.


def test_a_run_pasted_twice_is_a_copy(tmp_path: Path) -> None:
    assert codes(looked_at(tmp_path, wrk() + wrk())) == {"figures-copied"}


def test_a_torn_run_is_left_out_and_named(tmp_path: Path) -> None:
    torn = "Running 10s test @ http://127.0.0.1:9/\n  2 threads and 8 connections\nunable to connect\n"
    path = tmp_path / "runs.txt"
    path.write_text(wrk() + torn + wrk(64, mean="8.20ms"))
    made = read_publication(path)
    assert [one.connections for one in made.results] == [32, 64]
    assert made.left_out == ["runs #2: wrk is not as its format has it: no line `N requests in T`"]
    done = touchstone(tmp_path, "audit", "runs.txt")
    assert done.returncode == 0 and "left out: runs #2: wrk" in done.stdout
    assert json.loads(touchstone(tmp_path, "audit", "runs.txt", "--json").stdout)["left_out"] == made.left_out


@pytest.mark.parametrize("order", [(CORRECTED, UNCORRECTED), (UNCORRECTED, CORRECTED), (CORRECTED, "")])
def test_corrected_figures_come_before_uncorrected_ones(tmp_path: Path, order: tuple[str, str]) -> None:
    text = wrk(mean="6.18ms", highest="11.31ms", distribution="\n".join(order))
    (result,) = read(tmp_path, text.replace("  Thread Stats", "  Thread calibration: mean lat.: 6ms\n  Thread Stats"))
    assert result.tool == "wrk2"
    assert result.percentiles == pytest.approx({0.5: 0.0062, 0.99: 0.0108})
    assert not codes(looked_at(tmp_path, text))
    assert "closed-loop-latency" not in {code for code, _ in result.causes}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", ["wrk-4.1.0-threads.txt", "k6-1.8.1-summary-export.json", "locust-2.47.0_stats.csv",
                                  "vegeta-12.13.0.txt", "jmeter-5.5.jtl", "k6-1.8.1-lines.json"])  # fmt: skip
def test_encodings_and_line_ends_change_nothing(tmp_path: Path, encoding: str, end: str, name: str) -> None:
    text = (RECORDED / name).read_text()
    (plain,) = read(tmp_path, text)
    assert read(tmp_path, text.replace("\n", end).encode(encoding)) == [plain]
    if encoding in ("utf-16-le", "utf-16-be"):
        assert read(tmp_path, ("\ufeff" + text).encode(encoding)) == [plain]


@pytest.mark.parametrize("name", ["wrk-4.1.0-threads.txt", "autocannon-9.0.0-latency.txt", "rewrk-0.3.2.txt"])
def test_a_terminals_colours_change_nothing(tmp_path: Path, name: str) -> None:
    text = (RECORDED / name).read_text()
    lines = (f"\x1b[1;32m{line.replace('ms', chr(27) + '[0mms')}\x1b[0m" for line in text.splitlines())
    assert read(tmp_path, "\x1b]0;title\x07" + "\n".join(lines)) == read(tmp_path, text)
    assert read(tmp_path, "\n".join(f"  0 / 10\r 10 / 10\r{line}" for line in text.splitlines())) == read(
        tmp_path, text
    )


def test_decimal_commas_are_read(tmp_path: Path) -> None:
    plain = read(tmp_path, wrk())
    commas = wrk().replace("127.0.0.1", "[::1]").replace(".", ",").replace("[::1]", "127.0.0.1")
    assert read(tmp_path, commas) == plain
    gatling = (RECORDED / "gatling-3.14.3.txt").read_text()
    assert read(tmp_path, gatling.replace(".", ","))[0].rate == 53.33
    grouped = read(tmp_path, (RECORDED / "autocannon-9.0.0.txt").read_text().replace("12,916", "1,312,916"))
    assert grouped[0].rate == 1_312_916


def test_tables_with_semicolons_and_decimal_commas_are_read(tmp_path: Path) -> None:
    text = (RECORDED / "locust-2.47.0_stats.csv").read_text()
    head, body = text.replace(",", ";").split("\n", 1)
    assert read(tmp_path, f"{head}\n{body.replace('.', ',')}") == read(tmp_path, text)
    assert read(tmp_path, text.replace(",", "\t")) == read(tmp_path, text)
    report = "Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,Throughput\n{}"
    row = 'TOTAL,1000,12,10,20,25,40,2,80,1.50%,"{}"\n'
    for throughput, rate in (
        ("83.3", 83.3),
        ("83,3", 83.3),
        ("1.083,3", 1083.3),
        ("1,083.3", 1083.3),
        ("50/min", 50 / 60),
    ):
        (result,) = read(tmp_path, report.format(row.format(throughput)))
        assert result.rate == pytest.approx(rate)
        assert (result.errors, result.percentiles[0.99]) == (15, 0.04)


ZEROS = [
    (wrk(mean="0.00us", highest="0.00us", distribution=""), "Little's law"),
    (wrk(distribution=DISTRIBUTION.replace("4.00ms", "0.00us").replace("4.60ms", "0.00us").replace("5.40ms", "0.00us")
         .replace("9.00ms", "0.00us")), "order of percentiles"),
    (json.dumps({"metrics": {"http_reqs": {"count": 70, "rate": 7.0}, "http_req_duration": {
        "avg": 0, "min": 0, "med": 0, "max": 0, "p(90)": 0, "p(95)": 0}}}), "order of percentiles"),
    (json.dumps({"ActualQPS": 7, "NumThreads": 0, "DurationHistogram": {"Avg": 0, "Min": 0, "Max": 0, "Percentiles": [
        {"Percentile": 99, "Value": 0}]}, "RetCodes": {"200": 70}}), "Little's law"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "check"), ZEROS)
def test_a_zero_is_no_measurement(tmp_path: Path, text: str, check: str) -> None:
    made = looked_at(tmp_path, text)
    ((result, faults),) = made.by_entry
    assert not faults
    assert 0 not in (result.mean_s, result.min_s, result.max_s, result.connections, *result.percentiles.values())
    assert check in {name for name, _, _ in made.not_applied}


def test_not_one_request_is_a_finding_and_no_measurement(tmp_path: Path) -> None:
    nothing = wrk(mean="0.00us", highest="0.00us", distribution="").replace("78000", "0").replace("7800.00", "0.00")
    made = looked_at(tmp_path, nothing.replace("80.00%", "-nan%"))
    assert codes(made) == {"nothing-answered"}
    assert ("Little's law", 1, "not one response was counted") in made.not_applied
    empty = "timeStamp,elapsed,label,responseCode,success\n"
    assert codes(looked_at(tmp_path, empty)) == {"nothing-answered"}


def test_what_a_file_does_not_count_is_absent(tmp_path: Path) -> None:
    made = looked_at(tmp_path, json.dumps([{"framework": "a", "rps": 10, "status_2xx": 5}]))
    assert made.by_entry[0][0].errors is None
    document: dict[str, Any] = {"summary": {"successRate": 1, "total": 1, "requestsPerSec": 10, "average": None}}
    (result,) = read(tmp_path, json.dumps(document))
    assert (result.answered, result.errors, result.unanswered, result.mean_s) == (None, None, None, None)


def test_a_thread_of_wrk_holds_its_share_of_connections(tmp_path: Path) -> None:
    text = wrk(100, mean="12.69ms").replace("2 threads", "3 threads")
    (result,) = read(tmp_path, text)
    assert result.connections == 99
    assert "wrk's, 99" not in result.test and "99 connections" in result.test


PIPELINED = "$ wrk -t2 -c32 -d10s -s pipeline.lua http://127.0.0.1:8080/ -- 16\n"


@pytest.mark.parametrize("mean", ["1.00ms", "40.00ms"])
def test_no_law_is_held_against_wrks_pipelined_latency(tmp_path: Path, mean: str) -> None:
    text = wrk(mean=mean, highest="90.00ms", distribution="")
    made = looked_at(tmp_path, PIPELINED + text)
    assert not codes(made)
    ((_, _, reason),) = [row for row in made.not_applied if row[0] == "Little's law"]
    assert "pipelined" in reason
    assert made.by_entry[0][0].test.startswith("http://127.0.0.1:8080/")


def test_latencies_that_wrk_added_are_no_breach_of_littles_law(tmp_path: Path) -> None:
    """At 7,800/s over 32 connections 4.1 ms pass between two responses of one; a stall adds latencies."""
    stalled = DISTRIBUTION.replace("5.40ms", "40.00ms").replace("9.00ms", "90.00ms")
    assert not codes(looked_at(tmp_path, wrk(mean="9.00ms", highest="100.00ms", distribution=stalled)))
    assert not codes(looked_at(tmp_path, wrk(mean="9.00ms", highest="100.00ms", distribution="")))
    steady = DISTRIBUTION.replace("4.00ms", "8.90ms").replace("4.60ms", "9.00ms").replace("5.40ms", "9.10ms")
    for distribution in (steady.replace("     99%    9.00ms", "     99%    9.20ms"), ""):
        assert "littles-law" in codes(
            looked_at(tmp_path, wrk(mean="9.00ms", highest="9.50ms", distribution=distribution))
        )


LOCUST = """Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,\
Max Response Time,Average Content Size,Requests/s,Failures/s,50%,66%,90%,99%,100%
GET,/,1000,0,{median},{mean},{least},{most},12,100.0,0.0,{median},{median},{median},{far},{far}
,Aggregated,1000,0,{median},{mean},{least},{most},12,100.0,0.0,{median},{median},{median},{far},{far}
"""


def locust(median: int, mean: float, least: float, most: float, far: int) -> str:
    return LOCUST.format(median=median, mean=mean, least=least, most=most, far=far)


@pytest.mark.parametrize(
    "text",
    [
        locust(120, 126.4, 124.2, 131.0, 130),  # 124.9 ms counts as 120 ms
        locust(1, 1.3, 1.2, 1.7, 2),
        locust(1300, 1340.0, 1345.0 - 10, 1390.0, 1400),
    ],
)
def test_locusts_rounded_median_may_lie_below_the_minimum(tmp_path: Path, text: str) -> None:
    assert not codes(looked_at(tmp_path, text))


def test_a_median_far_below_the_minimum_is_a_fault(tmp_path: Path) -> None:
    assert codes(looked_at(tmp_path, locust(100, 130.0, 124.0, 140.0, 140))) >= {"percentiles-not-monotone"}


NESTED = '{"a":' * 100_000
ODD = [NESTED, "[" * 100_000, '{"a": 1', '{"metrics": {"http_reqs": ', '{"n": ' + "1" * 5000 + "}", "", "\n", "\ufeff"]


@pytest.mark.parametrize(
    "text", [*ODD, "\0\0\0", "Total: 1\n" * 1000, '{"type": [], "metric": {}}', '[[{"framework": 1}]]']
)
def test_a_file_that_is_none_is_refused_in_words(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path, text)
    assert refused.value.where and refused.value.fix


@pytest.mark.parametrize("data", [b"\x1f\x8b\x08\x00aaaa", b"PK\x03\x04aaaa", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x81"])
def test_a_file_that_is_no_text_is_named(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(UsageError, match=r"compressed|not text"):
        read(tmp_path, data)


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "k6.json").write_text(" \n")
    with pytest.raises(UsageError, match="is empty"):
        read_publication(tmp_path / "k6.json")
