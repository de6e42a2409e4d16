"""Rules on waiting: responses and connections that wait while nobody works for them."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from touchstone.judge.figures import LATENCY, TAIL
from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import seconds, share
from touchstone.judge.reading.acknowledgements import NEXT_STEP, waiting
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.dependencies import dependency_use, stated_delay_s
from touchstone.judge.reading.disturbance import others_share, stolen_share
from touchstone.judge.reading.neighbours import neighbours
from touchstone.judge.reading.traffic import (
    error_share,
    generator_busy,
    loop,
    pauses,
    server_busy,
    slots,
    throttled_share,
)
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.engine import DelayedResponses, LoadResult, Silence
from touchstone.record.sample import DependencyState, Sample

_CONNECTIONS_WAIT_SHARE = 0.02
_CONNECTIONS_WAIT_LONG_S = 0.02
_CONNECTIONS_WAIT_TIMES = 10
_CONNECTIONS_WAIT_AFTER_S = 0.05
_CONNECTIONS_WAIT_OFTEN = 0.5
_CONNECTIONS_WAIT_LEAST_RESPONSES = 100
_CONNECTIONS_WAIT_OF_P99 = 0.01


@on_sample(
    "connections-wait",
    Severity.SUSPECT,
    title="Some connections wait while others are served",
    threshold=(
        "in a closed loop, at least one of three holds, and is worse than on the null server. (1) Slow responses take "
        "more than 2 % of the connections' time; slow means 20 ms or more and at least 10 times the request's median. "
        "Times in which no connection got a response are not counted. (2) In at least half of the slices a response "
        "comes more than 50 ms after sending ended, and later than 10 times the slice's p99. (3) Some connections "
        "receive less than half of the responses of the median connection, if that has at least 100. It is a note if "
        "the slow responses show in p99, or if they are on more than half of the connections"
    ),
    threshold_reason=(
        "a busy machine delays a few requests, but not for 2 % of the time. A slow connection sends less than 1 % of "
        "all requests, so p99 does not show them. If most connections are delayed, the cause is a busy machine or a "
        "pause, and not one slow worker. With at least a hundred responses, no connection gets half of the median by "
        "chance"
    ),
    next_step=(
        "Look for what the named connections have in common: one worker, thread or event loop of several. Measure the "
        "same with an open loop at a fixed rate, or with --whole-windows, which shows the tail percentiles."
    ),
    # A starved connection holds a request whose latency is never counted: rate times latency falls short.
    explains=frozenset({"littles-law"}),
    # A start under load makes connections wait by its nature.
    phases=("load",),
)
def connections_wait(sample: Sample, case: Case) -> Iterator[Fired]:
    """In a closed loop a slow connection sends few requests, so it hardly changes the percentiles.

    If one of several workers hangs, its users wait, but p99 stays the same.
    """
    if sample.result is None or loop(sample) != "closed":
        return
    yield from _waits(sample, sample.result, case)
    yield from _falls_behind(sample, sample.result, case)


def _falls_behind(sample: Sample, result: LoadResult, case: Case) -> Iterator[Fired]:
    """Look at how many responses each connection got."""
    spread = result.by_connection
    if (
        spread is None
        or spread.median < _CONNECTIONS_WAIT_LEAST_RESPONSES
        or spread.behind <= _behind(case.tares(sample.load))
    ):
        return
    verb = "are" if spread.behind != 1 else "is"
    yield Fired(
        f"{spread.behind} of {result.connections.established} connections {verb} starved and received "
        f"{share(spread.share)} of all responses: the slowest received {spread.fewest:,}, the median connection "
        f"{spread.median:,}",
        severity=Severity.NOTE if spread.share >= _CONNECTIONS_WAIT_OF_P99 else Severity.SUSPECT,
        figures=TAIL,
        evidence=spread.model_dump(),
    )


def _waits(sample: Sample, result: LoadResult, case: Case) -> Iterator[Fired]:
    """Look at responses that were long in coming."""
    if result.held_up is None or not result.held_up.answers:
        return
    tares = case.tares(sample.load)
    ends, part = _late(sample), _held_up_share(sample)
    late = _share(ends)
    waited = part - _median([_held_up_share(tare) for tare in tares]) > _CONNECTIONS_WAIT_SHARE
    often = late - _median([_share(_late(tare)) for tare in tares]) >= _CONNECTIONS_WAIT_OFTEN
    # A kind of request that always takes long ends slices late as well, and holds nobody up.
    if not waited and not (often and result.held_up.answers >= sum(ends)):
        return
    how = _how(result.held_up, part, late, waited=waited)
    yield Fired(
        f"{_who(result, result.held_up)} while others are served: {how}",
        severity=Severity.NOTE if _shown(result) or _of_most(result, result.held_up) else Severity.SUSPECT,
        figures=TAIL,
        evidence=result.held_up.model_dump() | {"share_of_time": part, "slices_ending_late": late},
    )


def _behind(tares: Sequence[Sample]) -> float:
    """How many connections of the tare fall behind by themselves."""
    spreads = [tare.result.by_connection for tare in tares if tare.result is not None]
    return _median([float(spread.behind) for spread in spreads if spread is not None])


def _held_up_share(sample: Sample) -> float:
    """The share of the connections' time in which one waited long while others were served."""
    result = sample.result
    if result is None or result.held_up is None or not result.window.measured_s or not slots(sample):
        return 0.0
    return min(1.0, result.held_up.seconds / (slots(sample) * result.window.measured_s))


