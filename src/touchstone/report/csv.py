"""Tidy CSV: one row an estimate, and one row for each figure of each sample. Values are in base units."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from touchstone.judge.judgement import Estimate, Verdict
from touchstone.record.run import ContenderPlan
from touchstone.record.sample import Sample
from touchstone.report.view import View
from touchstone.vocabulary.figure import FIGURES

COLUMNS = [
    "kind",
    "run",
    "scenario",
    "phase",
    "load",
    "contender",
    "round",
    "sample",
    "figure",
    "unit",
    "value",
    "low",
    "high",
    "verdict",
    "reason",
]
"""`kind` is `estimate` (value: the median; low, high: its interval), `sample`, or `not measured`."""

_Row = dict[str, str | int | float | None]


def document(view: View) -> str:
    """report.csv."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for row in _rows(view):
        writer.writerow({"run": view.plan.run_id, "scenario": view.plan.scenario, **row})
    return text.getvalue()


def _rows(view: View) -> Iterator[_Row]:
    for contender in view.not_measured:
        yield _absent(contender)
    for estimate in view.judgement.estimates:
        yield _estimate(estimate)
    for sample in view.run.samples:
        yield from _sample(sample, view.verdict(sample))


def _absent(contender: ContenderPlan) -> _Row:
    return {"kind": "not measured", "contender": contender.name, "reason": contender.not_measured}


def _estimate(estimate: Estimate) -> _Row:
    return {
        "kind": "estimate",
        "phase": estimate.phase,
        "load": estimate.load,
        "contender": estimate.contender,
        "figure": estimate.figure,
        "unit": FIGURES[estimate.figure].unit,
        "value": estimate.median,
        "low": estimate.low,
        "high": estimate.high,
        "verdict": estimate.verdict,
        "reason": estimate.reason,
    }


def _sample(sample: Sample, verdict: Verdict) -> Iterator[_Row]:
    place: _Row = {
        "phase": sample.phase,
        "load": sample.load,
        "contender": sample.contender,
        "round": sample.round,
        "sample": sample.id,
    }
    for figure, value in sample.figures.items():
        unit = FIGURES[figure].unit
        yield {"kind": "sample", **place, "figure": figure, "unit": unit, "value": value, "verdict": verdict}
    for figure, reason in sample.not_measured.items():
        known = FIGURES.get(figure)
        yield {
            "kind": "not measured",
            **place,
            "figure": figure,
            "unit": known.unit if known else None,
            "reason": reason,
        }
    if sample.failure is not None:
        yield {"kind": "not measured", **place, "verdict": verdict, "reason": sample.failure.what}
