"""Rules on dependencies: those that died, or that were the limit."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.dependencies import dependency_use, is_used
from touchstone.judge.reading.sessions import is_downstream, opened, stated_pool
from touchstone.judge.reading.traffic import loop, slots
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.sample import Sample
from touchstone.vocabulary.limits import SERVER_FULL


@on_sample(
    "dependency-died",
    Severity.INVALID,
    title="A dependency did not respond after the measurement",
    threshold="a dependency reported its counters before the measurement but not after it",
    threshold_reason=(
        "touchstone asks the dependency on the same machine right after the last response, so a live dependency answers"
    ),
    next_step="Read the end of the dependency's log in the results folder, and measure again.",
    phases=("load", "drain"),
)
def dependency_died(sample: Sample, case: Case) -> Iterator[Fired]:
    """A service without its database or broker does different work, even if its responses are correct."""
    for dependency in sample.dependencies:
        if dependency.before and not dependency.after:
            yield Fired(
                f"{dependency.name} ({dependency.kind}) answered before the measurement, but not after it",
                evidence={"before": dependency.before},
            )


@on_sample(
    "dependency-saturated",
    Severity.SUSPECT,
    title="A dependency was the bottleneck",
    threshold=(
        "a dependency that runs as a separate process uses more than 90 % of its CPUs. Or the load opened sessions at "
        "a dependency, and the rate of responses is above 90 % of the highest rate that the dependency alone can serve"
    ),
    threshold_reason=(
        "at 90 % use a request waits for nine service times on average, so nearly all latency is caused by the "
        "dependency. The service cannot be faster than the dependency"
    ),
    next_step=(
        "Make the dependency faster or give it more CPUs, or state that the figure is for service and dependency "
        "together."
    ),
)
def dependency_saturated(sample: Sample, case: Case) -> Iterator[Fired]:
    """If a database or downstream is saturated, the figures show the dependency and not the service.

    A faster service would have the same figures.
    """
    result = sample.result
    if result is None or not result.window.measured_s:
        return
    use = dependency_use(sample)
    for dependency in sample.dependencies:
        busy, used = None, use.cpu_s.get(dependency.name)
        if used is not None and dependency.cpus:
            busy = used / (use.elapsed_s * len(dependency.cpus))
        asked = dependency.ceiling is not None and is_used(sample, dependency)
        near = result.rate.achieved / dependency.ceiling if asked and dependency.ceiling else None
        evidence = {"cpu_s": used, "busy": busy, "ceiling": dependency.ceiling, "rate": result.rate.achieved}
        if busy is not None and busy > SERVER_FULL:
            what = f"{dependency.name} used {share(busy)} of its CPUs"
        elif near is not None and near > SERVER_FULL and loop(sample) != "open":
            what = (
                f"the rate of {number(result.rate.achieved)}/s is {share(near)} of the rate that "
                f"{dependency.name} reaches alone"
            )
        else:
            continue
        yield Fired(what, figures=SPEED, evidence=evidence)


_HEADROOM = 4.0
_DOWNSTREAM_HEADROOM_NARROW = 2.0


@on_sample(
    "downstream-headroom",
    Severity.SUSPECT,
    title="The downstream has little headroom",
    threshold=(
        "the highest rate that the downstream can serve alone is less than twice the rate of the contender's "
        "requests to it: suspect; less than four times: a note. If the contender reaches 90 % of that highest rate, "
        "`dependency-saturated` fires instead"
    ),
    threshold_reason=(
        "at half of its capacity, queueing doubles the downstream's response time, so the figures describe both "
        "programs. At a quarter of its capacity, queueing adds a third"
    ),
    next_step=(
        "Give the downstream more CPUs, or CPUs that it does not share with the engine. Or compare latencies at a "
        "lower rate."
    ),
)
def downstream_headroom(sample: Sample, case: Case) -> Iterator[Fired]:
    """If the downstream is saturated, the figures show its speed and not that of the service.

    In one published comparison, the figures of both services showed the Python server behind them.
    """
    result = sample.result
    if result is None or result.rate.achieved <= 0:
        return
    for dependency in sample.dependencies:
        if not is_downstream(dependency) or not dependency.ceiling or not is_used(sample, dependency):
            continue
        times = dependency.ceiling / result.rate.achieved
        if 1 / SERVER_FULL <= times < _HEADROOM:
            yield Fired(
                f"{dependency.name} can serve at most {number(dependency.ceiling)}/s, only {times:.1f} times the "
                f"{number(result.rate.achieved)}/s of this load",
                severity=Severity.SUSPECT if times < _DOWNSTREAM_HEADROOM_NARROW else Severity.NOTE,
                figures=SPEED,
                doubt=PossibleBias(faster=None, reason="with a faster downstream the rate may be any higher value"),
                evidence={"ceiling": dependency.ceiling, "rate": result.rate.achieved, "times": times},
            )


_POOL_NOT_FILLED_CROWD = 4
"""With this many requests in flight for each session, all sessions are wanted at times, however fast the database
is."""
_POOL_NOT_FILLED_WINDOW_S = 1.0
"""Sessions are looked at four times per second."""


@on_sample(
    "pool-not-filled",
    Severity.SUSPECT,
    title="Fewer sessions were open than the pool has",
    threshold=(
        "the load is a closed loop with at least four concurrent requests per session of the stated pool. The "
        "dependency had some sessions, but never more than three quarters of the pool. The rule does not fire if the "
        "dependency counted work for fewer than 1 % of the responses, because the checks of the contract during the "
        "load cause as much"
    ),
    threshold_reason=(
        "while requests wait, a pool opens all of its sessions. The quarter allows for sessions that are opened late"
    ),
    next_step=(
        "Set the pool to the scenario's size from its environment variable, not to the number of cores or a default."
    ),
)
def pool_not_filled(sample: Sample, case: Case) -> Iterator[Fired]:
    """The scenario fixes the size of the connection pool for all contenders.

    A contender that uses the number of cores or a library's default has a different size.
    """
    result = sample.result
    if result is None or loop(sample) != "closed" or result.window.measured_s < _POOL_NOT_FILLED_WINDOW_S:
        return
    for dependency in sample.dependencies:
        pool, peak = stated_pool(sample, dependency), dependency.sessions_peak
        if not pool or not peak or slots(sample) < _POOL_NOT_FILLED_CROWD * pool or peak > 0.75 * pool:
            continue
        if not is_used(sample, dependency):
            continue
        yield Fired(
            f"at most {number(peak)} of the pool's {pool} sessions at {dependency.name} were open, although "
            f"{slots(sample)} requests were in flight",
            figures=SPEED,
            evidence={"sessions_peak": peak, "pool": pool, "under_way": slots(sample)},
        )


_SESSIONS_EXCEED_POOL_REPLACED = 3
"""A pool may replace each of its sessions a few times within a load."""


@on_sample(
    "sessions-exceed-pool",
    Severity.SUSPECT,
    title="More sessions were open than the pool allows",
    threshold=(
        "the dependency has more sessions than the stated pool, by more than two and by more than a tenth. Without a "
        "stated pool, the limit is twice the connections of the load plus 16. The rule also fires if, by the "
        "dependency's own counter, the load opened more than three times as many sessions as the pool holds"
    ),
    threshold_reason=(
        "a pool may replace a session before the old one is gone, and touchstone holds one session itself. A service "
        "needs at most one session for each concurrent request"
    ),
    next_step="Look for results, statements or connections that are never closed, and for a pool without a limit.",
)
def sessions_exceed_pool(sample: Sample, case: Case) -> Iterator[Fired]:
    """The scenario fixes the size of the connection pool for all contenders.

    More sessions are a leak, or a pool without a limit, and cost the dependency CPU and memory.
    """
    for dependency in sample.dependencies:
        pool = stated_pool(sample, dependency)
        new = opened(dependency)
        if pool and new is not None and new > _SESSIONS_EXCEED_POOL_REPLACED * pool:
            yield Fired(
                f"{number(new)} sessions were opened at {dependency.name} during the load, but the pool has {pool}",
                evidence={"sessions_opened": new, "pool": pool, "limit": _SESSIONS_EXCEED_POOL_REPLACED * pool},
            )
            continue
        sessions = dependency.sessions_peak
        if sessions is None:
            continue
        limit = max(pool + 2, pool * 1.1) if pool else 2 * slots(sample) + 16 if sample.result else None
        if limit is None or sessions <= limit:
            continue
        stated = f"the pool has {pool}" if pool else f"only {slots(sample)} requests were in flight"
        yield Fired(
            f"{number(sessions)} sessions were open at {dependency.name}, but {stated}",
            evidence={"sessions_peak": sessions, "pool": pool, "limit": limit},
        )
