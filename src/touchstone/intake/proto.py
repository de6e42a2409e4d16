"""A draft of a scenario from a `.proto` file: a contract of all its methods, and loads of those that read."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from touchstone.engine.ask import GrpcMethod, grpc_methods
from touchstone.failure import UsageError
from touchstone.intake.draft import Draft
from touchstone.intake.parts import DraftLoad, DraftRequest, PlaceholderText, slug
from touchstone.manifest.template import literal

_READS = re.compile(
    r"(?:Get|List|Find|Search|Read|Query|Fetch|Look|Lookup|Check|Count|Watch|Subscribe|Stream|BatchGet)(?![a-z])"
)
"""How the name of a method begins that reads, as Google's API design guide names them, and a few more."""
_HEALTH = "grpc.health.v1.Health/Check"
_EXAMPLE = "the message is an example: say one that the service has an answer to"
_EVENTS = "say how many messages come"


def draft_from_proto(file: Path, folder: Path) -> Draft:
    """Return the draft for a scenario in `folder`. Raises UsageError for what is not a schema, or has no method."""
    methods = grpc_methods(file)
    if not methods:
        raise UsageError("the file has no service", where=str(file), fix="name the .proto file that defines one")
    proto = os.path.relpath(file.resolve(), folder.resolve())
    calls = [_call(method, proto) for method in methods]
    started = {"grpc_status": ["OK", "UNIMPLEMENTED"]}
    return Draft(
        title=methods[0].name.split("/")[0],
        source=file.name,
        contract=calls,
        loads=_loads(calls, methods),
        ready=DraftRequest("ready", "POST", "", "", keys={"grpc": _HEALTH, "expect": started}),
        protocol="h2c",
        notes=[
            "`ready` takes UNIMPLEMENTED for an answer as well: demand the status SERVING where the service has the "
            "health protocol."
        ],
    )


def _call(method: GrpcMethod, proto: str) -> DraftRequest:
    streams = method.is_streaming
    sent = "messages" if method.takes_stream else "a message"
    got = "messages" if streams else "a message"
    body = method.example + (f" {method.example}" if method.takes_stream else "")
    keys: dict[str, Any] = {"grpc": method.name, "proto": proto}
    if streams:
        fields = {name: {"type": kind} for name, kind in method.fields.items()}
        keys["stream"] = {"kind": "messages", "events": 1, **({"expect": {"json": fields}} if fields else {})}
    return DraftRequest(
        name=slug(method.name.split("/")[-1]),
        method="POST",
        target="",
        says=f"{method.name} answers {sent} with {got}",
        # Values of an example are no secrets, whatever their fields are called.
        body=PlaceholderText(literal(body)),
        json_types={} if streams else method.fields,
        keys=keys,
        guessed=f"{_EXAMPLE}; {_EVENTS}" if streams else _EXAMPLE,
    )


def _loads(calls: Sequence[DraftRequest], methods: Sequence[GrpcMethod]) -> list[DraftLoad]:
    """One load of the calls with one response, and one of the streams."""
    found = []
    for name, title, streams in (("calls", "Calls", False), ("streams", "Streams", True)):
        kind = [call for call, method in zip(calls, methods, strict=True) if method.is_streaming == streams]
        reads = [call for call in kind if _READS.match(call.keys["grpc"].split("/")[-1])]
        note = "" if reads else "look: no name says that its method only reads: leave out what must not be called often"
        settings = {"connections": 16, **({"whole_windows": True} if streams else {})}
        if kind:
            found.append(DraftLoad(name, title, reads or kind, settings=settings, note=note))
    return found
