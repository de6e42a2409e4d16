"""hey's summary. It does not say with how many connections it was run.

Source: hey's README, and the template of its summary; newer builds print `50%%`.
"""

from __future__ import annotations

import re

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.published import Publication, Published

_FIELD = r"^\s+{}:\s+([\d.]+)"
_PERCENTILE = re.compile(r"^\s+(\d+)%{1,2} in ([\d.]+) secs", re.MULTILINE)
_STATUS = re.compile(r"^\s+\[(\d{3})\]\s+(\d+) responses", re.MULTILINE)
_ERROR = re.compile(r"^\s+\[(\d+)\]\s+(?!\d+ responses)\S", re.MULTILINE)
_OK = ("2", "3")


def recognises(document: object) -> bool:
    """Whether it is hey's summary."""
    return (
        isinstance(document, str) and "Summary:" in document and "Slowest:" in document and "Requests/sec:" in document
    )


def read(document: str, name: str) -> Publication:
    """The one result. Its rate counts every response, and the errors that are told below it do not."""
    statuses = {code: int(count) for code, count in _STATUS.findall(document)}
    made = Published(
        entry=name,
        test="hey",
        rate=_field(document, "Requests/sec"),
        duration_s=_field(document, "Total"),
        answered=sum(statuses.values()),
        errors=sum(count for code, count in statuses.items() if not code.startswith(_OK)),
        unanswered=sum(int(count) for count in _ERROR.findall(document)),
        errors_in_rate=True,
        mean_s=_field(document, "Average"),
        percentiles={int(p) / 100: float(value) for p, value in _PERCENTILE.findall(document)},
        max_s=_field(document, "Slowest"),
    )
    return Publication("hey", [made], [ONCE, UNCHECKED, HIDDEN_QUEUE])


def _field(document: str, name: str) -> float:
    found = re.search(_FIELD.format(re.escape(name)), document, re.MULTILINE)
    if found is None:
        raise ValueError(f"no line {name!r}")
    return float(found[1])
