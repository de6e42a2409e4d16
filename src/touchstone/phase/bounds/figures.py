"""The figures of the bounds, from what the engine says."""

from __future__ import annotations

import statistics

from touchstone.record.evidence.bounds import BoundsEvidence, HeadLimit, QuietConnection


def bounds_figures(evidence: BoundsEvidence) -> tuple[dict[str, float], dict[str, str]]:
    """Figures in seconds, bytes and counts, and the reason for each bound that was not found."""
    figures: dict[str, float] = {}
    missing: dict[str, str] = {}
    result = evidence.result
    for name, quiet in (("idle", result.idle), ("silent", result.silent), ("half_sent", result.half_sent)):
        closed = closing_time(quiet)
        if closed is None:
            missing[f"bounds_{name}_s"] = f"the connection was still open after {evidence.watch_s:g} s"
        else:
            figures[f"bounds_{name}_s"] = closed
    if result.responses is not None:
        if result.responses.ended:
            figures["bounds_responses"] = float(result.responses.count)
        else:
            missing["bounds_responses"] = f"the connection was still open after {result.responses.count} responses"
    heads: dict[str, HeadLimit | None] = {"field": result.field, "fields": result.fields, "target": result.target}
    for name, limit in heads.items():
        if limit is None:
            continue
        if limit.refused is None:
            missing[f"bounds_{name}"] = f"all that was tried was accepted, up to {limit.accepted:,}"
        else:
            figures[f"bounds_{name}"] = float(limit.accepted)
    return figures, missing


def closing_time(quiet: list[QuietConnection]) -> float | None:
    """The median of the times after which connections were closed; None if one was not."""
    times = [one.closed_s for one in quiet if one.closed_s is not None]
    return statistics.median(times) if times and len(times) == len(quiet) else None
