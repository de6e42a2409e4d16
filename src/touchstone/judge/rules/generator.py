"""Rules on the load generator: whether it could send and read in time."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import LATENCY, SPEED, TAIL
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.dependencies import dependency_use
from touchstone.judge.reading.traffic import generator_busy, has_cpu_to_spare, loop, server_busy, throttled_share
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.engine import LoadResult
from touchstone.record.sample import Sample
from touchstone.vocabulary.limits import ANSWERED, GENERATOR_FULL, LATE_S, LATE_SHARE, THROTTLED

_ENGINE_WITHDRAWS_SEEN = 0.1
"""Share of a CPU that a dependency must use of the engine's to be named as the cause of its waiting."""
_APART = (
    "Compare contenders, because all are affected equally, and do not quote absolute figures. For absolute figures, "
    "give the engine a CPU that no dependency uses: take a machine with three CPUs or more, or run the dependency "
    "elsewhere (`--postgres URL`, `--kafka HOST:PORT`)."
)


@on_sample(
    "engine-withdraws",
    Severity.SUSPECT,
    title="The engine rejects its own result",
    threshold=(
        "the engine rejects its own result, for a reason that no other rule judges (other rules judge its CPU, late "
        "sends, the rate and the connections)"
    ),
    threshold_reason=(
        "where the record has numbers, other rules judge those numbers. For any other reason touchstone relies on "
        "the engine"
    ),
    next_step="Do what the reason says. Usually the engine needs CPUs that nothing else uses.",
)
def engine_withdraws(sample: Sample, case: Case) -> Iterator[Fired]:
    """The engine checks its own work while it measures. This finding repeats its conclusion."""
    result = sample.result
    if result is None or result.generator.stands:
        return
    explained = sum(t.busy > GENERATOR_FULL for t in result.generator.threads)
    explained += throttled_share(result) > THROTTLED
    explained += (result.lateness.p99 or 0.0) > LATE_S
    explained += result.rate.offered is not None and result.rate.achieved < ANSWERED * result.rate.offered
    explained += result.connections.established < result.connections.asked
    explained += result.counts.completed == 0
    explained += result.interrupted
    if explained and len(result.generator.reasons) <= explained:
        return
    doubt, shared = _doubt(result), _shared_cpus(sample)
    why = "; ".join(result.generator.reasons) or "no reason given"
    named = doubt is not None and shared
    yield Fired(
        f"the engine rejects its own result: {why}{f'; {shared}' if named else ''}",
        figures=SPEED,
        doubt=doubt,
        evidence={"reasons": result.generator.reasons},
        next_step=_APART if named else None,
    )


def _shared_cpus(sample: Sample) -> str | None:
    """Which dependency had the engine's CPUs meanwhile, in words. None if none may use them, or none was seen to."""
    placement, use = sample.process.placement, dependency_use(sample)
    if not set(placement.engine_cpus) & set(placement.dependency_cpus) or use.elapsed_s <= 0:
        return None
    name, used = max(use.cpu_s.items(), key=lambda entry: entry[1], default=("", 0.0))
    part = used / use.elapsed_s
    return (
        f"the dependency {name} shares CPUs with the engine and used {part:.0%} of one"
        if part >= _ENGINE_WITHDRAWS_SEEN
        else None
    )


def _doubt(result: LoadResult) -> PossibleBias | None:
    """Where its threads waited for a CPU, and no more: the service was kept waiting as long, at the most."""
    if not all("waited" in reason for reason in result.generator.reasons) or not result.window.measured_s:
        return None
    waited = [thread.delayed_s for thread in result.generator.threads if thread.delayed_s]
    if not waited:
        return None
    part = min(0.999, max(waited) / result.window.measured_s)
    return PossibleBias(faster=1 / (1 - part), common=True, reason="the generator had its CPU for the rest of the time")


