"""bombardier's output as text and as JSON (`-o json`).

Source: its README, and the templates of its output. For a run by number of requests the text lacks the duration.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.formats.shape import JsonDocument, LackingError, PrintedText, group_of
from touchstone.audit.published import PublishedResult, count, number, present, scaled, seconds
from touchstone.audit.samples import summed

_MICRO = 1e-6
_SAMPLED = "bombardier's rate is a mean of samples, and its text lacks the duration of a run by number of requests"
_HEAD = re.compile(
    r"^\s*Bombarding (\S+) (?:for (\S+)|with \d+ requests?(?:\(s\))?) using (\d+) connections?(?:\(s\))?"
    r"(?:(?!^\s*Bombarding)[\s\S])*?^\s*Statistics|^\s*Statistics\s+Avg\s+Stdev\s+Max\s*$",
    re.MULTILINE,
)
"""It prints the same line before its document, and with `-p r` its table alone."""
_RATE = re.compile(r"^\s*Reqs/sec\s+([\d.]+)", re.MULTILINE)
_LATENCY = re.compile(r"^\s*Latency\s+(\S+)\s+\S+\s+(\S+)", re.MULTILINE)
_PERCENTILE = re.compile(r"^\s+(\d+(?:\.\d+)?)%\s+([\d.]+\w+)\s*$", re.MULTILINE)
_CODES = re.compile(r"(\d)xx - (\d+)")
_OTHERS = re.compile(r"^\s*others - (\d+)", re.MULTILINE)


def _recognises(document: object) -> bool:
    result = document.get("result") if isinstance(document, dict) else None
    return isinstance(result, dict) and {"latency", "rps", "req2xx", "timeTakenSeconds"} <= result.keys()


def _read(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    spec, result = document.get("spec") or {}, document["result"]
    latency, duration = result.get("latency") or {}, number(result["timeTakenSeconds"])
    right, wrong = summed((str(n), count(result.get(f"req{n}xx"))) for n in range(1, 6))
    connections, offered = count(spec.get("numberOfConnections")), number(spec.get("rate"))
    marks = (latency.get("percentiles") or {}).items()
    url = spec.get("url")
    made = PublishedResult(
        entry=name,
        test=f"{url}, {connections} connections",
        tool="bombardier",
        load=f"{url} {connections} {spec.get('testDurationSeconds')} {spec.get('numberOfRequests')} {offered}",
        connections=connections,
        rate=(right + wrong) / duration if duration else number((result.get("rps") or {}).get("mean")),
        offered=offered,
        duration_s=duration,
        answered=right + wrong,
        errors=wrong,
        unanswered=count(result.get("others")),
        errors_in_rate=True,
        mean_s=scaled(latency.get("mean"), _MICRO),
        percentiles=present({float(p) / 100: scaled(value, _MICRO) for p, value in marks}),
        max_s=scaled(latency.get("max"), _MICRO),
        causes=(ONCE, UNCHECKED, HIDDEN_QUEUE),
    )
    return [made]


def _printed(text: str, name: str) -> PublishedResult:
    head, latency, rate = _HEAD.search(text), _LATENCY.search(text), group_of(_RATE, text)
    if head is None or rate is None or latency is None:
        raise LackingError("no lines `Reqs/sec` and `Latency`")
    right, wrong = summed((code, int(responses)) for code, responses in _CODES.findall(text))
    duration, load = seconds(head[2]) if head[2] else None, " ".join(head[0].partition("\n")[0].split())
    return PublishedResult(
        entry=name,
        test=f"{head[1]}, {head[3]} connections" if head[1] else "bombardier",
        tool="bombardier",
        load=load if head[1] else None,
        connections=int(head[3]) if head[3] else None,
        rate=(right + wrong) / duration if duration and right + wrong else float(rate),
        duration_s=duration,
        answered=right + wrong,
        errors=wrong,
        unanswered=int(group_of(_OTHERS, text) or 0),
        errors_in_rate=True,
        mean_s=seconds(latency[1]),
        percentiles=present({float(p) / 100: seconds(value) for p, value in _PERCENTILE.findall(text)}),
        max_s=seconds(latency[2]),
        lawless=None if duration else _SAMPLED,
        causes=(ONCE, UNCHECKED, HIDDEN_QUEUE),
    )


SHAPES = [JsonDocument("bombardier", _recognises, _read), PrintedText("bombardier", _HEAD, _printed)]
