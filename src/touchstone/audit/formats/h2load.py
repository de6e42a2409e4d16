"""h2load's output.

Source: its manual, "Output". It prints neither its version nor `-m`, the requests that a connection has in flight.
"""

from __future__ import annotations

import re

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.formats.shape import LackingError, PrintedText, group_of
from touchstone.audit.published import PublishedResult, seconds

_HEAD = re.compile(
    r"^\s*(?:starting benchmark(?:(?!starting benchmark)[\s\S])*?^\s*finished in |finished in (?=\S+ \S+ req/s)|"
    r"starting benchmark\.)",
    re.MULTILINE,
)
_FINISHED = re.compile(r"^\s*finished in ([\d.]+\w+), ([\d.]+) req/s", re.MULTILINE)
_REQUESTS = re.compile(
    r"^\s*requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored", re.MULTILINE
)
_STATUS = re.compile(r"^\s*status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", re.MULTILINE)
_TIME = re.compile(r"^\s*time for request:\s+(\S+)\s+(\S+)\s+(\S+)", re.MULTILINE)
_CLIENTS = re.compile(r"(\d+) total client\(s\)")
_PROTOCOL = re.compile(r"Application protocol: (\S+)")


def _read(text: str, name: str) -> PublishedResult:
    """The one result. Its rate counts each response that ended, with errors."""
    finished, requests, status = _FINISHED.search(text), _REQUESTS.search(text), _STATUS.search(text)
    if finished is None or requests is None:
        raise LackingError("no line `finished in T, N req/s`, or no line `requests:`")
    times, clients = _TIME.search(text), sum(int(found) for found in _CLIENTS.findall(text)) or None
    errored = int(requests[4])
    protocol = group_of(_PROTOCOL, text)
    return PublishedResult(
        entry=name,
        test=f"{protocol or 'h2load'}{f', {clients} connections' if clients else ''}",
        tool="h2load",
        connections=clients,
        pipeline=None,
        rate=float(finished[2]),
        duration_s=seconds(finished[1]),
        answered=int(requests[1]) - errored,
        errors=int(status[3]) + int(status[4]) if status else int(requests[3]) - errored,
        unanswered=errored,
        errors_in_rate=True,
        mean_s=seconds(times[3]) if times else None,
        min_s=seconds(times[1]) if times else None,
        max_s=seconds(times[2]) if times else None,
        causes=(ONCE, UNCHECKED, HIDDEN_QUEUE),
    )


SHAPES = [PrintedText("h2load", _HEAD, _read)]
