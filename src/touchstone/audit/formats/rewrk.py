"""rewrk's output as text and as JSON (`--json`); a document, or a round, for each result.

Source: its README, and `results.rs` of version 0.3.2; times are in milliseconds. Its percentiles are means:
its 99 % is the mean of the slowest hundredth, not the time that 99 % stay below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.formats.shape import JsonDocument, LackingError, PrintedText
from touchstone.audit.published import PublishedResult, count, number, scaled, seconds

_MILLI = 1e-3
_HEAD = re.compile(
    r"^\s*(?:Beginning round \d+\.\.\.\s+)?Benchmarking (\d+) connections? @ (\S+) for (.+?)(?:\(s\))?\s*$",
    re.MULTILINE,
)
_LATENCY = re.compile(r"^\s*Avg\s+Stdev\s+Min\s+Max\s*\n\s*(\S+)\s+\S+\s+(\S+)\s+(\S+)", re.MULTILINE)
_REQUESTS = re.compile(r"Total:\s+(\d+)\s+Req/Sec:\s+([\d.]+)")
_MEANS = (
    "percentiles-are-means",
    "rewrk's percentiles are means of the slowest share of its requests: they are left out, since they compare with "
    "the percentiles of no other tool",
)
_CAUSES = (ONCE, UNCHECKED, HIDDEN_QUEUE)


def _recognises(document: object) -> bool:
    return isinstance(document, dict) and {"latency_avg", "requests_avg", "requests_total"} <= document.keys()


def _read(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    return [
        PublishedResult(
            entry=name,
            test="rewrk",
            tool="rewrk",
            rate=number(document["requests_avg"]),
            answered=count(document["requests_total"]),
            errors_in_rate=True,
            mean_s=scaled(document["latency_avg"], _MILLI),
            min_s=scaled(document.get("latency_min"), _MILLI),
            max_s=scaled(document.get("latency_max"), _MILLI),
            causes=_CAUSES,
        )
    ]


def _printed(text: str, name: str) -> PublishedResult:
    head, latency, requests = _HEAD.search(text), _LATENCY.search(text), _REQUESTS.search(text)
    if head is None or latency is None or requests is None:
        raise LackingError("no lines `Latencies:` and `Requests:`")
    connections = int(head[1])
    return PublishedResult(
        entry=name,
        test=f"{head[2]}, {connections} connections",
        tool="rewrk",
        load=f"{head[2]} {connections} {head[3]}",
        connections=connections,
        rate=float(requests[2]),
        duration_s=seconds(head[3].replace(" second", "s")),
        answered=int(requests[1]),
        errors_in_rate=True,
        mean_s=seconds(latency[1]),
        min_s=seconds(latency[2]),
        max_s=seconds(latency[3]),
        causes=(*_CAUSES, _MEANS) if "Percentile" in text else _CAUSES,
    )


SHAPES = [JsonDocument("rewrk", _recognises, _read), PrintedText("rewrk", _HEAD, _printed)]
