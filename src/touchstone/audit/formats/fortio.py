"""fortio's JSON (`fortio load -json FILE`).

Source: its README, and the types of its `periodic` and `fhttp` packages; durations are in seconds, those of a run in
nanoseconds. A percentile is somewhere in a bucket of its histogram. The first ten are as wide as its resolution, and
those behind them up to a quarter of where they begin, which moves a mean by less than the checks tolerate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.formats.shape import JsonDocument, decimal
from touchstone.audit.published import PublishedResult, count, number, present, scaled, text
from touchstone.audit.samples import summed


def _recognises(document: object) -> bool:
    return isinstance(document, dict) and {"ActualQPS", "DurationHistogram", "NumThreads"} <= document.keys()


def _read(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    times = document["DurationHistogram"]
    codes = {str(code): count(value) or 0 for code, value in (document.get("RetCodes") or {}).items()}
    unanswered = sum(codes.pop(code) for code in list(codes) if not code.isdigit() or code == "0")
    right, wrong = summed(codes.items())
    offered = decimal(str(document.get("RequestedQPS")))
    marks = {mark["Percentile"] / 100: number(mark.get("Value")) for mark in times.get("Percentiles") or []}
    connections = count(document["NumThreads"])
    return [
        PublishedResult(
            entry=name,
            test=f"{document.get('URL') or document.get('Labels') or 'fortio'}, {connections} connections",
            tool="fortio",
            version=text(document.get("Version")),
            connections=connections,
            rate=number(document["ActualQPS"]),
            offered=offered if offered and offered > 0 else None,
            duration_s=scaled(document.get("ActualDuration"), 1e-9),
            answered=right + wrong if codes else count(times.get("Count")),
            errors=wrong if codes else None,
            unanswered=unanswered if document.get("RetCodes") else None,
            errors_in_rate=True,
            mean_s=number(times.get("Avg")),
            percentiles=present({p: value for p, value in marks.items() if 0 < p < 1}),
            min_s=number(times.get("Min")),
            max_s=number(times.get("Max")),
            step_s=number(document.get("Resolution")) or 0.0,
            causes=(ONCE, UNCHECKED, HIDDEN_QUEUE),
        )
    ]


SHAPES = [JsonDocument("fortio", _recognises, _read)]