def _late(sample: Sample) -> list[bool]:
    """For each slice, whether its last response came long after all others."""
    slices = sample.slices.slices if sample.slices else []
    return [
        one.end - one.sending_end > max(_CONNECTIONS_WAIT_AFTER_S, _CONNECTIONS_WAIT_TIMES * one.latency.p99)
        for one in slices
        if one.lap_phase == "load" and one.latency is not None and one.latency.p99 is not None
    ]


def _share(parts: list[bool]) -> float:
    return sum(parts) / len(parts) if parts else 0.0


def _median(parts: list[float]) -> float:
    return statistics.median(parts) if parts else 0.0


def _shown(result: LoadResult) -> bool:
    """Whether p99 is that of such responses: they are no secret then."""
    p50, p99 = result.latency.p50, result.latency.p99
    return p50 is not None and p99 is not None and p99 >= max(_CONNECTIONS_WAIT_LONG_S, _CONNECTIONS_WAIT_TIMES * p50)


def _of_most(result: LoadResult, held: DelayedResponses) -> bool:
    """Whether it fell on more than half of the connections."""
    return held.connections is not None and held.connections > result.connections.established / 2


def _who(result: LoadResult, held: DelayedResponses) -> str:
    if held.connections is None:
        return "some connections wait"
    plural = held.connections != 1
    return f"{held.connections} of {result.connections.established} connections wait{'' if plural else 's'}"


def _how(held: DelayedResponses, part: float, late: float, *, waited: bool) -> str:
    longest = f"up to {seconds(held.longest_s)} for a response"
    if waited:
        return f"{longest}, and for {share(part)} of the time of all connections together"
    return f"{longest}, and in {share(late)} of the slices one still waits after all others have been served"


_SERVER_BUSY = 0.3
_OTHERS_BUSY = 0.5
_NOBODY_BUSY_TAKEN = 0.25
_NOBODY_BUSY_WAITED_S = 0.002
_NOBODY_BUSY_FAILED = 0.05


