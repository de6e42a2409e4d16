"""ghz's JSON (`-O json`, `-O pretty`) and its summary as text, of gRPC.

Source: its documentation, "Output formats"; times are in nanoseconds. The status `OK` is the only one that is right.
The average is of all calls, while percentiles, fastest and slowest are of those with `OK` alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.formats.shape import JsonDocument, PrintedText, field, required_group
from touchstone.audit.published import PublishedResult, count, number, present, scaled, seconds

_NANO = 1e-9
_CAUSES = (ONCE, UNCHECKED, HIDDEN_QUEUE)
_HEAD = re.compile(r"^\s*Summary:\s*$(?=(?:\n\s+Name:.*)?\n\s+Count:)", re.MULTILINE)
_TIME = r"([\d.]+ *\w+)"
_PERCENTILE = re.compile(rf"^\s+(\d+(?:\.\d+)?) % in {_TIME}", re.MULTILINE)
_STATUS = re.compile(r"^\s+\[(\w+)\]\s+(\d+) responses", re.MULTILINE)
_UNANSWERED = {"Unavailable", "DeadlineExceeded", "Canceled"}
"""What gRPC's client says of a call without a response, and a server may say of one with."""


def _recognises(document: object) -> bool:
    return isinstance(document, dict) and {"statusCodeDistribution", "latencyDistribution", "rps"} <= document.keys()


def _read(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    options = document.get("options") or {}
    statuses = {
        str(code): count(responses) or 0 for code, responses in (document["statusCodeDistribution"] or {}).items()
    }
    marks = {mark["percentage"] / 100: mark.get("latency") for mark in document["latencyDistribution"] or []}
    offered = number(options.get("rps"))
    return [
        _result(
            name,
            statuses,
            test=f"{options.get('call') or 'ghz'}, {count(options.get('concurrency'))} at a time",
            connections=count(options.get("concurrency")),
            offered=offered or None,
            open_loop=options.get("async") is True,
            rate=number(document["rps"]),
            duration_s=scaled(document.get("total"), _NANO),
            answered=count(document.get("count")),
            mean_s=scaled(document.get("average"), _NANO),
            percentiles=present({p: scaled(value, _NANO) for p, value in marks.items()}),
            min_s=scaled(document.get("fastest"), _NANO),
            max_s=scaled(document.get("slowest"), _NANO),
        )
    ]


def _printed(text: str, name: str) -> PublishedResult:
    return _result(
        name,
        {code: int(responses) for code, responses in _STATUS.findall(text)},
        test="ghz",
        rate=float(required_group(field("Requests/sec"), text, "Requests/sec:")),
        duration_s=_time(text, "Total"),
        answered=int(required_group(field("Count"), text, "Count:")),
        mean_s=_time(text, "Average"),
        percentiles=present({float(p) / 100: seconds(value) for p, value in _PERCENTILE.findall(text)}),
        min_s=_time(text, "Fastest"),
        max_s=_time(text, "Slowest"),
        step_s=1e-5,
    )


def _time(text: str, name: str) -> float | None:
    return seconds(required_group(field(name, _TIME), text, f"{name}:"))


def _result(name: str, statuses: Mapping[str, int], **figures: Any) -> PublishedResult:
    unanswered = sum(responses for code, responses in statuses.items() if code in _UNANSWERED)
    wrong = sum(responses for code, responses in statuses.items() if code not in {"OK", *_UNANSWERED})
    return PublishedResult(
        entry=name,
        tool="ghz",
        errors=wrong,
        unanswered=unanswered,
        errors_in_rate=True,
        mean_of_all=wrong + unanswered > 0,
        causes=_CAUSES,
        **figures,
    )


SHAPES = [JsonDocument("ghz", _recognises, _read), PrintedText("ghz", _HEAD, _printed)]
