from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.report.fixture import ABSENT, EXHIBIT
from touchstone.failure import TouchstoneError
from touchstone.judge.judgement import Judgement
from touchstone.record.engine import Point
from touchstone.record.evidence.load import LoadEvidence
from touchstone.record.evidence.slices import Slice, SlicesEvidence
from touchstone.record.run import Run
from touchstone.report import render
from touchstone.report.export import EXPORTERS
from touchstone.report.json import Report, document
from touchstone.report.schemas import SCHEMAS, export_schemas, schema, schema_text
from touchstone.report.view import View

ROOT = Path(__file__).parents[2]


def _rows(rendered: Path) -> list[dict[str, str]]:
    with (rendered / "report.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_all_forms_are_written_and_nothing_else(rendered: Path) -> None:
    assert sorted(p.name for p in rendered.iterdir()) == sorted(e.file_name for e in EXPORTERS)


def test_one_form_can_be_asked_for(run: Run, judgement: Judgement, tmp_path: Path) -> None:
    assert render(View(run, judgement), tmp_path / "new", only=["csv"]) == [tmp_path / "new" / "report.csv"]


def test_a_folder_that_cannot_be_written_is_said_plainly(run: Run, judgement: Judgement, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    with pytest.raises(TouchstoneError, match=r"cannot write the report(.|\n)*do: "):
        render(View(run, judgement), file / "folder", only=["csv"])


def test_csv_holds_every_estimate_and_every_figure_of_every_sample(
    rendered: Path, run: Run, judgement: Judgement
) -> None:
    rows = _rows(rendered)
    assert sum(r["kind"] == "estimate" for r in rows) == len(judgement.estimates)
    assert sum(r["kind"] == "sample" for r in rows) == sum(len(s.figures) for s in run.samples)
    sample = next(s for s in run.samples if s.phase == "load")
    row = next(r for r in rows if r["sample"] == sample.id and r["figure"] == "throughput")
    assert float(row["value"]) == sample.figures["throughput"]
    assert row["unit"] == "1/s"


def test_csv_never_says_zero_for_what_was_not_measured(rendered: Path) -> None:
    missing = [r for r in _rows(rendered) if r["kind"] == "not measured"]
    assert {r["contender"] for r in missing} >= {ABSENT}
    assert all(r["value"] == "" and r["reason"] for r in missing)


def test_csv_marks_what_is_invalid(rendered: Path) -> None:
    rows = [r for r in _rows(rendered) if r["contender"] == EXHIBIT and r["phase"] == "load"]
    assert rows
    assert {r["verdict"] for r in rows} == {"invalid"}


def test_json_holds_run_and_judgement_and_is_valid(rendered: Path, run: Run, judgement: Judgement) -> None:
    text = (rendered / "report.json").read_text(encoding="utf-8")
    document = json.loads(text)
    jsonschema.validate(document, schema("report"))
    assert document["schema"] == "touchstone.report/2"
    back = Report.model_validate_json(text)
    assert _without_shapes(back.run) == _without_shapes(run)
    assert back.judgement == judgement


def _without_shapes(run: Run) -> dict[str, Any]:
    """A run without what its samples alone hold: series, slices, curves and histograms of loads."""
    whole = run.model_dump()
    for sample in whole["samples"]:
        result = (sample["evidence"] or {}).get("result")
        if turns := (sample["evidence"] or {}).get("slices"):
            del turns["slices"]
        if result and sample["phase"] == "load":
            del result["series"]
            if result["watch"]:
                del result["watch"]["series"]
            times = [result[name] for name in ("latency", "service", "connect", "lateness")]
            for one in [*times, *(request["latency"] for request in result["requests"])]:
                del one["curve"], one["histogram"]
    return whole


def test_json_leaves_series_slices_and_histograms_to_the_samples(run: Run, judgement: Judgement) -> None:
    whole = run.model_copy(deep=True)
    for sample in whole.samples:
        if sample.result:
            sample.result.latency.histogram = "HISTFAAA"
            sample.result.series = [Point(t=1.0, ok=5)]
        if isinstance(sample.evidence, LoadEvidence):
            turn = Slice(index=0, lap_phase="load", begin=0.0, sending_end=0.2, end=0.25)
            sample.evidence.slices = SlicesEvidence(order=[sample.contender], slice_s=0.25, slices=[turn])
    samples = json.loads(document(View(whole, judgement)))["run"]["samples"]
    loaded = [sample["evidence"] for sample in samples if sample["phase"] == "load" and sample["evidence"]]
    assert loaded
    for evidence in loaded:
        assert evidence["slices"].keys() == {"order", "slice_s", "warm_up"}
        result = evidence["result"]
        assert not {"series", "histogram", "curve"} & {*result, *(result["watch"] or {}), *result["latency"]}
        assert result["latency"]["p50"]


def test_the_json_schema_rejects_a_wrong_document(rendered: Path) -> None:
    document = json.loads((rendered / "report.json").read_text(encoding="utf-8"))
    document["judgement"]["verdict"] = "fine"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema("report"))


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_the_published_schema_is_current(name: str) -> None:
    published = ROOT / "docs" / "schema" / f"{name}.json"
    hint = "docs/schema is old: run `python -m touchstone.report.schemas docs/schema`"
    assert published.read_text(encoding="utf-8") == schema_text(name), hint


def test_schemas_are_valid_schemas(tmp_path: Path) -> None:
    for path in export_schemas(tmp_path):
        jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


def test_markdown_tables_are_whole_and_invalid_is_struck(rendered: Path) -> None:
    text = (rendered / "report.md").read_text(encoding="utf-8")
    tables = [block for block in text.split("\n\n") if block.startswith("| contender")]
    assert tables
    for table in tables:
        assert len({line.replace("\\|", "").count("|") for line in table.splitlines()}) == 1
    row = next(line for line in text.splitlines() if line.startswith(f"| `{EXHIBIT}` (invalid)"))
    assert "~~" in row
    assert f"`{ABSENT}`: needs native-image" in text
    assert "not measured" in text
