"""Files of known load tools that cannot be read, each with the export that can be."""

from __future__ import annotations

import re
from dataclasses import dataclass

from touchstone.failure import UsageError


@dataclass(frozen=True)
class Unreadable:
    """What a file is, and what to do in its place."""

    starts: re.Pattern[str]
    what: str
    instead: str


def _any(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


_LOCUST = "run `locust --csv NAME`, and give NAME_stats.csv"
_GATLINGS = "give what Gatling prints at its end, from `Global Information` on"
_VEGETA = "give what `vegeta report -type=json` makes of it"
_KNOWN = (
    Unreadable(
        _any(r"^\s*(?:█ TOTAL RESULTS|http_req_duration\.{2,}:)"),
        "k6's printed summary",
        "run `k6 run --summary-export FILE`, and give that file",
    ),
    Unreadable(_any(r"<th [^>]*>Server Software:</th>"), "ab's HTML table (-w)", "run ab without -w"),
    Unreadable(_any(r"<title>[^<]*k6\b"), "k6's HTML report", "run `k6 run --summary-export FILE`, and give that file"),
    Unreadable(_any(r"<title>[^<]*Locust|window\.templateArgs"), "Locust's HTML report", _LOCUST),
    Unreadable(_any(r"^Type\s+Name\s+# reqs\s+# fails"), "Locust's printed table", _LOCUST),
    Unreadable(_any(r"^(?:Method,Name,Error|Count,Message,Traceback)"), "Locust's list of failures", _LOCUST),
    Unreadable(_any(r"^\s*\"num_reqs_per_sec\""), "Locust's JSON", _LOCUST),
    Unreadable(_any(r"<title>[^<]*Gatling"), "Gatling's HTML report", _GATLINGS),
    Unreadable(_any(r"<jmeterTestPlan"), "JMeter's test plan, which holds no result", "run `jmeter -l FILE.jtl`"),
    Unreadable(
        _any(r"<title>[^<]*JMeter"), "JMeter's HTML dashboard", "give the JTL file, or statistics.json next to the page"
    ),
    Unreadable(
        _any(r"^\s*(?:summary|Generate Summary Results) [+=]\s+\d+"),
        "JMeter's printed summary",
        ("run `jmeter -l FILE.jtl`, and give that file"),
    ),
    Unreadable(
        _any(r"^\d{13},\d+,"),
        "JMeter's results without the line of names",
        ("run `jmeter -Jjmeter.save.saveservice.print_field_names=true -l FILE.jtl`, and give that file"),
    ),
    Unreadable(
        _any(r"^(?:Summary report @|All VUs finished|http\.response_time:$)"),
        "Artillery's printed report",
        ("run `artillery run --output FILE`, and give that file"),
    ),
    Unreadable(_any(r"^\d{19},\d{1,3},\d+,"), "vegeta's results as CSV", _VEGETA),
    Unreadable(_any(r"^Bucket\s+#\s+%\s+Histogram"), "vegeta's histogram, which has no rate", _VEGETA),
    Unreadable(
        _any(r"^(?:Fortio [\d.]+ running at|All done \d+ calls)"),
        "fortio's printed result",
        ("run `fortio load -json FILE`, and give that file"),
    ),
    Unreadable(
        _any(r"^httperf --|^Total: connections \d+ requests"),
        "httperf's output",
        ("give the result of a tool that prints percentiles; httperf has no other output"),
    ),
    Unreadable(_any(r"^duration \(ms\),status,error"), "ghz's CSV, which has no rate", "run `ghz -O json`"),
    Unreadable(
        _any(r"^\s*Value\s+Percentile\s+TotalCount"),
        "a plot of an HdrHistogram, which has no unit and no rate",
        ("give the output that it was made from"),
    ),
    Unreadable(_any(r"\A\s*<(?:!DOCTYPE html|html)\b"), "an HTML page", "give the tool's JSON, CSV or printed output"),
)
_GATLING = re.compile(rb"\A\0\0\0\0[\x01-\x10](\d+\.\d+\.[\w.-]+?)\0")
_BINARY = (
    (re.compile(rb"\A\x1f\x8b|\APK\x03\x04|\A\x28\xb5\x2f\xfd|\ABZh"), "is compressed", "unpack it"),
    (
        re.compile(rb"\A.{0,40}Result\x01\xff", re.DOTALL),
        "holds vegeta's results in their binary form",
        ("give `vegeta report -type=json` of them"),
    ),
)


def refused(where: str, text: str) -> UsageError | None:
    """The error about a text of a known tool that cannot be read. None if no tool is known by it."""
    for one in _KNOWN:
        if one.starts.search(text):
            return UsageError(f"is {one.what}, which cannot be read", where=where, fix=one.instead)
    return None


def refused_binary(where: str, data: bytes) -> UsageError:
    """The error about a file that is not text."""
    if found := _GATLING.match(data):
        what = f"is simulation.log of Gatling {found[1].decode()}, whose form is binary and its own"
        return UsageError(what, where=where, fix=_GATLINGS)
    for pattern, what, fix in _BINARY:
        if pattern.match(data):
            return UsageError(what, where=where, fix=fix)
    return UsageError("is not text", where=where, fix="name a result file")
