"""A request for an operation, and what a right response to it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from touchstone.intake.openapi.body import put_body
from touchstone.intake.openapi.parameter import put_parameters
from touchstone.intake.openapi.part import DocumentNode, UnsoundError
from touchstone.intake.openapi.partial_request import PartialRequest
from touchstone.intake.openapi.response import right_response
from touchstone.intake.openapi.sample import ValueGenerator
from touchstone.intake.openapi.security import put_secrets
from touchstone.intake.openapi.server import Server, server_of
from touchstone.intake.parts import DraftRequest, PlaceholderText, slug
from touchstone.intake.secrets import shapes
from touchstone.manifest.template import literal

_WEB_SOCKET = re.compile(r"(?:^|[^a-z])(?:ws|wss|web[ _-]?sockets?)(?:[^a-z]|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Api:
    """A document whose operations are drafted."""

    root: DocumentNode
    server: Server
    sampler: ValueGenerator
    version_3_0: bool


def request(api: Api, path: str, method: str, item: DocumentNode) -> tuple[DraftRequest, Mapping[str, str]]:
    """The request, and the environment variables that it needs. Raises UnsoundError if it is not an operation."""
    operation = item.object(method)
    asked = PartialRequest()
    server = server_of([operation, item, api.root])
    _note_server(asked, server, api.server)
    parameters = []
    for holder in (item, operation):
        try:
            parameters += holder.array("parameters")
        except UnsoundError as error:
            asked.looks.append(f"parameters are left out: {error}")
    put_parameters(asked, path, server.path, parameters, api.sampler)
    put_secrets(asked, operation, api.root)
    put_body(asked, operation, method, api.sampler, version_3_0=api.version_3_0)
    right = right_response(operation)
    asked.looks += right.looks
    if right.accept and not asked.has_header("accept"):
        asked.headers["accept"] = right.accept
    if any(map(_WEB_SOCKET.search, (path, operation.text("summary"), operation.text("operationId")))):
        asked.looks.append("its name is that of a WebSocket, which no check opens")
    if operation.held.get("callbacks"):
        asked.notes.append("its callbacks are not drafted")
    if operation.flag("deprecated"):
        asked.notes.append("deprecated")
    sent = "".join([asked.target, asked.body or "", *asked.fields.values()])
    if re.search(r"[\ud800-\udfff]", sent):
        raise UnsoundError("it holds half a surrogate pair, which cannot be sent")
    summary = operation.text("summary") or f"{method.upper()} {path} is answered {right.status}"
    drafted = DraftRequest(
        name=slug(operation.text("operationId") or f"{method} {path}"),
        method=method.upper(),
        target=_published(asked.target),
        says=re.sub(r"[\x00-\x20\x7f]+", " ", summary).strip(),
        status=right.status,
        other_statuses=right.other_statuses,
        headers={name: _published(value) for name, value in asked.fields.items()},
        body=None if asked.body is None else _published(asked.body),
        content_type=right.content_type,
        json_types=right.json_types,
        guessed=asked.guessed,
        note="; ".join(dict.fromkeys(asked.notes)),
    )
    return drafted, asked.variables


def _published(text: str) -> str:
    """A text whose secrets are public, since the document shows them. Known secret forms are excluded."""
    return text if isinstance(text, PlaceholderText) or any(shapes(text)) else PlaceholderText(literal(text))


def _note_server(asked: PartialRequest, server: Server, usual: Server) -> None:
    if server.doubt and server.doubt != usual.doubt:
        asked.looks.append(server.doubt)
    if server.host and usual.host and server.host != usual.host:
        asked.looks.append(f"the document has it answered by {server.host}, and others by {usual.host}")