@on_sample(
    "nobody-busy",
    Severity.NOTE,
    title="Requests waited while no CPU was busy",
    threshold=(
        "in a closed loop without think time the median latency is 2 ms or more while no CPU is busy. The server "
        "uses less than 30 % of the CPUs that its threads could use, the load generator and each dependency use less "
        "than 50 %, and other processes use less than 25 % of the machine. The rule does not fire if the scenario "
        "states a downstream delay of half the median or more"
    ),
    threshold_reason=(
        "waking a thread and passing a message take far less than 2 ms, even on a virtual machine. Below 30 % use, a "
        "request waits for a CPU for less than half of its own CPU time"
    ),
    next_step=(
        "Find out what the requests wait for: a pool that is too small, a lock, a timer, a rate limit, the disk, or an "
        "acknowledgement (TCP_NODELAY). A faster machine does not help; more connections may."
    ),
)
def nobody_busy(sample: Sample, case: Case) -> Iterator[Fired]:
    """In a closed loop some resource is always the limit.

    Here it is not a CPU: the requests wait for something else. Faster code or a faster machine then changes nothing.
    Often this wait is the whole difference between two services.
    """
    result = sample.result
    if result is None or loop(sample) != "closed" or pauses(sample) or sample.process.placement.cpu_limit is not None:
        return
    if result.events is not None:
        # A stream lasts as long as its events take to happen.
        return
    server, generator, median = server_busy(sample), generator_busy(result), result.latency.p50
    if server is None or median is None or median < _NOBODY_BUSY_WAITED_S or error_share(result) > _NOBODY_BUSY_FAILED:
        return
    cpus = case.run.environment.cpus
    taken = (others_share(sample, cpus) or 0.0) + (stolen_share(sample, cpus) or 0.0)
    if server >= _SERVER_BUSY or generator >= _OTHERS_BUSY or taken >= _NOBODY_BUSY_TAKEN or _throttled(sample):
        return
    if all(_at_rest(dependency, sample, median) for dependency in sample.dependencies):
        yield Fired(
            f"the median request took {seconds(median)}, while the server used {share(server)} of its CPUs and the "
            f"load generator {share(generator)}. Requests waited for something other than a CPU",
            figures=[],
            evidence={"p50_s": median, "server_busy": server, "engine_busy": generator, "taken": taken},
        )


def _at_rest(dependency: DependencyState, sample: Sample, median: float) -> bool:
    """Whether a dependency neither worked much nor is stated to make requests wait. Not if nobody knows."""
    delay, use = stated_delay_s(dependency), dependency_use(sample)
    if delay is not None and 2 * delay >= median:
        return False
    used = use.cpu_s.get(dependency.name)
    if used is None:
        # A file, such as SQLite's, has no process.
        return not dependency.cpus
    return used < _OTHERS_BUSY * use.elapsed_s


def _throttled(sample: Sample) -> bool:
    if sample.result is None:
        return False
    watch = sample.result.watch
    return throttled_share(sample.result) > 0 or (watch is not None and bool(watch.window.throttled_periods))


_STALL_IN_CLOSED_LOOP_SHARE = 0.02
_STALL_IN_CLOSED_LOOP_MUCH = 0.10
_STALL_IN_CLOSED_LOOP_NOTICED_S = 0.25
_STALL_IN_CLOSED_LOOP_TIMES = 4
_STALL_IN_CLOSED_LOOP_HEARD_S = 0.05
_STALL_IN_CLOSED_LOOP_FEW = 4


@on_sample(
    "stall-in-closed-loop",
    Severity.SUSPECT,
    title="A stall that a closed loop hides",
    threshold=(
        "in a closed loop, gaps without any response make up more than 2 % of the window. A gap counts if it lasts "
        "50 ms or more and more than 4 times the median latency. With fewer than 4 concurrent requests and a median "
        "above 12.5 ms, only the longest gap counts. Time in which the engine waited for a CPU is subtracted. The "
        "share of gaps that the null server or the other contenders of the same laps have is subtracted too: the "
        "larger of the null server's share and the others' share (the lower of two, the median of more). It is "
        "suspect if the longest gap lasts 250 ms or more, or if all gaps take more than 10 %; otherwise it is a note"
    ),
    threshold_reason=(
        "a stall longer than 1 % of the window should be visible in p99, but is not. The start and end of the window "
        "cannot cause 2 %. Users hardly notice pauses below 50 ms, and all users notice stalls of a tenth of the "
        "time. A slow service has gaps as long as its median latency without a stall. With few requests in flight, a "
        "single slow request makes a gap"
    ),
    next_step="Measure the service with an open loop at a fixed rate. The percentiles then include the stall.",
    # A start under load stalls by its nature.
    phases=("load",),
)
def stall_in_closed_loop(sample: Sample, case: Case) -> Iterator[Fired]:
    """While a server stalls, a closed loop sends nothing.

    The requests that users would send in that time are missing, so the percentiles are better than those of real users
    (coordinated omission).
    """
    result = sample.result
    if result is None or result.silence is None or loop(sample) != "closed" or result.latency.p50 is None:
        return
    longest = result.silence.longest_s
    silent = _silent_share(sample)
    part = silent - _usual(case, sample)
    if part <= _STALL_IN_CLOSED_LOOP_SHARE or longest <= _STALL_IN_CLOSED_LOOP_TIMES * result.latency.p50:
        return
    yield Fired(
        f"no response came for {share(silent)} of the window, and once for {seconds(longest)} in one stretch (p50 is "
        f"{seconds(result.latency.p50)}). The closed loop sent nothing during these stalls",
        severity=Severity.SUSPECT
        if longest >= _STALL_IN_CLOSED_LOOP_NOTICED_S or part > _STALL_IN_CLOSED_LOOP_MUCH
        else Severity.NOTE,
        figures=TAIL,
        evidence=result.silence.model_dump() | {"measured_s": result.window.measured_s},
    )


