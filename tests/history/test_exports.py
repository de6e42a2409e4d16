"""What other tools are given, held against their documented shapes."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import datetime

import jsonschema
import pytest

from tests.history.entries import history
from touchstone.failure import TouchstoneError
from touchstone.history.exports import EXPORTS, LEFT_OUT

BMF = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {
            "type": "object",
            "required": ["value"],
            "additionalProperties": False,
            "properties": {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")},
        },
    },
}
CUSTOM = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["name", "unit", "value"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string"},
            "unit": {"type": "string"},
            "value": {"type": "number"},
            "range": {"type": "string"},
            "extra": {"type": "string"},
        },
    },
}
_SAMPLE = re.compile(r'^([a-z_]+)\{([a-z]+="(?:[^"\\]|\\.)*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*)\} [0-9.e+-]+ \d+$')


def test_bencher_gets_values_with_their_bounds() -> None:
    document = json.loads(EXPORTS["bencher"](history()))
    jsonschema.validate(document, BMF)
    newest = history()[-1]
    (measures,) = document.values()
    assert measures["cpu_per_request"] == {"value": newest.value, "lower_value": newest.low, "upper_value": newest.high}
    assert measures["cpu_per_request_ratio"]["value"] == newest.ratio


@pytest.mark.parametrize(("name", "count"), [("github-smaller-is-better", 1), ("github-bigger-is-better", 0)])
def test_github_action_benchmark_gets_one_direction_a_file(name: str, count: int) -> None:
    document = json.loads(EXPORTS[name](history()))
    jsonschema.validate(document, CUSTOM)
    assert len(document) == count
    for line in document:
        assert line["value"] == history()[-1].ratio
        assert line["range"] == "± 0.01"


def test_openmetrics_has_families_samples_and_an_end() -> None:
    entries = [entry.model_copy(update={"load": 'a "load"\\'}) for entry in history()]
    lines = EXPORTS["openmetrics"](entries).splitlines()
    assert lines[-1] == "# EOF"
    types = [line.split() for line in lines if line.startswith("# TYPE")]
    assert [words[2:] for words in types] == [
        ["touchstone_cpu_per_request_seconds", "gauge"],
        ["touchstone_cpu_per_request_to_reference_ratio", "gauge"],
    ]
    for unit in (line.split() for line in lines if line.startswith("# UNIT")):
        assert unit[2].endswith(f"_{unit[3]}"), "a family's name ends with its unit"
    samples = [line for line in lines if not line.startswith("#")]
    assert len(samples) == 6
    assert all(_SAMPLE.match(line) for line in samples)
    assert 'load="a \\"load\\"\\\\"' in samples[0]


def test_otavas_csv_has_times_attributes_and_a_column_a_metric() -> None:
    rows = list(csv.DictReader(io.StringIO(EXPORTS["otava-csv"](history()))))
    assert list(rows[0]) == ["time", "commit", "run", "demo_sound_plain_ping_cpu_per_request"]
    assert len(rows) == 12
    for row, entry in zip(rows, history(), strict=True):
        assert datetime.strptime(row["time"], "%Y-%m-%d %H:%M:%S %z") == entry.committed_at
        assert float(row["demo_sound_plain_ping_cpu_per_request"]) == entry.ratio


def test_otavas_csv_has_no_empty_cell_and_names_the_runs_that_it_leaves_out() -> None:
    second = [entry.model_copy(update={"figure": "throughput"}) for entry in history() if entry.run != "run-05"]
    entries = [*history(), *second]
    rows = list(csv.DictReader(io.StringIO(EXPORTS["otava-csv"](entries))))
    assert [row["run"] for row in rows] == [f"run-{number:02}" for number in range(12) if number != 5]
    assert all(float(value) for row in rows for name, value in row.items() if name.startswith("demo_"))
    assert LEFT_OUT["otava-csv"](entries) == ["left out: run run-05 has no demo_sound_plain_ping_throughput"]
    assert LEFT_OUT["otava-csv"](history()) == []


def test_otavas_csv_is_refused_where_no_run_has_every_figure() -> None:
    other = [entry.model_copy(update={"run": f"other-{entry.run}", "scenario": "other"}) for entry in history()]
    with pytest.raises(TouchstoneError, match="every figure") as refused:
        EXPORTS["otava-csv"]([*history(), *other])
    assert "--store" in str(refused.value)
