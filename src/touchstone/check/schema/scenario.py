"""Rules of scenario.toml beyond its requests: dependencies and their settings, phases, protocols, objectives."""

from __future__ import annotations

from touchstone.check.schema.forms import FILLED, Schema, each, either, has, keys, lacks, named, never, when, without
from touchstone.check.schema.requests import FIXED, NOT_OF_HTTP_1, NOT_OF_HTTP_2
from touchstone.manifest.annotation import Model
from touchstone.manifest.condition import ALL_TIMES
from touchstone.manifest.scenario import GIVEN, Bounds, Capacity, DependencySpec, Floor, Hold, Scenario
from touchstone.vocabulary.dependency import DEPENDENCIES

_LATENCY = "|".join(name.replace(".", r"\.") for name in sorted(ALL_TIMES, key=len, reverse=True))
_BOUND = r"\s*<=?\s*(?=[0-9.]*[1-9])[0-9]+(?:\.[0-9]+)?\s*"
_TERM = rf"\s*(?:(?:{_LATENCY}){_BOUND}(?:us|ms|s)|errors{_BOUND}%?)(?:/s)?\s*"
OBJECTIVE: Schema = {"allOf": [{"pattern": rf"^{_TERM}(?:,{_TERM})*$"}, {"pattern": rf"(?:{_LATENCY})\s*<"}]}
"""Upper bounds, one on a latency among them."""

_GIVEN_BY_THE_LAB = f"^(?:{'|'.join(GIVEN)})$"
_INHERITS = lacks("protocol", "tls")
_OVER_HTTP_2 = has(protocol={"enum": ["h2c", "h2"]})
_COMMAND: Schema = {"type": "array", "minItems": 1, "items": {"type": "string"}}
_WITH_PORT: Schema = {"contains": {"pattern": r"\{port\}"}}
_SECONDS: Schema = {"type": "number", "exclusiveMinimum": 0, "maximum": 600}


def _only(**settings: Schema) -> Schema:
    return {"properties": settings, "additionalProperties": False}


SETTINGS: dict[str, Schema] = {
    "sqlite": _only(schema={}, journal_mode={"type": "string"}, synchronous={"type": "string"}),
    "postgres": {
        "properties": {
            "schema": {"type": "string"},
            "tare": has(statements={"type": "array", "minItems": 1, "items": {"type": "string"}}),
        },
        "additionalProperties": {"type": ["string", "number", "boolean"]},
        "propertyNames": {"pattern": r"^[\w.]+$"},
    },
    "kafka": _only(
        topic={"type": "string", "minLength": 1},
        partitions={"type": "integer", "minimum": 1},
        group={"type": "string", "minLength": 1},
    ),
    "echo": _only(delay_ms={"type": "number", "minimum": 0, "maximum": 60_000}, server={"enum": ["engine", "python"]}),
    "process": {
        **_only(
            run={**_COMMAND, **_WITH_PORT},
            address={"type": "string", "minLength": 1},
            prepare={"type": "array", "items": _COMMAND},
            ask={**_COMMAND, "contains": {"pattern": r"\{query\}"}},
            ready_s=_SECONDS,
        ),
        "anyOf": [has("run"), has("address")],
    },
}
"""The settings of each kind of dependency, as far as the words alone show that they are wrong."""


def _of_kind(kind: str) -> Schema:
    parts = "|".join([*DEPENDENCIES[kind].address, "brace"])
    known = {
        "settings": SETTINGS[kind],
        "variables": each(without(rf"\{{(?!(?:{parts})\}})(?:tls\.[a-z]+|[a-z][a-z0-9_-]*)\}}")),
    }
    needed = has("settings") if kind == "process" else {}
    return when(has(kind=kind), {**keys(**known), **needed})


RULES: dict[Model, list[Schema]] = {
    DependencySpec: [
        keys(kind={"enum": list(DEPENDENCIES)}),
        keys(env=without(_GIVEN_BY_THE_LAB), variables=named(_GIVEN_BY_THE_LAB)),
        *map(_of_kind, DEPENDENCIES),
    ],
    Hold: [
        keys(levels=never({"minItems": 1, "maxItems": 1})),
        when(has(large_settings=FILLED), has(large_levels=FILLED)),
        keys(request=FIXED),
    ],
    Bounds: [keys(request=FIXED), keys(request=lacks("body", "body_file", "grpc"))],
    Floor: [
        keys(objective=OBJECTIVE),
        when(lacks("to_mb"), keys(from_mb={"maximum": 1023})),
        when(lacks("from_mb"), keys(to_mb={"minimum": 5})),
    ],
    Capacity: [keys(objective=OBJECTIVE)],
    Scenario: [
        keys(settings=named(_GIVEN_BY_THE_LAB)),
        when(_OVER_HTTP_2, keys(loads=each(when(_INHERITS, NOT_OF_HTTP_2)))),
        when(never(_OVER_HTTP_2), keys(loads=each(when(_INHERITS, NOT_OF_HTTP_1)))),
        when(has("drain"), has(dependencies=FILLED)),
        when(lacks("dependencies"), keys(loads=each(either(lacks("proofs"), keys(proofs={"maxItems": 0}))))),
    ],
}
