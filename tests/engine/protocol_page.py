"""The reference of the engine's documents, made from the schema that the engine prints.

`python -m tests.engine.protocol_page > docs/engine-protocol.md`
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from tests.engine.protocol import schemas

Schema = dict[str, Any]

_HEAD = """\
# The engine's protocol

Python decides, Rust measures: the lab hands the engine one *job* as JSON and gets one *result* as JSON. Everything that
is timed happens between the two. People use the same engine by flags (`touchstone load URL`); flags are parsed into the
same job, so there is one way in.

    touchstone-engine load   --job FILE|-  [--out FILE] [--progress]
    touchstone-engine slices --job FILE    [--out FILE] [--progress]     orders on standard input
    touchstone-engine ask                                              orders on standard input, answers on output
    touchstone-engine boot   --job FILE|-  [--out FILE] [--progress]
    touchstone-engine hold   --job FILE|-  [--out FILE] [--progress]
    touchstone-engine stop   --job FILE|-  [--out FILE]
    touchstone-engine relay                                            orders on standard input, answers on output
    touchstone-engine bounds --job FILE|-  [--out FILE]
    touchstone-engine schema               [--out FILE]               all documents below as JSON Schema

* A result is one JSON document on standard output, or in `--out` (written to a temporary name and renamed).
* Events (`--progress`) are JSON objects, one a line, on standard error; orders are the same on standard input.
* Exit codes: 0 the job was carried out (whatever the server did), 1 it could not be, 2 the job is malformed,
  130 interrupted (a result is still written, with `"interrupted": true`).
* Units are seconds, bytes and counts. Times in a series are seconds since the first intended send, on CLOCK_MONOTONIC.
* What was not measured is null or absent, never 0. A field of a job that is not below is an error.

Two more subcommands serve, and one probes; they take flags alone: [engine-servers.md](engine-servers.md),
[probe.md](probe.md). This page is made from the types that read and write the documents, as JSON Schema is by
`touchstone-engine schema`.
"""
_ABOUT = {
    "load": """\
One server under load. A search for the knee (`load --knee "p99<20ms" --json URL`) runs several such jobs, and gives
`{"schema": "touchstone.knee/1", "objective": {"quantile": 0.99, "below_s": 0.02}, "rate": 12000.0, "trials":
[{"rate": 1000.0, "achieved": 1000.0, "latency": 0.001, "errors": 0, "holds": true}], "interrupted": false}`.""",
    "slices": "Several servers under load, in turn, as orders say.",
    "ask": """\
Requests to services, each checked: contracts, preparations, readiness, drafts. They are written, read, checked and
captured from as those of a load. One process serves a whole run.""",
    "boot": "A server is started, and its first correct response timed.",
    "hold": "Many connections to one server, and the memory of both ends at each level.",
    "stop": "A service gets SIGTERM while it has clients, and every request is counted by what becomes of it.",
    "relay": """\
