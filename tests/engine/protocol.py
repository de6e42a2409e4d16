"""Makes `touchstone.engine.protocol`, the jobs of the engine as Python types, from the schema that the engine prints.

Run as `python -m tests.engine.protocol`. datamodel-code-generator writes the types; what is done here is to put the
documents of all commands into one, and to name what the schema leaves nameless.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

from touchstone.engine.locate import engine_path

TARGET = Path(__file__).parents[2] / "src" / "touchstone" / "engine" / "protocol.py"
_HEADER = '"""The jobs that the engine reads. Made from its own types by `python -m tests.engine.protocol`."""'
_DOCUMENTS = {
    "LoadJob": ("load", "job"),
    "SlicesJob": ("slices", "job"),
    "SlicesOrder": ("slices", "order"),
    "AskOrder": ("ask", "order"),
    "AskAnswer": ("ask", "answer"),
    "BootJob": ("boot", "job"),
    "HoldJob": ("hold", "job"),
    "StopJob": ("stop", "job"),
    "RelayOrder": ("relay", "order"),
    "BoundsJob": ("bounds", "job"),
}
_WIDTH = 110
_TAGS = ("kind", "order")


@cache
def schemas() -> dict[str, dict[str, dict[str, Any]]]:
    """What `touchstone-engine schema` prints: by command and document."""
    printed = subprocess.run([engine_path(), "schema"], check=True, capture_output=True, text=True).stdout
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(printed)
    return found


def generated() -> str:
    """The text of the module."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "jobs.json", Path(folder) / "protocol.py"
        source.write_text(json.dumps(_together(schemas())), encoding="utf-8")
        options = ["--input-file-type=jsonschema", "--output-model-type=typing.TypedDict", "--disable-timestamp"]
        options += ["--target-python-version=3.11", "--use-standard-collections", "--use-union-operator"]
        options += ["--use-schema-description", "--use-field-description", "--use-single-line-docstring"]
        options += ["--use-title-as-name", "--formatters=builtin", f"--custom-file-header={_HEADER}"]
        command = [sys.executable, "-W", "ignore", "-m", "datamodel_code_generator", *options]
        subprocess.run([*command, f"--input={source}", f"--output={target}"], check=True, capture_output=True)
        ruff = [sys.executable, "-m", "ruff"]
        subprocess.run([*ruff, "check", "--quiet", "--isolated", "--fix", "--select=D212", target], check=True)
        subprocess.run([*ruff, "format", "--quiet", "--line-length=120", target], check=True)
        # All documents are defined beside each other: there is no whole that they are parts of.
        return target.read_text(encoding="utf-8").replace("Model: TypeAlias = Any\n\n\n", "")


def _together(schemas: dict[str, Any]) -> dict[str, Any]:
    """One schema that defines the documents of all commands. What two of them share has to be equal."""
    shared: dict[str, Any] = {}
    for name, (command, document) in _DOCUMENTS.items():
        schema = _open(schemas[command][document])
        schema.pop("examples", None)
        for part, inner in ({name: schema} | schema.pop("$defs", {})).items():
            named = _named(inner, part)
            assert shared.setdefault(part, named) == named, f"{part} of {command} is another one elsewhere"
    return {"$defs": shared}


def _open(part: Any) -> Any:
    """Without `additionalProperties: false`, which typed dictionaries say by themselves; descriptions as docstrings."""
    if isinstance(part, dict):
        if isinstance(part.get("description"), str):
            part = part | {"description": textwrap.fill(part["description"], _WIDTH)}
        return {key: _open(inner) for key, inner in part.items() if (key, inner) != ("additionalProperties", False)}
    return [_open(inner) for inner in part] if isinstance(part, list) else part


def _named(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """With its name as title; a variant of a union is named by its tag, or by the property that it alone has."""
    for variant in schema.get("oneOf", []):
        if len(own := list(variant.get("properties", {}))) == 1:
            variant["title"] = name + own[0].title().replace("_", "")
        for tag in _TAGS:
            if (kind := variant.get("properties", {}).get(tag, {}).get("const")) is not None:
                variant["title"] = name + kind.title().replace("_", "")
    return schema | {"title": name}


if __name__ == "__main__":
    TARGET.write_text(generated(), encoding="utf-8")
