"""Rules on failing dependencies: what a service did while one failed, and afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.disturbances import disturbances
from touchstone.judge.rule import Fired, on_group
from touchstone.judge.rules.work import broken_proofs
from touchstone.record.evidence.disturb import DisturbEvidence, FaultEvidence

_DISTURB = ("disturb",)
_STILL_FAILS = 0.05


@on_group(
    "pool-never-heals",
    Severity.NOTE,
    title="Requests still fail after the dependency has recovered",
    threshold=(
        "after the fault, there is no second in which requests are answered as before. In the last second of the "
        f"load {_STILL_FAILS:.0%} or more of the requests that need the dependency fail"
    ),
    threshold_reason=(
        "the load continues for at least two seconds after a fault, and a new connection takes milliseconds"
    ),
    next_step=(
        "Make the pool discard broken connections: test a connection before use and limit its lifetime. Return each "
        "connection to the pool even after an error."
    ),
    phases=_DISTURB,
)
def pool_never_heals(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """The service works again only after a restart, so the outage lasts until somebody notices it."""
    for evidence in disturbances(group.samples):
        for fault in evidence.faults[-1:]:
            end = evidence.end_needing[fault.dependency]
            failing = end.error_share or 0.0
            if fault.recovery_s is None and evidence.died is None and failing >= _STILL_FAILS:
                yield Fired(
                    f"{share(failing)} of the requests that need {fault.dependency} still failed at the end of the "
                    f"load, {seconds(_after_s(evidence, fault))} after the fault ({fault.act})",
                    evidence={"sent": end.sent, "errors": end.errors},
                )
                return


def _after_s(evidence: DisturbEvidence, fault: FaultEvidence) -> float:
    """From the end of the fault to that of the load."""
    return max(0.0, evidence.result.window.measured_s - fault.ended_s)


@on_group(
    "no-timeout",
    Severity.NOTE,
    title="Requests wait as long as their dependency stalls",
    threshold="a single request, sent alone after the load, gets no response while the dependency stalls for 15 s",
    threshold_reason=(
        "common timeouts of services and drivers are 1 to 10 s. touchstone makes this test only if requests waited "
        "for the whole stall during the load"
    ),
    next_step=(
        "Set a timeout for each call to the dependency, for connecting and for reading. It should be shorter than "
        "the timeout of the service's clients."
    ),
    phases=_DISTURB,
)
def no_timeout(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """Each waiting request occupies a thread, a connection and memory until the dependency responds again."""
    for evidence in disturbances(group.samples):
        waiting = [probe for probe in evidence.patience if not probe.answered]
        if waiting:
            names = ", ".join(dict.fromkeys(probe.request for probe in waiting))
            yield Fired(
                f"{names} got no response within {seconds(evidence.patience_s)} while {waiting[0].dependency} stalled",
                evidence={"waited_s": [probe.waited_s for probe in waiting]},
            )
            return


_AMPLIFIES = 1.5
_LEAST_TURNS_PER_S = 10.0


@on_group(
    "retries-amplify",
    Severity.NOTE,
    title="Retries put more load on a dependency that fails",
    threshold=f"during the fault the dependency is asked for {_AMPLIFIES:g} times as much work as before it, or more",
    threshold_reason="a service without retries asks for the same amount or less while it gets errors",
    next_step=(
        "Retry at one level only, with a budget (such as 10 % of the requests), exponential backoff and jitter. Stop "
        "calling a dependency that keeps failing."
    ),
    phases=_DISTURB,
)
def retries_amplify(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """When an overloaded dependency fails, retries give it even more work, so it stays overloaded."""
    found = [
        (factor, fault)
        for evidence in disturbances(group.samples)
        for fault in evidence.faults
        if (factor := evidence.amplification(fault)) is not None and (fault.turns_per_s or 0.0) >= _LEAST_TURNS_PER_S
    ]
    factor, fault = max(found, key=lambda one: one[0], default=(0.0, None))
    if fault is not None and factor >= _AMPLIFIES:
        yield Fired(
            f"while {fault.in_words}, the service asks {fault.dependency} {number(factor)} times as often as before",
            evidence={"factor": factor, "turns_per_s": fault.turns_per_s, "connects_per_s": fault.connects_per_s},
        )


_FALLS_ERRORS = 0.05
_FALLS_WAIT = 0.25
_FALLS_TIMES = 10.0


@on_group(
    "falls-with-dependency",
    Severity.NOTE,
    title="Requests that do not need a dependency fail when it fails",
    threshold=(
        f"the rule looks at requests that do not need the dependency. During the fault, {_FALLS_ERRORS:.0%} or more "
        f"of them fail, not counting the share that failed before. Or their p90 latency is at least {_FALLS_WAIT:g} "
        f"of the fault's length and at least {_FALLS_TIMES:g} times their p90 before the fault"
    ),
    threshold_reason="a request that does not use the dependency has no reason to wait for it",
    next_step=(
        "Limit how many requests may wait for the dependency at the same time: use a separate pool, a semaphore or a "
        "queue limit. Other requests then still find a free thread. Do not make blocking calls on the event loop."
    ),
    phases=_DISTURB,
)
def falls_with_dependency(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """One slow route makes the whole service fail, even its health check."""
    for evidence in disturbances(group.samples):
        for fault in evidence.faults:
            calm, others = evidence.calm_others[fault.dependency], fault.others
            failing, waited_s = others.error_share or 0.0, others.p90 or 0.0
            waits = waited_s >= max(_FALLS_WAIT * fault.for_s, _FALLS_TIMES * (calm.p90 or 0.0))
            before = calm.error_share or 0.0
            if evidence.died is None and others.sent and (waits or failing >= before + _FALLS_ERRORS):
                yield Fired(
                    f"while {fault.in_words}, {share(failing)} of the requests that do not need "
                    f"{fault.dependency} fail, and their p90 is {seconds(waited_s)} "
                    f"(before: {seconds(calm.p90 or 0.0)})",
                    evidence={"names": others.names, "sent": others.sent, "errors": others.errors},
                )
                return


@on_group(
    "dies-with-dependency",
    Severity.NOTE,
    title="The service ends when a dependency fails",
    threshold="the service's process exits during a load with faults",
    threshold_reason="exiting does not help: a new process meets the same fault",
    next_step=(
        "Read the end of the service's log. Respond with 503 while the dependency is unavailable, and reconnect in the "
        "background."
    ),
    phases=_DISTURB,
)
def dies_with_dependency(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """All requests fail until the service is restarted, even those that need no dependency."""
    for evidence in disturbances(group.samples):
        if evidence.died is not None:
            faults = " and ".join(dict.fromkeys(fault.in_words for fault in evidence.faults))
            yield Fired(f"the service {evidence.died} during a load in which {faults or 'a dependency fails'}")
            return


@on_group(
    "work-wrong-after-fault",
    Severity.NOTE,
    title="Work is lost or done twice when a dependency fails",
    threshold=(
        "a proof of a load with faults does not hold. A failed request may or may not have done its work; the proof "
        "allows for both"
    ),
    threshold_reason="proofs count rows, hits or offsets exactly, and touchstone is the only client",
    next_step=(
        "Respond only after the dependency has confirmed the work. Make retried calls idempotent, for example by a key "
        "that the dependency recognises."
    ),
    phases=_DISTURB,
)
def work_wrong_after_fault(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """The fault ends, but lost or doubled work stays wrong."""
    yield from islice((broken for sample in group.samples for broken in broken_proofs(sample)), 1)


_LATE_S = 0.1
_LATE_SHARE = 0.1


@on_group(
    "fault-not-in-time",
    Severity.SUSPECT,
    title="A fault began or ended late",
    threshold=f"a fault began or ended late: by more than {_LATE_S:g} s and {_LATE_SHARE:.0%} of its length",
    threshold_reason=(
        "requests are grouped by the planned times of the fault. A delay of a tenth puts a tenth of them into the "
        "wrong group"
    ),
    next_step="Reserve a CPU for touchstone, or stop other processes, and measure again.",
    phases=_DISTURB,
)
def fault_not_in_time(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """Some requests that were sent during the fault then count as sent before or after it."""
    faults = [fault for evidence in disturbances(group.samples) for fault in evidence.faults]
    late = [
        (late_s, fault.for_s)
        for fault in faults
        for late_s in (fault.began_s - fault.at_s, fault.ended_s - fault.at_s - fault.for_s)
        if late_s > max(_LATE_S, _LATE_SHARE * fault.for_s)
    ]
    if late:
        latest_s, for_s = max(late)
        yield Fired(
            f"a fault of {seconds(for_s)} started or ended {seconds(latest_s)} late", evidence={"late_s": latest_s}
        )