Bytes between a service and a dependency, passed on until an order has them held, slowed, cut or refused. The service
connects to the address of `--listen` (`127.0.0.1:0`), which the first line of output names as `listening`. `--cpus`
binds it to CPUs.""",
    "bounds": "Quiet connections are watched until the server closes them, and larger and larger heads are sent.",
}
"""The commands that carry out jobs, in the order of the page."""
_LONG = 30
"""A default of more letters is a table of defaults, which stand at its own fields."""
_DOCUMENTS = ("job", "order", "event", "answer", "result")


def page() -> str:
    """In Markdown, a section for each document and each part of one."""
    return "\n".join([_HEAD, *_Page(schemas()).lines()])


class _Page:
    """The sections; a part of several documents is described where it first appears."""

    def __init__(self, commands: dict[str, dict[str, Schema]]) -> None:
        self.commands = commands
        self.told = {"Job", "LoadResult"}

    def lines(self) -> Iterator[str]:
        """All of them."""
        for command, about in _ABOUT.items():
            yield f"## {command.capitalize()}\n\n{about}\n"
            for name in _DOCUMENTS:
                if (schema := self.commands[command].get(name)) is not None:
                    yield from self._document(command, name, schema)

    def _document(self, command: str, name: str, schema: Schema) -> Iterator[str]:
        yield f"### {command.capitalize()} {name}\n\n{_says(schema)}\n"
        yield from (f"```json\n{_shown(example)}\n```\n" for example in schema.get("examples", []))
        types = _Types(command, given=name in ("job", "order"))
        yield from types.tables(schema)
        waiting = _parts_of(schema)
        while waiting:
            part = waiting.pop(0)
            if part not in self.told:
                self.told.add(part)
                inner = schema["$defs"][part]
                yield f"#### `{part}`\n\n{_says(inner)}\n"
                yield from _like_a_load(inner) if part == "Traffic" else types.tables(inner)
                waiting += _parts_of(inner)


class _Types:
    """Types in words, with links to the sections that tell them, and tables of fields."""

    def __init__(self, command: str, *, given: bool) -> None:
        self.given = given
        """Whether they are given to the engine, which has defaults for some."""
        job = "load job" if command == "slices" else f"{command} job"
        self.documents = {"Job": job, "LoadResult": "load result"}

    def tables(self, schema: Schema) -> Iterator[str]:
        """The fields, or the varieties with theirs."""
        if "properties" in schema:
            yield self._table(schema)
        varieties = schema.get("oneOf", [])
        plain = [f"* {self.words(one)}: {_says(one)}" for one in varieties if "properties" not in one]
        if plain:
            yield "\n".join([*plain, ""])
        for one in varieties:
            tag = next((name for name, field in one.get("properties", {}).items() if "const" in field), None)
            if tag is not None:
                yield f"`{json.dumps({tag: one['properties'][tag]['const']})}`: {_says(one)}\n"
                if "$ref" in one:
                    yield f"Its fields are those of {self.words({'$ref': one['$ref']})}.\n"
                others = {name: field for name, field in one["properties"].items() if name != tag}
                if others:
                    yield self._table(one | {"properties": others})

    def _table(self, of: Schema) -> str:
        required = of.get("required", [])
        fields = sorted(of["properties"].items(), key=lambda item: item[0] not in required)
        if not self.given:
            rows = [
                f"| `{n}` | {self.words(f)}{'' if n in required else ', or absent'} | {_says(f)} |" for n, f in fields
            ]
            return "\n".join(["| field | type | |", "|---|---|---|", *rows, ""])
        rows = [f"| `{n}` | {self.words(f)} | {_default(n in required, f)} | {_says(f)} |" for n, f in fields]
        return "\n".join(["| field | type | default | |", "|---|---|---|---|", *rows, ""])

    def words(self, schema: Schema) -> str:
        """A type: `list of integer`, the name of a part, the values that there are."""
        if "$ref" in schema:
            part = schema["$ref"].rsplit("/", 1)[-1]
            if part in self.documents:
                return f"[{self.documents[part]}](#{self.documents[part].replace(' ', '-')})"
            return f"[`{part}`](#{part.lower()})"
        if "const" in schema:
            return f"`{json.dumps(schema['const'])}`"
        if members := schema.get("anyOf"):
            return " or ".join(map(self.words, members))
        kinds = schema.get("type", "anything")
        return " or ".join(self._kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds))

    def _kind(self, kind: str, schema: Schema) -> str:
        if "prefixItems" in schema:
            return f"list of {' and '.join(map(self.words, schema['prefixItems']))}"
        if kind == "array":
            return f"list of {self.words(schema['items'])}"
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            return f"object of {self.words(schema['additionalProperties'])}"
        return "text" if kind == "string" else kind


def _parts_of(schema: Schema) -> list[str]:
    """The parts that a schema names, in order."""
    own = json.dumps({name: inner for name, inner in schema.items() if name != "$defs"})
    return re.findall(r'"#/\$defs/(\w+)"', own)


def _default(required: bool, field: Schema) -> str:
    if required:
        return "*must be given*"
    shown = json.dumps(field.get("default", []))
    return f"`{shown}`" if len(shown) < _LONG else ""


def _like_a_load(traffic: Schema) -> Iterator[str]:
    """Refer to the fields of a load job, which are described there."""
    names = ", ".join(f"`{name}`" for name in traffic["properties"])
    loop = _Types("load", given=True).words(traffic["properties"]["loop"])
    yield f"As in a [load job](#load-job), but that `loop` is {loop}: {names}.\n"


def _says(schema: Schema) -> str:
    text = " ".join(schema.get("description", "").split()).replace("|", "\\|")
    return re.sub(r"docs/([\w-]+\.md)", r"[\1](\1)", text)


def _shown(example: Schema) -> str:
    """An example, a line for each of its fields."""
    rows = (f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in example.items())
    return "{\n" + ",\n".join(rows) + "\n}"


if __name__ == "__main__":
    sys.stdout.write(page())
