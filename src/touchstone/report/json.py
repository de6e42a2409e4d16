"""The run and its judgement in one JSON document, and the JSON Schemas of everything that is written to disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from touchstone.judge.comparison.revisions import RevisionsJudgement
from touchstone.judge.judgement import Judgement
from touchstone.record.base import Record
from touchstone.record.run import Environment, Plan, Run
from touchstone.record.sample import Sample
from touchstone.report.view import View


class Report(Record):
    """Everything that was measured and everything that the judge says of it."""

    schema_: Literal["touchstone.report/1"] = Field(default="touchstone.report/1", alias="schema")
    run: Run
    judgement: Judgement


SCHEMAS: dict[str, type[BaseModel]] = {
    "plan": Plan,
    "environment": Environment,
    "sample": Sample,
    "judgement": Judgement,
    "report": Report,
    "revisions": RevisionsJudgement,
}
"""The documents that a results folder may hold, by the name of their schema's file."""


def document(view: View) -> str:
    """report.json."""
    return Report(run=view.run, judgement=view.judgement).model_dump_json(by_alias=True, indent=1) + "\n"


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of one of `SCHEMAS`, as it is written (draft 2020-12)."""
    model = SCHEMAS[name]
    body = model.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}


def export_schemas(folder: Path) -> list[Path]:
    """Write all schemas to `folder` (docs/schema/ in the repository)."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in SCHEMAS:
        path = folder / f"{name}.json"
        path.write_text(schema_text(name), encoding="utf-8")
        paths.append(path)
    return paths


def schema_text(name: str) -> str:
    """A schema's file."""
    return json.dumps(schema(name), indent=2, ensure_ascii=False, sort_keys=True) + "\n"
