"""Makes a manifest's JSON Schema from its type, and adds the rules that types cannot express.

`python -m touchstone.check.schema.document docs/schema`
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from touchstone.check.schema import claims, requests, scenario, stack
from touchstone.check.schema.forms import Schema
from touchstone.manifest.annotation import Model
from touchstone.manifest.annotation import keys as keys_of
from touchstone.manifest.exchange import Request
from touchstone.manifest.keys import FILES
from touchstone.manifest.stack import Image

MANIFESTS: dict[str, str] = {name.removesuffix(".toml"): name for name in FILES}
"""The name of a schema's file, without its ending, and the manifest that it describes."""
_RULES: dict[Model, list[Schema]] = {**requests.RULES, **scenario.RULES, **stack.RULES, **claims.RULES}
_RULES_OF = "rules-of"
_BY_NAME: dict[Model, Schema] = {Image: stack.IMAGE_BY_NAME}
"""Tables that may be written as a text, and that text."""


class _AsWritten(GenerateJsonSchema):
    """Describes a TOML file: without null, which TOML does not have, and without keys that only the reader sets."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        found = super().model_schema(schema)
        model = schema["cls"]
        written = keys_of(model)
        found["properties"] = {name: one for name, one in found["properties"].items() if name in written}
        if issubclass(model, Request):
            # A gRPC call names its method in place of it, as a rule says.
            found["required"] = [name for name in found["required"] if name != "target"]
        if rules := [{_RULES_OF: kind.__name__} for kind in model.__mro__ if kind in _RULES]:
            found["allOf"] = rules
        by_name = _BY_NAME.get(model)
        return found if by_name is None else {"anyOf": [by_name, found]}

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        found = super().default_schema(schema)
        if found.get("default", ...) is None:
            del found["default"]
        return found

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        found = super().dict_schema(schema)
        if "patternProperties" in found:
            found["additionalProperties"] = False
        return found

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        found = super().tagged_union_schema(schema)
        found.pop("discriminator", None)
        return found

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of one of `MANIFESTS` (draft 2020-12)."""
    body = FILES[MANIFESTS[name]].model_json_schema(by_alias=True, mode="validation", schema_generator=_AsWritten)
    used: set[str] = set()
    body = _referring(body, used)
    body["$defs"] |= {f"{kind.__name__}.rules": {"allOf": _RULES[kind]} for kind in _RULES if kind.__name__ in used}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body, "title": MANIFESTS[name]}


def _referring(node: Any, used: set[str]) -> Any:
    """The schema with references in place of the marks. Tables whose rules it needs go into `used`.

    pydantic knows no definitions but its own, so that the references are put in behind it.
    """
    if isinstance(node, list):
        return [_referring(one, used) for one in node]
    if not isinstance(node, dict):
        return node
    if _RULES_OF in node:
        used.add(node[_RULES_OF])
        return {"$ref": f"#/$defs/{node[_RULES_OF]}.rules"}
    return {key: _referring(one, used) for key, one in node.items()}


def schema_text(name: str) -> str:
    """A schema's file."""
    return json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"


def export_schemas(folder: Path) -> None:
    """Write all schemas to `folder`."""
    for name in MANIFESTS:
        (folder / f"{name}.json").write_text(schema_text(name), encoding="utf-8")


if __name__ == "__main__":
    export_schemas(Path(sys.argv[1]))
