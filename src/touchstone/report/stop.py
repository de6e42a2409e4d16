"""What each contender does when it gets SIGTERM, in a sentence."""

from __future__ import annotations

import statistics

from touchstone.judge.reading.stops import from_signal, stops
from touchstone.record.evidence.stop import StopEvidence
from touchstone.report.format import plural, seconds, size
from touchstone.report.view import PhaseAndLoad, View

_WITH = {
    "idle": "with connections at rest",
    "in-flight": "under load",
    "slow": "with slow requests in flight",
    "streams": "with open streams",
    "rolling": "replaced by a second process behind a relay",
    "rolling-port": "replaced by a second process at the same port",
    "stuck": "with clients that send nothing or half of a request",
}


def stop_lines(view: View, place: PhaseAndLoad) -> list[str]:
    """A sentence for each contender at a place of the phase `stop`; nothing for another phase."""
    if place.phase != "stop":
        return []
    ends = {contender.name: stops(view.samples(place, contender.name)) for contender in view.measured}
    return [_sentence(name, place.load or "", found) for name, found in ends.items() if found]


def _sentence(contender: str, case: str, ends: list[StopEvidence]) -> str:
    times = [end.result.stop_s for end in ends if end.result.stop_s is not None]
    ended = (
        f"ends {seconds(statistics.median(times))} after SIGTERM"
        if len(times) == len(ends)
        else f"had to be killed in {len(ends) - len(times)} of {len(ends)} stops"
    )
    total = from_signal(ends)
    if streams := [end.result.streams for end in ends if end.result.streams.open]:
        cut, opened = sum(one.cut for one in streams), sum(one.open for one in streams)
        left = sum(one.left for one in streams)
        counts = f"{opened - cut - left} ended, {cut} cut" + (f", {left} left open" if left else "")
        return f"{contender}, {_WITH[case]}, {ended}; of {plural(opened, 'stream')}: {counts}."
    if not total.sent:
        return f"{contender}, {_WITH[case]}, {ended}."
    parts = [f"{total.right} answered", f"{total.turned_away} refused"]
    parts += [f"{total.closed_under} on connections closed under them"] * bool(total.closed_under)
    parts += [f"{total.lost} lost" if total.lost else "none lost"]
    sentence = f"{contender}, {_WITH[case]}, {ended}; of {plural(total.sent, 'request')} then: {', '.join(parts)}."
    return f"{sentence}{_handover(ends)}"


def _handover(ends: list[StopEvidence]) -> str:
    """What the replacement cost, with a space before; empty where no process took over."""
    found = [end.result.handover for end in ends if end.result.handover is not None]
    if not found:
        return ""
    gap = f" The longest time without an answer is {seconds(max(one.gap_s for one in found))}"
    one = [handover.memory_bytes for handover in found if handover.memory_bytes is not None]
    both = [handover.both_bytes for handover in found if handover.both_bytes is not None]
    if not one or not both:
        return f"{gap}."
    return f"{gap}; one process holds {size(statistics.median(one))}, both {size(statistics.median(both))}."
