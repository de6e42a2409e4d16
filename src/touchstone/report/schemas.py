"""The JSON Schemas of everything that is written to disk: `python -m touchstone.report.schemas docs/schema`."""

from __future__ import annotations

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema

from touchstone.judge.comparison.pair import PairJudgement
from touchstone.judge.judgement import Judgement
from touchstone.record.run import Environment, Plan
from touchstone.record.sample import Sample
from touchstone.report.json import Report

SCHEMAS: dict[str, type[BaseModel]] = {
    "plan": Plan,
    "environment": Environment,
    "sample": Sample,
    "judgement": Judgement,
    "report": Report,
    "pair": PairJudgement,
}
"""The documents that a results folder may hold, by the name of their schema's file."""


class _Described(GenerateJsonSchema):
    """Describes fields by the docstrings under them.

    pydantic can do so when a class is made (`use_attribute_docstrings`), but then every command reads all sources.
    """

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        found = super().model_schema(schema)
        for name, text in _docstrings(schema["cls"]):
            field = schema["cls"].model_fields[name]
            shown = found["properties"].get(field.serialization_alias or name, {})
            shown.setdefault("description", text)
        return found


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of one of `SCHEMAS`, as it is written (draft 2020-12)."""
    body = SCHEMAS[name].model_json_schema(by_alias=True, mode="serialization", schema_generator=_Described)
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


def _docstrings(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """The fields of a model that have a docstring, its own first."""
    for kind in model.__mro__:
        if kind is BaseModel:
            return
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        assert isinstance(tree, ast.ClassDef)
        for one, after in pairwise(tree.body):
            match one, after:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    if name in model.model_fields:
                        yield name, inspect.cleandoc(text)


if __name__ == "__main__":
    export_schemas(Path(sys.argv[1]))