@on_sample(
    "generator-saturated",
    Severity.INVALID,
    title="The load generator was saturated",
    threshold=(
        "a thread of the engine was busy for more than 95 % of the window, while the server's CPUs were less than 90 % "
        "busy"
    ),
    threshold_reason=(
        "the time in a queue grows as 1/(1 - use). At 95 % it is twenty service times, so the load generator causes "
        "most of the latency. A server whose CPUs are 90 % busy could be at most a tenth faster"
    ),
    next_step="Give the engine more CPUs or threads, or use an open loop at a rate that the engine can reach.",
)
def generator_saturated(sample: Sample, case: Case) -> Iterator[Fired]:
    """If the load generator has no CPU left, the figures describe the load generator.

    If the server's CPUs are full as well, the server is the limit, and this rule does not fire.
    """
    result = sample.result
    if result is None:
        return
    busy, server = generator_busy(result), server_busy(sample)
    if busy > GENERATOR_FULL and has_cpu_to_spare(server) and throttled_share(result) <= THROTTLED:
        yield Fired(
            f"the load generator used {share(busy)} of its CPU time, the server only {share(server)}",
            figures=SPEED,
            evidence={"engine_busy": busy, "server_busy": server},
        )


_GENERATOR_THROTTLED_INVALID_SHARE = 0.1


@on_sample(
    "generator-throttled",
    Severity.SUSPECT,
    title="A CPU quota held the load generator back",
    threshold=(
        "CPU quotas of the engine's cgroup or of its parent cgroups stopped the engine for more than 1 % of the "
        "window: suspect; for more than 10 %: invalid"
    ),
    threshold_reason=(
        "a period is 100 ms. At 1 %, the engine was stopped in about one of ten periods, which p99 shows. At 10 % "
        "the quota determines the rate"
    ),
    next_step=(
        "Raise or remove the CPU quota of the container, service or slice in which touchstone runs (`touchstone "
        "doctor` shows it). More CPUs do not help."
    ),
    explains=frozenset({"near-tare"}),
)
def generator_throttled(sample: Sample, case: Case) -> Iterator[Fired]:
    """A load generator without CPU quota sends and reads nothing until the next period.

    Requests are then sent late and latencies are too long. More CPUs do not help, but a larger quota does.
    """
    result = sample.result
    if result is None or (throttled := throttled_share(result)) <= THROTTLED:
        return
    generator, measured_s = result.generator, result.window.measured_s
    groups = " and ".join(generator.quotas) or "its cgroup"
    yield Fired(
        f"the load generator was throttled for {seconds(generator.throttled_s)} (summed over CPUs) of "
        f"{seconds(measured_s)} by the quota of {groups}",
        severity=Severity.INVALID if throttled > _GENERATOR_THROTTLED_INVALID_SHARE else Severity.SUSPECT,
        figures=SPEED,
        evidence={"throttled_s": generator.throttled_s, "measured_s": measured_s, "cgroups": generator.quotas},
    )


_INVALID_LATE_SHARE = 1.0
_INVALID_LATE_S = 0.01


@on_sample(
    "late-sends",
    Severity.SUSPECT,
    title="The generator sent late",
    threshold=(
        "in an open loop, the p99 of lateness is above 1 ms and above a third of the latency's p99. It is invalid if "
        "the p99 of lateness is above 10 ms and above the latency's p99"
    ),
    threshold_reason=(
        "pacing and timers cause up to a few hundred microseconds of lateness on any machine. Above 1 ms the engine "
        "was delayed. If lateness exceeds a third of the p99, late reading may have caused that p99"
    ),
    next_step="Reserve a CPU for the engine, lower the rate, or stop other processes on the engine's CPU.",
)
def late_sends(sample: Sample, case: Case) -> Iterator[Fired]:
    """An engine that has to wait for a CPU sends requests late and reads responses late.

    It then sends the overdue requests in a burst. In an open loop, latency includes the delay of reading but not that
    of sending.
    """
    result = sample.result
    if result is None or loop(sample) == "closed" or throttled_share(result) > THROTTLED:
        return
    late, latency = result.lateness.p99, result.latency.p99
    if late is None or not latency or late <= LATE_S or late <= LATE_SHARE * latency:
        return
    invalid = late > _INVALID_LATE_S and late > _INVALID_LATE_SHARE * latency
    yield Fired(
        f"1 % of the requests were sent at least {seconds(late)} late, and the p99 latency is {seconds(latency)}",
        severity=Severity.INVALID if invalid else Severity.SUSPECT,
        figures=LATENCY if invalid else TAIL,
        evidence={"lateness_p99_s": late, "latency_p99_s": latency, "lateness_p50_s": result.lateness.p50},
    )
