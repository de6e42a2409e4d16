"""What a failing dependency costs with each contender, in a sentence a fault."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from touchstone.judge.language.quantity import share
from touchstone.judge.reading.disturbances import disturbances
from touchstone.record.evidence.disturb import DisturbEvidence, Meanwhile
from touchstone.report.format import seconds
from touchstone.report.view import PhaseAndLoad, View


def disturb_lines(view: View, place: PhaseAndLoad) -> list[str]:
    """A sentence for each contender and fault at a place of the phase `disturb`; else nothing."""
    if place.phase != "disturb":
        return []
    found = [(one.name, disturbances(view.samples(place, one.name))) for one in view.measured]
    lines = [line for name, loads in found if loads for line in _sentences(name, loads)]
    relays = [load.relay_s for _, loads in found for load in loads if load.relay_s is not None]
    if relays:
        lines.append(f"The relay in front of the dependency adds {seconds(statistics.median(relays))} to a round trip.")
    return lines


def _sentences(contender: str, loads: Sequence[DisturbEvidence]) -> list[str]:
    died = [load.died for load in loads if load.died is not None]
    if died:
        return [f"{contender} {died[0]} in {len(died)} of {len(loads)} loads."]
    sentences = []
    for faults in zip(*(load.faults for load in loads), strict=False):
        first = faults[0]
        parts = [_part("requests that need it", [fault.needing for fault in faults])]
        parts.append(_part("other requests", [fault.others for fault in faults]))
        times = [fault.recovery_s for fault in faults if fault.recovery_s is not None]
        back = (
            f"the service recovers {seconds(statistics.median(times))} after the fault"
            if len(times) == len(faults)
            else f"the service does not recover in {len(faults) - len(times)} of {len(faults)} loads"
        )
        meanwhile = ", ".join(part for part in parts if part)
        sentences.append(f"{contender}, while {first.in_words} for {seconds(first.for_s)}: {meanwhile}; {back}.")
    return sentences


def _part(what: str, parts: Sequence[Meanwhile]) -> str:
    """Errors and p99 of some requests; empty if there were none."""
    errors = _median(part.error_share for part in parts)
    p99 = _median(part.p99 for part in parts)
    if errors is None:
        return ""
    failing = f"{share(errors)} of the {what} fail"
    return f"{failing} (p99 {seconds(p99)})" if p99 is not None else failing


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
