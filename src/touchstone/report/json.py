"""The run and its judgement in one JSON document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from touchstone.judge.judgement import Judgement
from touchstone.record.base import Record
from touchstone.record.run import Run
from touchstone.report.view import View


class Report(Record):
    """All measurements and judgements, except what `_IN_SAMPLES` leaves out."""

    schema_: Literal["touchstone.report/2"] = Field(default="touchstone.report/2", alias="schema")
    run: Run
    judgement: Judgement


_SHAPE = {"curve", "histogram"}
_LOAD = {
    "series": True,
    "watch": {"series"},
    "latency": _SHAPE,
    "service": _SHAPE,
    "connect": _SHAPE,
    "lateness": _SHAPE,
    "requests": {"__all__": {"latency": _SHAPE}},
}
_EVIDENCE = {"result": _LOAD, "slices": {"slices"}}
_IN_SAMPLES: dict[str, Any] = {"run": {"samples": {"__all__": {"evidence": _EVIDENCE}}}}
"""Series over time, single slices, histograms and curves stay in `samples/` alone: they are nine tenths of a run."""


def document(view: View) -> str:
    """report.json."""
    return Report(run=view.run, judgement=view.judgement).model_dump_json(by_alias=True, exclude=_IN_SAMPLES) + "\n"
