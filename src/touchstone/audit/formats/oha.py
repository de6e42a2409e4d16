"""oha's JSON (`--output-format json`).

Source: `schema.json` of its repository; times are in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.published import Publication, Published, number

_DEADLINE = "aborted due to deadline"
"""Requests under way when the time was up: not errors of the service."""


def recognises(document: object) -> bool:
    """Whether a document has this shape."""
    summary = document.get("summary") if isinstance(document, dict) else None
    return isinstance(summary, dict) and {"successRate", "requestsPerSec", "total"} <= summary.keys()


def read(document: Mapping[str, Any], name: str) -> Publication:
    """The one result; the file does not say with how many connections."""
    summary = document["summary"]
    statuses = {str(code): int(count) for code, count in (document.get("statusCodeDistribution") or {}).items()}
    failed = {str(what): int(count) for what, count in (document.get("errorDistribution") or {}).items()}
    told = {
        float(key.removeprefix("p")) / 100: number(value)
        for key, value in (document.get("latencyPercentiles") or {}).items()
    }
    made = Published(
        entry=name,
        test="oha",
        rate=number(summary["requestsPerSec"]),
        duration_s=number(summary["total"]),
        answered=sum(statuses.values()) if statuses else None,
        errors=sum(count for code, count in statuses.items() if code[0] not in "23"),
        unanswered=sum(count for what, count in failed.items() if what != _DEADLINE),
        errors_in_rate=True,
        mean_s=number(summary.get("average")),
        percentiles={p: value for p, value in told.items() if value is not None},
        max_s=number(summary.get("slowest")),
    )
    return Publication("oha", [made], [ONCE, UNCHECKED, HIDDEN_QUEUE])
