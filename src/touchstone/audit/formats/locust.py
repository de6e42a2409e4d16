"""Locust's `--csv`: the statistics of a run, and their history.

Source: its documentation, "Retrieve test statistics in CSV format", and `locust/stats.py`: response times are counted
in whole milliseconds, from 100 ms on in two significant digits. So a median may lie below the minimum, which is not
rounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE
from touchstone.audit.formats.shape import CsvTable, LackingError, Row, decimal, whole
from touchstone.audit.published import PublishedResult, present

_MILLI = 1e-3
_TOTAL = "Aggregated"
_PERCENTILE = re.compile(r"(\d+(?:\.\d+)?)%")
_USERS = "users are not connections, and a user may wait between requests"


def _statistics(rows: Iterable[Row], name: str) -> PublishedResult:
    row = _aggregated(rows)
    marks = present(
        {float(found[1]) / 100: _time(row, found[0]) for key in row if (found := _PERCENTILE.fullmatch(key))}
    )
    marks.setdefault(0.5, _time(row, "Median Response Time") or 0.0)
    marks = {p: value for p, value in marks.items() if p < 1}
    return _result(row, name, "", marks=marks, rate=decimal(row["Requests/s"]))


def _history(rows: Iterable[Row], name: str) -> PublishedResult:
    """The run as its last line has it. The percentiles of a line are those of its last seconds, not of the run."""
    lines = list(rows)
    row = _aggregated(lines)
    begun = [at for one in lines if (whole(one["Total Request Count"]) or 0) == 0 and (at := decimal(one["Timestamp"]))]
    end, total = decimal(row["Timestamp"]), whole(row["Total Request Count"])
    begin = max(begun, default=decimal(lines[0]["Timestamp"]))
    duration = end - begin if end is not None and begin is not None and end > begin else None
    median = present({0.5: _time(row, "Total Median Response Time")})
    rate = total / duration if total and duration else None
    return _result(row, name, "Total ", marks=median, rate=rate, duration=duration)


def _aggregated(rows: Iterable[Row]) -> Row:
    found = [row for row in rows if _TOTAL in {row["Name"], row.get("Type")}]
    if not found:
        raise LackingError(f"no row `{_TOTAL}`")
    return found[-1]


def _result(
    row: Row, name: str, prefix: str, *, marks: Mapping[float, float], rate: float | None, duration: float | None = None
) -> PublishedResult:
    count = "Total {} Count" if prefix else "{} Count"
    return PublishedResult(
        entry=name,
        test="locust",
        tool="Locust",
        rate=rate,
        duration_s=duration,
        answered=whole(row[count.format("Request")]),
        errors=whole(row[count.format("Failure")]),
        errors_in_rate=True,
        mean_s=_time(row, f"{prefix}Average Response Time"),
        percentiles=marks,
        min_s=_time(row, f"{prefix}Min Response Time"),
        max_s=_time(row, f"{prefix}Max Response Time"),
        step_s=_MILLI,
        digits=2,
        lawless=_USERS,
        causes=(ONCE, HIDDEN_QUEUE),
    )


def _time(row: Row, name: str) -> float | None:
    found = decimal(row.get(name))
    return None if found is None else found * _MILLI


SHAPES = [
    CsvTable("Locust", frozenset({"Name", "Request Count", "Failure Count", "Requests/s"}), _statistics),
    CsvTable("Locust", frozenset({"Timestamp", "User Count", "Name", "Total Request Count"}), _history),
]
