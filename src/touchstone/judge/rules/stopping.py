"""Rules on stops: what a service did with its clients when it got SIGTERM."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number, seconds
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.stops import from_signal, stops
from touchstone.judge.rule import Fired, on_group

_STOP = ("stop",)
_LOST = {
    "cut": "read but not answered",
    "broken": "answered in part",
    "unanswered": "without a response when the process ended",
    "wrong": "answered with an unexpected response",
    "failed": "failed on their way",
}


@on_group(
    "requests-lost-at-stop",
    Severity.NOTE,
    title="Requests are lost when the service gets SIGTERM",
    threshold="a request was in progress at SIGTERM or sent after it, was accepted, and got no right response",
    threshold_reason="a service may refuse a request, but must answer each request that it has accepted",
    next_step=(
        "On SIGTERM, stop listening, respond to all accepted requests, and only then end the process: wait until the "
        "server's shutdown call has returned. Behind a load balancer, keep serving until the load balancer sends no "
        "more requests."
    ),
    phases=_STOP,
)
def requests_lost_at_stop(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """Users lose these requests at each deployment. A client cannot know whether the work was done."""
    ends = stops(group.samples)
    total = from_signal(ends)
    if total.lost:
        kinds = [f"{number(count)} {words}" for kind, words in _LOST.items() if (count := getattr(total, kind))]
        yield Fired(
            f"{number(total.lost)} of {number(total.sent)} requests in {len(ends)} stops were lost: {', '.join(kinds)}",
            evidence=total.model_dump(),
        )


@on_group(
    "closes-under-requests",
    Severity.NOTE,
    title="At SIGTERM the service closes connections on which requests are arriving",
    threshold="a request was sent on a connection that was closed before the service had read the request",
    threshold_reason=(
        "under a steady load, a service loses no such request if it answers with `Connection: close` for a while "
        "before it closes connections"
    ),
    next_step=(
        "Announce the end: after SIGTERM, answer with `Connection: close`, or send GOAWAY over HTTP/2. Close idle "
        "connections only after the longest time that clients leave between two requests. Clients should repeat "
        "idempotent requests. When a listener is closed, the kernel resets the connections that wait to be accepted: "
        "take the service out of the load balancer before SIGTERM."
    ),
    phases=_STOP,
)
def closes_under_requests(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """A client that reuses connections and does not retry gets an error for each such request.

    RFC 9112, section 9.5, warns of such requests. A new connection that the kernel has completed and the service has
    not accepted ends in the same way: the service never sees it.
    """
    ends = stops(group.samples)
    total = from_signal(ends)
    if total.closed_under:
        kinds = ((total.stale, "on kept connections"), (total.unread, "on new connections that it had not accepted"))
        yield Fired(
            f"{number(total.closed_under)} of {number(total.sent)} requests in {len(ends)} stops arrived while the "
            f"service was closing: {', '.join(f'{number(count)} {words}' for count, words in kinds if count)}",
            evidence=total.model_dump(),
        )


@on_group(
    "streams-cut-at-stop",
    Severity.NOTE,
    title="Open streams are cut when the service gets SIGTERM",
    threshold="the connection of a stream was closed before the response was complete, or without a close frame",
    threshold_reason=(
        "HTTP and WebSockets both have a way to end a stream properly (RFC 9112, section 8; RFC 6455, section 7)"
    ),
    next_step=(
        "On SIGTERM end each stream: finish the response, so that its last chunk is sent, and send a close frame with "
        "code 1001 on each WebSocket. Spread clients that connect again over some seconds."
    ),
    phases=_STOP,
)
def streams_cut_at_stop(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """For the client, a cut stream looks like a network failure.

    The client reports an error, or waits before it connects again.
    """
    ends = stops(group.samples)
    cut, opened = (sum(getattr(end.result.streams, part) for end in ends) for part in ("cut", "open"))
    if cut:
        yield Fired(f"{number(cut)} of {number(opened)} open streams in {len(ends)} stops were cut")


_HELD_UP_S = 1.0
_WAITING = {"idle": "idle connections", "stuck": "clients that send nothing, or half of a request"}


@on_group(
    "stop-held-up-by-clients",
    Severity.NOTE,
    title="Idle clients delay the end of the service",
    threshold=(
        f"the median time from SIGTERM to the end of the process is more than {_HELD_UP_S:g} s, although no request "
        "is in progress"
    ),
    threshold_reason="without a request in progress there is nothing to finish. No runtime needs a second to end",
    next_step=(
        "On SIGTERM, close connections without a complete request in progress. Or give the shutdown a time limit "
        "below that of the deployment."
    ),
    phases=_STOP,
)
def stop_held_up_by_clients(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """One client that keeps a connection open without sending a request can make each deployment slow."""
    times = [end.result.stop_s for end in stops(group.samples) if end.result.stop_s is not None]
    if group.load in _WAITING and times and (median := statistics.median(times)) > _HELD_UP_S:
        yield Fired(
            f"the service ended {seconds(median)} after SIGTERM, although it had only {_WAITING[group.load]}",
            evidence={"stop_s": times},
        )


@on_group(
    "outlives-stop",
    Severity.NOTE,
    title="A process or a port of the service remains after its end",
    threshold=(
        "after the service's main process has ended, another process of its tree still runs, or its port still "
        "accepts a connection"
    ),
    threshold_reason="for a service manager, the service has ended when its main process has ended",
    next_step=(
        "In scripts, start the server by `exec`, so that the server itself gets the signal. A parent process must end "
        "its children and wait for them."
    ),
    phases=_STOP,
)
def outlives_stop(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """The next process finds the port in use, or two versions respond at once."""
    ends = stops(group.samples)
    survivors = [end for end in ends if end.survivors or end.result.listens_after]
    if survivors:
        left = list(dict.fromkeys(name for end in survivors for name in end.survivors))
        left += ["a listener on its port"] * any(end.result.listens_after for end in survivors)
        yield Fired(f"{' and '.join(left)} remained after {len(survivors)} of {len(ends)} stops")


@on_group(
    "work-without-response",
    Severity.NOTE,
    title="Work was done for requests that got no response",
    threshold="during a stop, the proof counts more units of work than there are right responses",
    threshold_reason="the proof counts rows, hits or offsets exactly, and touchstone is the only client",
    next_step="Finish requests whose work has begun. Make writes idempotent, so that a client may repeat them.",
    phases=_STOP,
)
def work_without_response(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """If the client repeats such a request, the work is done twice.

    If it does not, it wrongly believes that the work was not done.
    """
    done = sum(end.unanswered_work or 0 for end in stops(group.samples))
    if done:
        yield Fired(f"{number(done)} units of work were done for requests that got no correct response")


_LATE_S = 0.05


@on_group(
    "stop-client-late",
    Severity.SUSPECT,
    title="The load generator was late during a stop",
    threshold=f"a request of a stop was sent more than {_LATE_S * 1000:g} ms after it was due",
    threshold_reason="a service may stop differently under a burst of late requests than under a steady load",
    next_step="Reserve a CPU for the engine, or stop other processes, and measure again.",
    phases=_STOP,
)
def stop_client_late(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """Requests that the client could not send in time arrive together, on new connections."""
    latest = max((end.result.latest_s for end in stops(group.samples)), default=0.0)
    if latest > _LATE_S:
        yield Fired(
            f"the load generator sent a request {seconds(latest)} after it was due", evidence={"latest_s": latest}
        )


_GAP_S = 0.25
_GAP_REQUESTS = 20


@on_group(
    "gap-at-replacement",
    Severity.NOTE,
    title="While one process replaces another, no request is answered for some time",
    threshold=(
        f"for more than {_GAP_S * 1000:g} ms no request got a right response, although more than {_GAP_REQUESTS} "
        "requests were due in that time"
    ),
    threshold_reason=(
        "the second process had answered a request before, so it was running. People notice a delay of a quarter of "
        "a second"
    ),
    next_step=(
        "Open the connection pools and warm up the code before the readiness check succeeds. Keep the first process "
        "in service until then."
    ),
    phases=_STOP,
)
def gap_at_replacement(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """Clients should not notice a rolling deployment.

    They have to wait if the new process reports that it is ready before it has warmed up.
    """
    ends = [end for end in stops(group.samples) if end.result.handover is not None]
    gaps = [end.result.handover.gap_s for end in ends if end.result.handover is not None]
    allowed = max([_GAP_S, *(_GAP_REQUESTS / end.rate for end in ends if end.rate)])
    if gaps and (median := statistics.median(gaps)) > allowed:
        yield Fired(
            f"no request was answered for {seconds(median)} (median of {len(gaps)} replacements)",
            evidence={"gap_s": gaps},
        )


@on_group(
    "second-process-fails",
    Severity.NOTE,
    title="The service cannot run twice at once",
    threshold="a second process did not start while the first one was running, or exited during the load",
    threshold_reason="the first process started with the same command and the same dependencies",
    next_step=(
        "Read the second process's log. Usual reasons are an exclusive lock on a file, a fixed port besides PORT, and "
        "a schema that is created without IF NOT EXISTS. Until then, deploy by ending the first process before the "
        "second starts."
    ),
    phases=_STOP,
)
def second_process_fails(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """A rolling deployment runs two processes at the same time.

    If the service cannot do that, each deployment is an outage.
    """
    ends = [sample.stop for sample in group.samples if sample.stop is not None]
    found = [why for end in ends if (why := end.second_failure or end.second_exit)]
    if found:
        yield Fired(f"in {len(found)} of {len(ends)} replacements the second process failed: {found[0]}")
