"""drill's statistics (`drill --stats`).

Source: its README, and `main.rs`; times are whole milliseconds.
"""

from __future__ import annotations

import re

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE
from touchstone.audit.formats.shape import PrintedText, field, group_of, required_group
from touchstone.audit.published import PublishedResult, present, seconds

_MILLI = 1e-3
_HEAD = re.compile(r"^\s*Time taken for tests[ \t]+[\d.]+ seconds", re.MULTILINE)
"""The lines of each request of a plan come before it, and begin with its name."""
_PERCENTILE = re.compile(r"^\s*(\d+(?:\.\d+)?)'th percentile\s+(\d+(?:\.\d+)?\w+)", re.MULTILINE)
_WORK = "drill's concurrency counts iterations of its plan, which may wait between requests"


def _read(text: str, name: str) -> PublishedResult:
    return PublishedResult(
        entry=name,
        test="drill",
        tool="drill",
        rate=float(_line(text, "Requests per second")),
        duration_s=float(_line(text, "Time taken for tests")),
        answered=int(_line(text, "Total requests")),
        errors=int(_line(text, "Failed requests")),
        errors_in_rate=True,
        mean_s=_time(text, "Average time per request"),
        percentiles=present(
            {0.5: _time(text, "Median time per request")}
            | {float(p) / 100: seconds(value) for p, value in _PERCENTILE.findall(text)}
        ),
        max_s=_time(text, "Max time per request"),
        step_s=_MILLI,
        lawless=_WORK,
        causes=(ONCE, HIDDEN_QUEUE),
    )


def _line(text: str, name: str) -> str:
    return required_group(field(name), text, name)


def _time(text: str, name: str) -> float | None:
    return seconds(group_of(field(name, r"([\d.]+\w+)"), text))


SHAPES = [PrintedText("drill", _HEAD, _read)]
