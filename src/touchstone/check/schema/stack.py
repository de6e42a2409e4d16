"""Rules of stack.toml: tools, commands, images, and keys that need one another."""

from __future__ import annotations

from touchstone.check.schema.forms import FILLED, Schema, each, either, has, keys, lacks, named, never, when, without
from touchstone.manifest.annotation import Model
from touchstone.manifest.scenario import GIVEN, GRPC_PORT
from touchstone.manifest.stack import NOT_OF_IMAGES, Image, Install, MemorySetting, Stack, Variant
from touchstone.toolchain.registry import TOOLS

_VERSION = r"\s*(?:(?:~=|===?|!=|<=?|>=?)\s*[^\s,][^,]*)?"
NEEDS: Schema = {
    "propertyNames": {"enum": sorted(TOOLS)},
    "additionalProperties": {"pattern": rf"^{_VERSION}(?:,{_VERSION})*$"},
}
"""Tools that are known, with version ranges."""
IMAGE_BY_NAME: Schema = {"type": "string", "pattern": r"^[^\s-]\S*$"}

_HEAP = r"\{heap_mb\}"
_OF_THE_SHELL = r"\$\{?[A-Z_][A-Z0-9_]*\}?"
_GIVEN_BY_THE_LAB = f"^(?:{'|'.join(GIVEN)}|TLS_CERT|TLS_KEY)$"
_IN_CAPITALS = rf"\{{(?:{'|'.join((*GIVEN, GRPC_PORT))})\}}"
_NOT_OF_A_START = each(without(r"\{(?:host|port)\}"))
_NO_BASE = each(without(r"\{base\}"))
_BY_A_SHELL: Schema = {"type": "array", "minItems": 2, "prefixItems": [{}, {"const": "-c"}]}
_STARTS: Schema = {
    "allOf": [each(without(_IN_CAPITALS)), either(_BY_A_SHELL, each(without(_OF_THE_SHELL)))],
}
_USES_PORT = either(
    has(run={"contains": {"type": "string", "pattern": r"\{port\}"}}),
    has(env=never({"additionalProperties": without(r"\{port\}")})),
)
_FOOTPRINT = r"^(?:jre|certificates|zoneinfo|module:[\s\S]*|library:[\s\S]*|/[\s\S]*)$"

RULES: dict[Model, list[Schema]] = {
    Install: [keys(commands=each(_NOT_OF_A_START))],
    MemorySetting: [
        when(
            has("heap_share"),
            either(
                has(args={"contains": {"type": "string", "pattern": _HEAP}}),
                has(env=never({"additionalProperties": without(_HEAP)})),
            ),
        )
    ],
    Image: [
        {"oneOf": [has("reference"), has("dockerfile")]},
        never(has("reference"), either(has("target"), has(args=FILLED))),
    ],
    Variant: [
        either(has("run"), has("base"), has("image")),
        when(has("image"), lacks(*NOT_OF_IMAGES)),
        when(has("image"), keys(memory_settings=each(never(has(args=FILLED))))),
        never(has("port"), _USES_PORT),
        when(has(build_env=FILLED), either(has(build=FILLED), has(profiled=has("build")))),
        when(has(profiled=has(build_env=FILLED)), either(has(build=FILLED), has(profiled=has("build")))),
        when(has("install", "base"), either(has(build=FILLED), has("train"))),
        when(has("sound_twin"), has("exhibit")),
        keys(needs=NEEDS, build=each(_NOT_OF_A_START), run=_STARTS, train=_STARTS),
        keys(env={**named(_GIVEN_BY_THE_LAB), **each(without(f"{_IN_CAPITALS}|{_OF_THE_SHELL}"))}),
        when(has("grpc_port"), keys(env=named(f"^{GRPC_PORT}$"))),
        keys(footprint=each({"pattern": _FOOTPRINT})),
        when(lacks("base"), keys(build=each(_NO_BASE), run=_NO_BASE, train=_NO_BASE)),
    ],
    Stack: [
        keys(needs=NEEDS),
        when(
            has("install"),
            keys(variants=never({"additionalProperties": either(has("base"), has("install"), has("image"))})),
        ),
    ],
}