def _silent_share(sample: Sample) -> float:
    """The share of the window without any response."""
    result = sample.result
    if result is None or result.silence is None or not result.window.measured_s:
        return 0.0
    silence, measured = result.silence, result.window.measured_s
    heard = _heard(
        silence,
        _STALL_IN_CLOSED_LOOP_TIMES * (result.latency.p50 or 0.0),
        few=slots(sample) < _STALL_IN_CLOSED_LOOP_FEW,
    )
    deaf = 0.0
    if silence.deaf_s is None:
        # A generator that waits for a CPU hears no answer; when it waited is not known here.
        deaf = max((thread.delayed_s or 0.0 for thread in result.generator.threads), default=0.0)
    return min(1.0, max(0.0, heard - deaf) / measured)


def _heard(silence: Silence, least: float, *, few: bool) -> float:
    """The gaps that are longer than the service's own pace. Where it is not known which are, the longest alone."""
    if least <= _STALL_IN_CLOSED_LOOP_HEARD_S:
        return silence.seconds
    longer = 0.0 if few else next((seconds for length, seconds in silence.longer if length >= least), 0.0)
    return max(silence.longest_s, longer)


def _usual(case: Case, sample: Sample) -> float:
    """The share of the tares' windows, and of the others' in the same laps: of those, the machine is the cause.

    With few others the lower of two counts, so that one neighbour's own stall excuses nobody.
    """
    around = [_silent_share(other) for other in neighbours(sample, case.run)]
    tares = _median([_silent_share(tare) for tare in case.tares(sample.load)])
    return max(tares, statistics.median_low(around) if len(around) > 1 else 0.0)


@on_sample(
    "waits-for-acknowledgement",
    Severity.NOTE,
    title="Responses wait for a TCP acknowledgement",
    threshold=(
        "at least 5 % of the responses to a request come in two parts, 20 ms or more apart, and the gap depends on "
        "the acknowledgement. To test this, the engine acknowledges the first part at once, in at least 3 trials. "
        "The gap then disappears; the probability that this is chance is below 1 in 1,000"
    ),
    threshold_reason=(
        "if the service worked between the two parts, the acknowledgement would not matter. Only Nagle's algorithm "
        "(RFC 9293 section 3.7.4) holds the second part back until an acknowledgement. Linux delays acknowledgements "
        "by 40 ms or more (section 3.8.6.3). If fewer than one response in twenty waits, only the high percentiles "
        "change"
    ),
    next_step=NEXT_STEP,
)
def waits_for_acknowledgement(sample: Sample, case: Case) -> Iterator[Fired]:
    """The server writes head and body separately and does not set TCP_NODELAY.

    With Nagle's algorithm, its kernel sends the body only when the client has acknowledged the head. The client's
    kernel delays that acknowledgement by 40 ms. So the response takes 40 ms while all CPUs are idle. Real clients see
    the same delay, so the figures are right.
    """
    for request in sample.result.requests if sample.result else []:
        found = waiting(request)
        if found is None or request.in_parts is None:
            continue
        yield Fired(
            found.sentence,
            figures=["throughput", *LATENCY],
            evidence={"request": found.request, "wait_s": found.wait_s} | request.in_parts.model_dump(),
        )
