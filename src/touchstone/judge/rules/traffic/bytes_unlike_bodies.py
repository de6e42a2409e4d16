"""Rule: the bytes received do not fit the bodies expected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, size
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import slots
from touchstone.judge.rule import SampleRule
from touchstone.record.engine import LoadResult
from touchstone.record.sample import Sample

PLACEHOLDER = re.compile(r"\{(counter|random|thread|fresh)\}")
_OF_ANY_LENGTH = re.compile(r"\{(row\.|capture\.|brace|key:|.\*)", re.DOTALL)
LONGEST = 20
"""Digits of the largest 64-bit counter; the other placeholders are shorter."""


class BytesUnlikeBodies(SampleRule):
    """Bytes a response are a check that needs no trust in the count of successes.

    An error page or half a body shows in them.
    """

    code = "bytes-unlike-bodies"
    severity = Severity.INVALID
    title = "The bytes received do not fit the bodies expected"
    threshold = (
        "fewer bytes received than bodies are long; or, where every body is stated exactly and none was wrong, a "
        "mean length outside what the templates can give"
    )
    threshold_reason = (
        "bodies that are stated byte for byte have a known length, up to the digits of a counter (20 at most); no "
        "tolerance is needed"
    )
    next_step = "Look at a raw response (`curl -i`); if it is right, the record is not: report it."
    own_failure = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or not result.counts.ok:
            return
        mean = result.bytes.body / result.counts.ok
        evidence: dict[str, Any] = {
            "bytes": result.bytes.model_dump(),
            "body_mean": mean,
            "ok": result.counts.ok,
        }
        if 0 < result.bytes.received < result.bytes.body:
            yield self.finding(
                f"{size(result.bytes.received)} were received, and the bodies alone are {size(result.bytes.body)}",
                sample=sample,
                evidence=evidence,
            )
            return
        lengths = _lengths(result)
        if lengths is None or result.counts.not_right:
            return
        low, high = lengths
        # Answers that came after the window's end may be counted on one side only.
        edge = slots(sample) / result.counts.ok
        if not low * (1 - edge) - 0.5 <= mean <= high * (1 + edge) + 0.5:
            yield self.finding(
                f"a right body is {low} to {high} bytes long, and the mean of those received is {number(mean)}",
                sample=sample,
                evidence=evidence | {"expected": [low, high]},
            )


def _lengths(result: LoadResult) -> tuple[int, int] | None:
    """The shortest and the longest right body of the mix; None if any is not stated exactly."""
    low, high = [], []
    for request in result.job.get("requests") or []:
        expected = (request.get("expect") or {}).get("body") or {}
        if expected.get("kind") != "exact" or request.get("method") == "HEAD":
            return None
        text = str(expected.get("value", ""))
        if "{{" in text:  # a record from when braces were doubled
            text = text.replace("{{", "{").replace("}}", "}")
        if _OF_ANY_LENGTH.search(text):
            return None
        bare = len(PLACEHOLDER.sub("", text).encode())
        low.append(bare)
        high.append(bare + LONGEST * len(PLACEHOLDER.findall(text)))
    return (min(low), max(high)) if low else None
