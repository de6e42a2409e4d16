"""Security schemes: where a secret goes, with a placeholder for an environment variable in its place."""

from __future__ import annotations

import re

from touchstone.intake.openapi.part import DocumentNode, UnsoundError
from touchstone.intake.openapi.partial_request import PartialRequest
from touchstone.intake.openapi.style import percent
from touchstone.intake.parts import PlaceholderText, joined


def put_secrets(asked: PartialRequest, operation: DocumentNode, document: DocumentNode) -> None:
    """Add what the first alternative asks for that can be met. If none can be, that is named."""
    holder = operation if operation.held.get("security") is not None else document
    try:
        alternatives = [one.followed() for one in holder.array("security")]
        if not all(isinstance(one.held, dict) for one in alternatives):
            raise UnsoundError("an alternative is not an object")
    except UnsoundError as error:
        asked.looks.append(f"its security cannot be read: {error}")
        return
    if any(not one.held for one in alternatives):
        return
    reasons = []
    for alternative in alternatives:
        trial = PartialRequest()
        try:
            for name in alternative.keys:
                _put(trial, name, document.object("components").object("securitySchemes"))
        except UnsoundError as error:
            reasons.append(str(error))
            continue
        asked.query += trial.query
        asked.headers |= trial.headers
        asked.cookies += trial.cookies
        asked.variables |= trial.variables
        return
    if alternatives:
        asked.looks.append(f"it wants a secret: {reasons[0]}")


def _put(asked: PartialRequest, name: str, schemes: DocumentNode) -> None:
    if name not in schemes.keys:
        raise UnsoundError(f"the document has no security scheme {name!r}")
    scheme = schemes.object(name)
    kind = scheme.text("type")
    if kind == "apiKey":
        _put_key(asked, name, scheme)
        return
    by = scheme.text("scheme").lower() if kind == "http" else kind.lower()
    if by == "basic":
        placeholder = _variable(asked, name, "LOGIN", "user:password in base64")
        _put_authorization(asked, "Basic ", placeholder)
    elif by in ("bearer", "oauth2", "openidconnect"):
        _put_authorization(asked, "Bearer ", _variable(asked, name, "TOKEN", "a token, without `Bearer`"))
    else:
        raise UnsoundError(f"{by or 'a scheme without a type'} ({name}) is more than a field that can be written down")


def _put_key(asked: PartialRequest, name: str, scheme: DocumentNode) -> None:
    place, called = scheme.text("in"), scheme.text("name")
    if not called:
        raise UnsoundError(f"the key of {name} has no name")
    where = {"header": "field", "query": "parameter", "cookie": "cookie"}.get(place)
    if where is None or not (place == "query" or re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", called)):
        raise UnsoundError(f"the key of {name} is in {place!r}, as {called!r}")
    placeholder = _variable(asked, name, "KEY", f"the whole value of the {where} {called}")
    if place == "query":
        asked.query.append(joined([f"{percent(called)}=", placeholder]))
    elif place == "cookie":
        asked.cookies.append(joined([f"{called}=", placeholder]))
    elif asked.has_header(called):
        raise UnsoundError(f"two schemes want the field {called}")
    else:
        asked.headers[called] = placeholder


def _put_authorization(asked: PartialRequest, before: str, placeholder: PlaceholderText) -> None:
    if asked.has_header("authorization"):
        raise UnsoundError("two schemes want the field authorization")
    asked.headers["authorization"] = joined([before, placeholder])


def _variable(asked: PartialRequest, name: str, kind: str, what: str) -> PlaceholderText:
    spread = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    words = re.sub(r"[^A-Za-z0-9]+", "_", spread).strip("_").upper()
    # With its kind behind it, no name is one that every environment has, such as HOME or USER.
    called = f"API_{kind}" if words in ("", kind) else words if words.endswith(f"_{kind}") else f"{words}_{kind}"
    asked.variables[called] = f"{what}, for the security scheme {name}"
    return PlaceholderText(f"{{env.{called}}}")
