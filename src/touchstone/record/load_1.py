"""Reads load results and slices of engines that counted errors of connections among those of requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OF_CONNECTIONS = ("refused", "connect_failed", "closed_idle")
_WRONG = ("wrong_status", "wrong_header", "wrong_body")


def upgraded_load(document: Mapping[str, Any]) -> dict[str, Any]:
    """A load result's document with the errors of connections among the connections.

    The errors of its series stay as they are: they count both, and `touchstone.load/1` stays its schema.
    """
    result = dict(document)
    counts = dict(result.get("counts") or {})
    if "failed" in counts or not isinstance(errors := counts.get("errors", {}), Mapping):
        return result
    of_requests, of_connections = _apart(errors)
    counts["errors"] = of_requests
    counts["wrong"] = sum(of_requests.get(name, 0) for name in _WRONG)
    counts["failed"] = sum(of_requests.values()) - counts["wrong"] + (counts.get("unanswered") or 0)
    result["counts"] = counts
    result["connections"] = {"errors": of_connections, **(result.get("connections") or {})}
    return result


def upgraded_slice(document: Mapping[str, Any]) -> dict[str, Any]:
    """A slice's document with the errors of connections apart."""
    of_requests, of_connections = _apart(document.get("errors") or {})
    if not of_connections:
        return dict(document)
    return {**document, "errors": of_requests, "connection_errors": of_connections}


def _apart(errors: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    of_connections = {name: errors[name] for name in _OF_CONNECTIONS if name in errors}
    return {name: count for name, count in errors.items() if name not in of_connections}, of_connections
