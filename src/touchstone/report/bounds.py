"""What each contender does at its bounds, in a sentence: the figures say where they are, not how a server refuses."""

from __future__ import annotations

import statistics

from touchstone.record.evidence.bounds import BoundsResult, HeadLimit, QuietConnection
from touchstone.report.view import PhaseAndLoad, View

_INSTEAD = {
    "closed": "by closing the connection",
    "reset": "by a reset",
    "not_http": "by bytes that are no HTTP response",
    "nothing": "by no answer at all",
}


def bounds_lines(view: View, place: PhaseAndLoad) -> list[str]:
    """A sentence for each contender at the phase `bounds`; nothing for another phase."""
    if place.phase != "bounds":
        return []
    found = [(name.name, sample.bounds) for name in view.measured for sample in view.samples(place, name.name)]
    return [_sentence(name, evidence.result) for name, evidence in found if evidence is not None]


def refusal(limit: HeadLimit | None) -> str:
    """How a server refuses what is too large: `with 431`, `by closing the connection`; nothing where it takes all."""
    if limit is None or limit.refused is None:
        return ""
    return f"with {limit.status}" if limit.status is not None else _INSTEAD[limit.instead or "closed"]


def farewell(quiet: list[QuietConnection]) -> str:
    """What a client of a quiet connection gets at its end: `408`, `a reset`, or `no response`."""
    seen = [f"{one.status}" if one.status else "a reset" if one.reset else "no response" for one in quiet]
    return statistics.mode(seen) if seen else "no response"


def _sentence(contender: str, result: BoundsResult) -> str:
    heads = {"fields": result.field, "numbers of fields": result.fields, "targets": result.target}
    refused = [f"{what} {refusal(limit)}" for what, limit in heads.items() if refusal(limit)]
    says = f"refuses larger {', '.join(refused)}" if refused else "refuses no head that was tried"
    ends = f"closes with {farewell(result.half_sent)} where half of a head came" * _all_closed(result.half_sent)
    return f"{contender} {', '.join(filter(None, [says, ends]))}."


def _all_closed(quiet: list[QuietConnection]) -> bool:
    return bool(quiet) and all(one.closed_s is not None for one in quiet)
