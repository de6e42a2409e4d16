"""k6's summary: of `--summary-export`, or what `handleSummary` is given.

Source: its documentation, "Custom summary"; times are in milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE
from touchstone.audit.published import Publication, Published, number

_MILLI = 1e-3
_PERCENTILE = re.compile(r"p\(([\d.]+)\)")


def recognises(document: object) -> bool:
    """Whether a document has this shape."""
    metrics = document.get("metrics") if isinstance(document, dict) else None
    return isinstance(metrics, dict) and {"http_reqs", "http_req_duration"} <= metrics.keys()


def read(document: Mapping[str, Any], name: str) -> Publication:
    """The one result. Bodies are looked at where the script checks them, which the summary does not say.

    Virtual users are no connections: a script may wait between requests, or send several at a time. Iterations that
    were dropped are those that an arrival rate asked for and no virtual user was free to begin.
    """
    requests, times = (_values(document, metric) for metric in ("http_reqs", "http_req_duration"))
    failed = _values(document, "http_req_failed")
    total, share = int(number(requests["count"]) or 0), number(failed.get("rate", failed.get("value")))
    state = document.get("state")
    milliseconds = number(state.get("testRunDurationMs")) if isinstance(state, dict) else None
    marks = {float(found[1]) / 100: number(times[key]) for key in times if (found := _PERCENTILE.fullmatch(key))}
    marks[0.5] = number(times.get("med"))
    checks, begun, dropped = (_values(document, name) for name in ("checks", "iterations", "dropped_iterations"))
    lost, kept = number(dropped.get("count")), number(begun.get("count"))
    rate = number(requests["rate"])
    mean, highest = number(times.get("avg")), number(times.get("max"))
    made = Published(
        entry=name,
        test="k6",
        rate=rate,
        offered=rate * (kept + lost) / kept if rate and lost and kept else None,
        duration_s=milliseconds * _MILLI if milliseconds is not None else None,
        answered=total,
        errors=round(share * total) if share is not None else None,
        errors_in_rate=True,
        checks=_checks(checks),
        mean_s=mean * _MILLI if mean is not None else None,
        percentiles={p: value * _MILLI for p, value in marks.items() if value is not None},
        max_s=highest * _MILLI if highest is not None else None,
    )
    return Publication("k6", [made], [ONCE, HIDDEN_QUEUE] if made.closed else [ONCE])


def _checks(told: Mapping[str, Any]) -> tuple[int, int] | None:
    """Failed and made; none where the script has none."""
    failed, passed = number(told.get("fails")), number(told.get("passes"))
    return (round(failed), round(failed + passed)) if failed is not None and passed is not None else None


def _values(document: Mapping[str, Any], metric: str) -> Mapping[str, Any]:
    """A metric's values, which stand one level deeper in what `handleSummary` is given."""
    found = document["metrics"].get(metric) or {}
    return found["values"] if isinstance(found.get("values"), dict) else found
