"""Tools in versions that could not be run here: read as their documentation and sources have their outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.audit.test_files import read
from tests.audit.versions import DRILL, GATLING, LOG, OHA, SIEGE, STATS


@pytest.mark.parametrize("total", ["1000.0000 ms", "1.0000 sec", "1.0000 secs", "0.1000 10 sec", "0.0166666667 min"])
def test_ohas_summary_is_read_in_its_units(tmp_path: Path, total: str) -> None:
    (result,) = read(tmp_path, OHA.format(total=total, slowest="9.0000 ms"))
    assert (result.tool, result.answered, result.errors, result.unanswered) == ("oha", 8000, 800, 3)
    assert result.duration_s == pytest.approx(1.0)
    assert result.percentiles == pytest.approx({0.1: 0.0001, 0.5: 0.0004, 0.99: 0.002})
    assert [result.mean_s, result.max_s] == pytest.approx([0.0005, 0.009])


def test_drills_statistics_are_those_of_all_requests(tmp_path: Path) -> None:
    (result,) = read(tmp_path, DRILL)
    assert (result.tool, result.rate, result.answered, result.errors, result.duration_s) == (
        "drill",
        200.0,
        100,
        10,
        0.5,
    )
    assert [result.mean_s, result.percentiles[0.5], result.percentiles[0.99]] == pytest.approx([0.003, 0.002, 0.009])


@pytest.mark.parametrize(
    ("text", "answered", "version"),
    [
        (GATLING, 10000, None),
        (json.dumps(STATS), 10000, None),
        (json.dumps(STATS["stats"]), 10000, None),
        (LOG, 1000, "3.9.5"),
    ],
)
def test_older_versions_of_gatling_are_read(tmp_path: Path, text: str, answered: int, version: str | None) -> None:
    (result,) = read(tmp_path, text)
    assert (result.tool, result.version, result.answered, result.errors) == ("Gatling", version, answered, 10)
    assert result.mean_s == pytest.approx(0.012)
    assert result.rate == pytest.approx(50.0 if version else 500.0, rel=0.01)


@pytest.mark.parametrize(
    ("document", "tool", "rate"),
    [
        ({"Total": {"transaction": "Total", "sampleCount": 500, "errorCount": 5, "meanResTime": 12.5,
                    "throughput": 50.0, "medianResTime": 11.0, "pct3ResTime": 40.0}}, "JMeter", 50.0),
        ({"aggregate": {"requestsCompleted": 500, "latency": {"min": 1, "max": 40, "median": 11, "p99": 40},
                        "rps": {"count": 500, "mean": 50.0}, "codes": {"200": 495, "500": 5}, "errors": {}}},
         "Artillery", 50.0),
        ({"transactions": 495, "transaction_rate": 49.5, "elapsed_time": 10.0, "response_time": 0.01,
          "failed_transactions": 5, "longest_transaction": 0.04}, "siege", 49.5),
    ],
)  # fmt: skip
def test_summaries_of_other_versions_are_read(tmp_path: Path, document: object, tool: str, rate: float) -> None:
    (result,) = read(tmp_path, json.dumps(document))
    assert (result.tool, result.rate, result.errors) == (tool, rate, 5)


def test_sieges_text_is_read(tmp_path: Path) -> None:
    (result,) = read(tmp_path, SIEGE)
    assert (result.tool, result.rate, result.errors, result.max_s, result.min_s) == ("siege", 49.5, 5, 0.04, None)
