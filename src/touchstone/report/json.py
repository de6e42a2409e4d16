"""The run and its judgement in one JSON document."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from touchstone.judge.judgement import Judgement
from touchstone.record.base import Record
from touchstone.record.run import Run
from touchstone.report.view import View


class Report(Record):
    """Everything that was measured and everything that the judge says of it."""

    schema_: Literal["touchstone.report/1"] = Field(default="touchstone.report/1", alias="schema")
    run: Run
    judgement: Judgement


def document(view: View) -> str:
    """report.json."""
    return Report(run=view.run, judgement=view.judgement).model_dump_json(by_alias=True, indent=1) + "\n"
