"""hey's summary and its `-o csv`. Neither says with how many connections it was run.

Source: hey's README, and the template of its summary; newer builds print `50%%`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.formats.shape import CsvTable, PrintedText, Row, decimal, field, required_group
from touchstone.audit.published import PublishedResult
from touchstone.audit.samples import Samples, summed

_HEAD = re.compile(r"^\s*Summary:[ \t]*$(?!\n\s*(?:Name|Count|Success rate):)(?=[^=]{0,300}?Slowest:)", re.MULTILINE)
_PERCENTILE = re.compile(r"^\s+(\d+)%{1,2} in ([\d.]+) secs", re.MULTILINE)
_STATUS = re.compile(r"^\s+\[(\d{3})\]\s+(\d+) responses", re.MULTILINE)
_ERROR = re.compile(r"^\s+\[(\d+)\]\s+(?!\d+ responses)\S", re.MULTILINE)
_STEP_S = 1e-4
_CAUSES = (ONCE, UNCHECKED, HIDDEN_QUEUE)


def _read(text: str, name: str) -> PublishedResult:
    """The one result. Its rate counts every response, and the errors that are listed below it do not."""
    right, wrong = summed((code, int(count)) for code, count in _STATUS.findall(text))
    return PublishedResult(
        entry=name,
        test="hey",
        tool="hey",
        rate=_number(text, "Requests/sec"),
        duration_s=_number(text, "Total"),
        answered=right + wrong,
        errors=wrong,
        unanswered=sum(int(count) for count in _ERROR.findall(text)),
        errors_in_rate=True,
        mean_s=_number(text, "Average"),
        percentiles={int(p) / 100: float(value) for p, value in _PERCENTILE.findall(text)},
        min_s=_number(text, "Fastest"),
        max_s=_number(text, "Slowest"),
        step_s=_STEP_S,
        causes=_CAUSES,
    )


def _number(text: str, name: str) -> float:
    return float(required_group(field(re.escape(name)), text, f"{name}:"))


def _rows(rows: Iterable[Row], name: str) -> PublishedResult:
    samples = Samples()
    for row in rows:
        latency, status = decimal(row["response-time"]), row["status-code"]
        if latency is not None:
            samples.add(decimal(row["offset"]), latency, right=status.startswith(("2", "3")))
    return PublishedResult(entry=name, test="hey", tool="hey", step_s=_STEP_S, causes=_CAUSES, **samples.figures)


SHAPES = [
    PrintedText("hey", _HEAD, _read),
    CsvTable("hey", frozenset({"response-time", "DNS+dialup", "status-code", "offset"}), _rows),
]
