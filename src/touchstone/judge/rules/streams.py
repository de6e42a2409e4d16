"""Rules on streamed responses: events that did not come as they were sent."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import error_share, first_errors
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.events import Events
from touchstone.record.sample import Sample

_BUFFERED_LEAST = 10
"""Streams: fewer may be chance."""
_BUFFERED_SHARE = 0.5
_PROMPT = 0.1
"""A share of the time to the first event: an event whose stamp is younger was made just before it came."""
_TIMES = ["first_event_p50", "first_event_p99", "event_gap_p50", "event_gap_p99", "event_gap_max"]


@on_sample(
    "events-lost",
    Severity.INVALID,
    title="Events of streams, or echoes over WebSockets, were lost, doubled or out of order",
    threshold=(
        "an event is missing (its counter shows this, or the response ended without it), came twice, or came out of "
        "order. Or an echo over a WebSocket came twice, came after the echo of a later message, or is missing "
        "although later echoes came. It is invalid above the load's error allowance, otherwise suspect"
    ),
    threshold_reason=(
        "HTTP and WebSockets deliver bytes once and in order, so the service or a proxy in front of it caused the error"
    ),
    next_step=(
        "Read the first error below, which names the event. Look for a queue that drops events when a client is slow, "
        "a subscriber that joins late, and events that several threads write."
    ),
    own_failure=True,
)
def events_lost(sample: Sample, case: Case) -> Iterator[Fired]:
    """A stream without some of its events looks fast.

    Tools that count only bytes or responses do not notice the loss.
    """
    result = sample.result
    if result is None or result.events is None or not result.events.faulty:
        return
    events = result.events
    counts = ((events.lost, "lost"), (events.doubled, "doubled"), (events.disordered, "out of order"))
    echoes = any(request.get("websocket") for request in sample.spec.stated_requests)
    named = ", ".join(f"{number(count)} {what}" for count, what in counts if count)
    # An echo that is lost has timed out.
    lost = "timeout" if echoes and events.lost else "lost_event"
    first = first_errors(result, lost, "doubled_event", "disordered_event")
    why = f"; the first fault: {first[0]['why']}" if first and first[0]["why"] else ""
    above = error_share(result) > sample.spec.error_allowance
    came = "echoes" if echoes else "events"
    yield Fired(
        f"{named} among {number(events.count + events.lost)} {came}{why}",
        severity=Severity.INVALID if above else Severity.SUSPECT,
        evidence={"lost": events.lost, "doubled": events.doubled, "disordered": events.disordered}
        | {"events": events.count, "first_errors": first},
    )


@on_sample(
    "events-buffered",
    Severity.SUSPECT,
    title="Streams are buffered: their events come in one burst",
    threshold=(
        "at least 10 streams had 3 events or more and took 50 ms or more. In half of these streams, all events "
        "arrived within the last tenth of the stream's time. The rule does not fire if timestamps in the events show "
        "that the service made them then"
    ),
    threshold_reason=(
        "events that are made one after another arrive over the stream's time. A proxy, a framework or a compressor "
        "that buffers the response delivers all of them at its end"
    ),
    next_step=(
        "Send requests to the service without its proxy. Turn the proxy's response buffering off (`proxy_buffering "
        "off` or `X-Accel-Buffering: no` for nginx), flush after each event, and do not compress the stream. A "
        "service that makes all events before it sends the first one looks the same. Timestamps in the events show "
        "the difference."
    ),
)
def events_buffered(sample: Sample, case: Case) -> Iterator[Fired]:
    """All events of a buffered stream arrive together at its end.

    Time to first event and the gaps between events then show the buffer and not the service.
    """
    events = sample.result.events if sample.result else None
    if events is None or events.lasting < _BUFFERED_LEAST or _is_prompt(events):
        return
    part = events.in_burst / events.lasting
    if part < _BUFFERED_SHARE:
        return
    first = f": the first event came after {seconds(events.first.p50)} (p50)" if events.first.p50 is not None else ""
    yield Fired(
        f"in {share(part)} of {number(events.lasting)} streams, all events came within the last tenth of the "
        f"stream's time{first}",
        figures=_TIMES,
        evidence={"streams": events.lasting, "in_burst": events.in_burst, "first_event_p50": events.first.p50},
    )


def _is_prompt(events: Events) -> bool:
    """Whether stamps show that events were made just before they came."""
    delay, first = events.delay.p90, events.first.p50
    return delay is not None and first is not None and delay <= _PROMPT * first
