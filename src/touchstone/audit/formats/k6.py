"""k6's summary and its events: of `--summary-export`, of `handleSummary`, of `--out json` and of `--out csv`.

Source: its documentation, "End of test", "Custom summary", "JSON" and "CSV"; times are in milliseconds. Since version 1
`--new-machine-readable-summary` writes another shape, which is the only one of version 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE
from touchstone.audit.formats.shape import CsvTable, JsonDocument, JsonLines, Row, decimal
from touchstone.audit.published import PublishedResult, count, number, present, scaled, text
from touchstone.audit.samples import Samples

_MILLI = 1e-3
_PERCENTILE = re.compile(r"p\(?(\d+(?:\.\d+)?)\)?")
_USERS = "virtual users are not connections: a script may wait between requests, or send several at a time"


def _old(document: object) -> bool:
    metrics = document.get("metrics") if isinstance(document, dict) else None
    return isinstance(metrics, dict) and {"http_reqs", "http_req_duration"} <= metrics.keys()


def _read_old(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    """What `--summary-export` writes, or `handleSummary` is given, where a metric's values are one level deeper."""
    metrics = {
        metric: found["values"] if isinstance(found.get("values"), dict) else found
        for metric, found in document["metrics"].items()
    }
    checks = metrics.get("checks") or {}
    failed, passed = count(checks.get("fails")), count(checks.get("passes"))
    made = failed + passed if failed is not None and passed is not None else 0
    state = document.get("state")
    milliseconds = state.get("testRunDurationMs") if isinstance(state, dict) else None
    return [_result(name, None, metrics, scaled(milliseconds, _MILLI), (failed or 0, made) if made else None)]


def _new(document: object) -> bool:
    results = document.get("results") if isinstance(document, dict) else None
    metrics = results.get("metrics") if isinstance(results, dict) else None
    return isinstance(metrics, list) and any(isinstance(m, dict) and m.get("name") == "http_reqs" for m in metrics)


def _read_new(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    """The machine-readable summary of versions 1 and 2."""
    results, about, config = document["results"], document.get("metadata") or {}, document.get("config") or {}
    metrics = {metric["name"]: metric["values"] for metric in results["metrics"]}
    checks = results["checks"].get("metrics", []) if isinstance(results.get("checks"), dict) else []
    failed: Mapping[str, Any] = next((check["values"] for check in checks if check["name"] == "checks_failed"), {})
    made = count(failed.get("total"))
    version = text(about.get("k6_version") or about.get("k6Version"))
    duration = number(config.get("duration"))
    return [_result(name, version, metrics, duration, (count(failed.get("matches")) or 0, made) if made else None)]


def _result(
    name: str,
    version: str | None,
    metrics: Mapping[str, Mapping[str, Any]],
    duration_s: float | None,
    checks: tuple[int, int] | None,
) -> PublishedResult:
    """The one result. Bodies are looked at where the script checks them, which the summary does not say.

    Iterations that were dropped are those that an arrival rate asked for and no virtual user was free to begin.
    """
    requests, times = metrics["http_reqs"], metrics["http_req_duration"]
    failed, begun, lost = (metrics.get(key) or {} for key in ("http_req_failed", "iterations", "dropped_iterations"))
    total, dropped, kept = count(requests["count"]), number(lost.get("count")), number(begun.get("count"))
    rate = number(requests.get("rate"))
    if rate is None and total is not None and duration_s:
        rate = total / duration_s
    share = number(failed.get("rate", failed.get("value")))
    marks = {float(found[1]) / 100: times[key] for key in times if (found := _PERCENTILE.fullmatch(key))}
    offered = rate * (kept + dropped) / kept if rate and dropped and kept else None
    return PublishedResult(
        entry=name,
        test="k6",
        tool="k6",
        version=version,
        rate=rate,
        offered=offered,
        open_loop=offered is not None,
        duration_s=duration_s,
        answered=total,
        errors=round(share * total) if share is not None and total is not None else None,
        errors_in_rate=True,
        checks=checks,
        mean_s=scaled(times.get("avg"), _MILLI),
        percentiles=present({p: scaled(value, _MILLI) for p, value in {**marks, 0.5: times.get("med")}.items()}),
        min_s=scaled(times.get("min"), _MILLI),
        max_s=scaled(times.get("max"), _MILLI),
        lawless=_USERS,
        causes=(ONCE,) if offered else (ONCE, HIDDEN_QUEUE),
    )


def _event(document: object) -> bool:
    return isinstance(document, dict) and document.get("type") in ("Metric", "Point") and "metric" in document


def _lines(documents: Sequence[Mapping[str, Any]], name: str) -> PublishedResult:
    points = [(event["metric"], event["data"]) for event in documents if event["type"] == "Point"]
    return _of_events(
        name,
        ((metric, _time(data["time"]), number(data["value"]), (data.get("tags") or {}).get) for metric, data in points),
    )


def _rows(rows: Iterable[Row], name: str) -> PublishedResult:
    return _of_events(
        name, ((row["metric_name"], _time(row["timestamp"]), decimal(row["metric_value"]), row.get) for row in rows)
    )


_Event = tuple[str, float | None, float | None, Callable[[str], str | None]]
"""A metric, the second at which it was sent, its value, and its tags."""


def _of_events(name: str, events: Iterable[_Event]) -> PublishedResult:
    samples, checks = Samples(), [0, 0]
    whole = True
    for metric, at, value, tag in events:
        if metric == "checks" and value is not None:
            checks = [checks[0] + (not value), checks[1] + 1]
        if metric != "http_req_duration" or value is None:
            continue
        whole = whole and (at is None or at.is_integer())
        # A point's time is when the request ended.
        latency, answered = value * _MILLI, tag("status") not in {None, "", "0"}
        right = tag("expected_response") != "false"
        samples.add(None if at is None else at - latency, latency, right=right, answered=answered)
    samples.step_s = 1.0 if whole else 0.0
    return PublishedResult(
        entry=name,
        test="k6",
        tool="k6",
        checks=(checks[0], checks[1]) if checks[1] else None,
        lawless=_USERS,
        causes=(ONCE, HIDDEN_QUEUE),
        **samples.figures,
    )


def _time(text: str) -> float | None:
    """Seconds of a time stamp, which is RFC 3339 or counts seconds, by the tool's options."""
    if (plain := decimal(text)) is not None:
        return plain / 10 ** max(0, 3 * ((len(text.partition(".")[0]) - 9) // 3)) if plain > 0 else None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


SHAPES = [
    JsonDocument("k6", _old, _read_old),
    JsonDocument("k6", _new, _read_new),
    JsonLines("k6", _event, _lines),
    CsvTable("k6", frozenset({"metric_name", "timestamp", "metric_value"}), _rows),
]
