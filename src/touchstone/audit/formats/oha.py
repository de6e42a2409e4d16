"""oha's JSON (`--output-format json`) and its summary as text.

Source: `schema.json` and `printer.rs` of its repository; times are in seconds, in the newest text each in its own unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.formats.shape import JsonDocument, PrintedText, field, group_of, required_group
from touchstone.audit.published import PublishedResult, count, number, present, seconds
from touchstone.audit.samples import summed

_DEADLINE = "aborted due to deadline"
"""Requests in flight when the time was up: not errors of the service."""
_CAUSES = (ONCE, UNCHECKED, HIDDEN_QUEUE)
_HEAD = re.compile(r"^\s*Summary:\s*$(?=\n\s+Success rate:)", re.MULTILINE)
_TIME = r"([\d.]+ *(?:10 )?[a-zµ]+)"
_DISTRIBUTION = re.compile(r"^\s*Response time distribution:\s*\n((?:\s+[\d.]+% in .*\n?)*)", re.MULTILINE)
"""Percentiles of all responses; those of right and wrong ones may follow."""
_PERCENTILE = re.compile(rf"^\s+(\d+(?:\.\d+)?)% in {_TIME}", re.MULTILINE)
_STATUS = re.compile(r"^\s+\[(\d{3})\]\s+(\d+) responses", re.MULTILINE)
_ERROR = re.compile(r"^\s+\[(\d+)\]\s+(?!\d+ responses)(\S.*)$", re.MULTILINE)


def _recognises(document: object) -> bool:
    summary = document.get("summary") if isinstance(document, dict) else None
    return isinstance(summary, dict) and {"successRate", "requestsPerSec", "total"} <= summary.keys()


def _read(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    """The one result; the file does not say with how many connections."""
    summary = document["summary"]
    statuses, failed = document.get("statusCodeDistribution"), document.get("errorDistribution")
    right, wrong = summed((code, count(value)) for code, value in (statuses or {}).items())
    marks = {
        float(key.removeprefix("p")) / 100: number(value)
        for key, value in (document.get("latencyPercentiles") or {}).items()
    }
    made = PublishedResult(
        entry=name,
        test="oha",
        tool="oha",
        rate=number(summary["requestsPerSec"]),
        duration_s=number(summary["total"]),
        answered=right + wrong if statuses else None,
        errors=wrong if statuses else None,
        unanswered=sum(count(value) or 0 for what, value in failed.items() if what != _DEADLINE) if failed else None,
        errors_in_rate=True,
        mean_s=number(summary.get("average")),
        percentiles=present(marks),
        min_s=number(summary.get("fastest")),
        max_s=number(summary.get("slowest")),
        causes=_CAUSES,
    )
    return [made]


def _printed(text: str, name: str) -> PublishedResult:
    right, wrong = summed((code, int(responses)) for code, responses in _STATUS.findall(text))
    average = required_group(field("Average", _TIME), text, "Average:")
    times = group_of(_DISTRIBUTION, text) or ""
    return PublishedResult(
        entry=name,
        test="oha",
        tool="oha",
        rate=float(required_group(field("Requests/sec"), text, "Requests/sec:")),
        duration_s=_time(text, "Total"),
        answered=right + wrong,
        errors=wrong,
        unanswered=sum(int(responses) for responses, what in _ERROR.findall(text) if what.strip() != _DEADLINE),
        errors_in_rate=True,
        mean_s=_seconds(average),
        percentiles=present({float(p) / 100: _seconds(value) for p, value in _PERCENTILE.findall(times)}),
        min_s=_time(text, "Fastest"),
        max_s=_time(text, "Slowest"),
        step_s=_seconds(f"0.0001{average.lstrip('0123456789.')}") or 0.0,
        causes=_CAUSES,
    )


def _time(text: str, name: str) -> float | None:
    return _seconds(required_group(field(name, _TIME), text, f"{name}:"))


def _seconds(text: str) -> float | None:
    """A time in oha's units, of which some are tens: `1.5000 10 sec`."""
    found = seconds(text.replace(" 10 ", " "))
    return found * 10 if found is not None and " 10 " in text else found


SHAPES = [JsonDocument("oha", _recognises, _read), PrintedText("oha", _HEAD, _printed)]
