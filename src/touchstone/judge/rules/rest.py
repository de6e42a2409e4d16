"""Rules on rest: what contenders do in the slices of others."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from touchstone.judge.figures import CPU, LATENCY, SPEED
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import seconds, share
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.neighbours import neighbours
from touchstone.judge.reading.rest import (
    disk_of,
    first_generation_extra,
    neighbours_cpu,
    own_cpu,
    rest_of,
    sliced_s,
)
from touchstone.judge.reading.traffic import slots
from touchstone.judge.rule import Fired, on_group, on_sample
from touchstone.record.evidence.slices import SlicesEvidence, part_rate
from touchstone.record.sample import Sample

_NEEDS_REST_KEPT = 0.75
_RECOVERS = 1.10
_HUNG = 0.5


@on_group(
    "needs-rest",
    Severity.SUSPECT,
    title="The contender keeps its rate only with pauses",
    threshold=(
        "after the first round's warm-up, each contender gets a stretch of load without a pause: 1.5 s in the preset "
        "`quick`, otherwise a tenth of the measured time and at least 6 s. If its rate in the stretch is below 80 % "
        "of that in slices, a second stretch follows at once and replaces the first. If that is below 80 % too, the "
        "second round also has a stretch. Only the second half of a stretch counts. The rule fires if the contender "
        "is too slow in the stretch of every round that has one. In a closed loop, too slow means below its slowest "
        "slice (of four or more) and below 75 % of its median slice. In an open loop it means a share of right "
        "responses below 75 % of the share in slices, or a median latency above the median p99 of the slices. The "
        "rule does not fire if the warm-up ran out of time, if the rate rises by 10 % within the stretch, or if at "
        "least half of the requests in flight were never answered (in an open loop: and hardly any other request was "
        "answered). It is a note if the other contenders and the null server, in their median, were slowed down as "
        "much, because the machine was slower then"
    ),
    threshold_reason=(
        "a busy machine slows all contenders, in slices as well as in the stretch. The pauses are several times as "
        "long as a slice. So a contender whose quota refills in the pauses is several times as fast in slices as "
        "without pauses"
    ),
    next_step=(
        "Look for a rate limiter, a quota or credits. Measure without pauses: use `--whole-windows`, or the phase "
        "`peak`."
    ),
)
def needs_rest(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """In slices, each contender pauses while the others have their slices.

    During the pause, a limited resource may recover: tokens of a rate limiter, a CPU quota, credits of a disk or
    virtual machine, or space in a queue that another process empties. It then lasts for a short slice, but not for a
    load without pauses.
    """
    kept: dict[str, float] = {}
    usual: list[float] = []
    for sample in group.samples:
        evidence = sample.slices
        own = evidence.kept if evidence is not None else None
        if evidence is None or own is None or (evidence.warm_up is not None and evidence.warm_up.ended != "flat"):
            continue
        if own >= _NEEDS_REST_KEPT or _is_as_in_slices(evidence) or _recovers(evidence) or _hung(sample, evidence):
            return
        kept[sample.id] = own
        usual.append(_kept_around(sample, case))
    if not kept:
        return
    middle, around = statistics.median(kept.values()), statistics.median(usual)
    long = seconds(max(sample.slices.unbroken_s for sample in group.samples if sample.slices is not None))
    if any(own >= _NEEDS_REST_KEPT * min(1.0, other) for own, other in zip(kept.values(), usual, strict=True)):
        yield Fired(
            f"in {long} of load without pauses, the contender reached {share(middle)} of the rate that it has in "
            f"slices, and the others {share(around)} of theirs: the machine was slower",
            severity=Severity.NOTE,
            figures=[],
            evidence={"kept": kept, "usual": around},
        )
        return
    yield Fired(
        f"in {long} of load without pauses, the contender reached only {share(middle)} of the rate that it has in "
        "slices",
        figures=[*SPEED],
        doubt=PossibleBias(slower=None, reason="without pauses the service is slower, and more so under a longer load"),
        evidence={"kept": kept},
    )


def _is_as_in_slices(evidence: SlicesEvidence) -> bool:
    """Whether a closed loop's rate is one that the contender has in its slices too."""
    closed = all(one.offered is None for one in evidence.late_parts)
    return closed and evidence.unbroken_rate >= min(evidence.lap_rates)


def _recovers(evidence: SlicesEvidence) -> bool:
    """Whether the rate rises within the stretch: a compiler catches up, and nothing runs dry."""
    parts = [one for one in evidence.slices if one.unbroken]
    return len(parts) > 1 and part_rate(parts[-1]) >= _RECOVERS * part_rate(parts[0])


def _hung(sample: Sample, evidence: SlicesEvidence) -> bool:
    """Whether many of the requests that can be in flight were never answered: other rules say so.

    An open loop's queue times out at one that answers slowly. It has hung only if hardly anything is answered any more.
    """
    lost = sum(one.sent - one.completed for one in evidence.slices if one.unbroken)
    places = slots(sample) if sample.result is not None else 1
    silent = all(one.offered is None or one.completed < places for one in evidence.late_parts)
    return lost > 0 and lost >= _HUNG * places and silent


def _kept_around(sample: Sample, case: Case) -> float:
    """What the others kept of their pace meanwhile, the median of them. 1 where nobody else was loaded."""
    others = [one.slices.kept for one in neighbours(sample, case.run) if one.slices is not None]
    return statistics.median([found for found in others if found is not None] or [1.0])


_NOTE_SHARE = 0.02
_SUSPECT_SHARE = 0.05
"""Shares of CPU above which work outside of a contender's own slices is a note, and above which it is suspect."""


@on_sample(
    "neighbour-works",
    Severity.SUSPECT,
    title="Other contenders used CPU in this contender's slices",
    threshold=(
        "in this contender's slices, the other contenders use the server's CPUs for more than 5 % of the time: "
        "suspect; more than 2 %: a note. A contender that does work for this contender is left out"
    ),
    threshold_reason="idle runtimes use well below 1 % of a CPU each. 5 % is the least difference that matters",
    next_step="Measure without the named contender (`--stacks`), or stop its background work.",
    phases=("load",),
)
def neighbour_works(sample: Sample, case: Case) -> Iterator[Fired]:
    """In slices, all contenders share the server's CPUs.

    A contender that works in another contender's slices takes CPU away from it.
    """
    workers = case.workers.get(sample.id, {})
    used = {name: cpu_s for name, cpu_s in neighbours_cpu(sample).items() if name not in workers}
    length = sliced_s(sample)
    if not used or not length:
        return
    cpus = max(1, len(sample.process.placement.server_cpus))
    taken = sum(used.values()) / (length * cpus)
    if taken <= _NOTE_SHARE:
        return
    worst = next(iter(used))
    yield Fired(
        f"contenders without load used {share(taken)} of the CPUs in this contender's slices, most of it by {worst}",
        severity=Severity.SUSPECT if taken > _SUSPECT_SHARE else Severity.NOTE,
        figures=[*SPEED, *CPU],
        doubt=PossibleBias.of_taken(taken),
        evidence={"share": taken, "cpu_s": used},
    )


@on_sample(
    "work-given-away",
    Severity.INVALID,
    title="One contender makes another contender do its work",
    threshold=(
        "in this contender's slices another contender uses more than 1 % of a CPU (in 80 % of the slices or more). "
        "This is more than 5 % of the CPU that this contender uses itself. It is also at least four times the other "
        "contender's use in the quietest slices: those of the contender or null server in which it uses least"
    ),
    threshold_reason=(
        "background work of the other contender would be in the slices of all contenders and of the null server. "
        "Work that is only in this contender's slices is caused by this contender's requests"
    ),
    next_step=(
        "Find out how the contender passes its requests on: to a port of the other contender, or to a file or queue "
        "that the other one reads. Measure it alone (`--stacks`), so that it must do the work itself."
    ),
    own_failure=True,
    phases=("load",),
)
def work_given_away(sample: Sample, case: Case) -> Iterator[Fired]:
    """All contenders run at the same time, so one could forward its requests to another.

    Its responses would then cost it nothing, and the other's CPU would be in no figure.
    """
    own = own_cpu(sample)
    for worker, used in case.workers.get(sample.id, {}).items():
        yield Fired(
            f"{worker} did work of this contender. It used {share(used / (used + own))} of the CPU time of this "
            "contender's requests, and was idle during the load on others",
            evidence={"worker": worker, "worker_cpu_s": used, "own_cpu_s": own},
        )


_ENDING_S = 0.25
"""CPU seconds in which any runtime can end."""


@on_sample(
    "works-while-off",
    Severity.SUSPECT,
    title="A contender worked while it had no load",
    threshold=(
        "one of three ratios is above 5 %: suspect; above 2 %: a note. (1) CPU that the contender uses in the slices "
        "of others, divided by the CPU of its own requests. Below 1 % of a CPU it is a note at most. CPU that it "
        "uses for another contender's requests does not count. (2) CPU that the contender uses after SIGTERM (if "
        "more than 0.25 s), divided by all its CPU before. (3) Time for which the contender waits for a disk in the "
        "slices of others (if more than 0.1 s), divided by the time of its own slices"
    ),
    threshold_reason=(
        "timers and idle threads of a runtime use less than 1 % of a CPU, which may be a large share of a load that "
        "needs little CPU. 5 % is the smallest difference that matters. A runtime needs up to 0.25 s of CPU to end, "
        "with a framework's hooks. The engine looks for disk waits every few milliseconds, so 0.1 s means many "
        "observations"
    ),
    next_step="Look at background work (garbage collector, flusher, compiler), and measure longer slices: `--slice 1`.",
    phases=("load",),
)
def works_while_off(sample: Sample, case: Case) -> Iterator[Fired]:
    """Work that a service does without load or after SIGTERM is not in its figures.

    Examples are garbage collection, flushes and compilation. In production there is no such pause, so the work would
    slow requests down.
    """
    rest = rest_of(sample, case.run, case.workers)
    if rest is not None and rest.put_off > _NOTE_SHARE:
        yield _finding(
            sample,
            rest.put_off,
            f"during the load on others, the contender used another {share(rest.put_off)} of the CPU time of its "
            "requests",
            severity=Severity.NOTE if rest.is_idle else Severity.SUSPECT,
            evidence={"at_work_s": rest.at_work, "at_rest_s": rest.at_rest, "rested_s": rest.rested_s},
        )
    yield from _syncs_while_off(sample, case)
    used = sample.process.cpu_at_end
    if used is not None and used.before_s > 0 and used.ending_s > max(_ENDING_S, _NOTE_SHARE * used.before_s):
        put_off = used.ending_s / used.before_s
        yield _finding(
            sample,
            put_off,
            f"after the stop signal, the contender used another {share(put_off)} of its CPU time before the signal",
            severity=Severity.SUSPECT,
            evidence={"before_s": used.before_s, "ending_s": used.ending_s},
        )


_LEAST_DISK_S = 0.1


def _syncs_while_off(sample: Sample, case: Case) -> Iterator[Fired]:
    """A sync to disk uses hardly any CPU. Done after the slice, it costs the contender's requests nothing."""
    disk = disk_of(sample, case.run)
    if disk is None or disk.at_rest <= _LEAST_DISK_S:
        return
    put_off = disk.at_rest / disk.sliced_s
    if put_off > _NOTE_SHARE:
        yield _finding(
            sample,
            put_off,
            f"while others had the machine it waited for a disk for {seconds(disk.at_rest)}, {share(put_off)} of the "
            f"time of its own slices",
            severity=Severity.SUSPECT,
            evidence={"at_work_s": disk.at_work, "at_rest_s": disk.at_rest, "sliced_s": disk.sliced_s},
        )


def _finding(
    sample: Sample, put_off: float, statement: str, *, severity: Severity, evidence: dict[str, float]
) -> Fired:
    return Fired(
        statement,
        severity=severity if put_off > _SUSPECT_SHARE else Severity.NOTE,
        figures=[*SPEED, *CPU],
        doubt=PossibleBias(slower=1 + put_off, reason="all of that CPU time may have served its own requests"),
        evidence=evidence,
    )


_SLOW_FIRST_S = 0.01
_SLOW_FIRST_TIMES = 3


@on_sample(
    "slow-after-rest",
    Severity.NOTE,
    title="The first responses after a pause are slow",
    threshold=(
        "in a closed loop with slices, the first responses on all connections take 10 ms longer than later ones "
        "(median over four slices or more). This extra time is also at least three times that of the other "
        "contenders and the null server (their median)"
    ),
    threshold_reason=(
        "waking idle threads and filling caches takes at most a few milliseconds. The other contenders show which "
        "part of the extra time the machine causes. It is a note because the figures do not contain the first "
        "responses"
    ),
    next_step=(
        "Find out what the contender closes or frees when it is idle: connections to dependencies, threads, memory. "
        "Clients that send requests rarely see this latency with each request."
    ),
    phases=("load",),
)
def slow_after_rest(sample: Sample, case: Case) -> Iterator[Fired]:
    """The first response of each connection in a slice is not in the figures.

    If a service is slow after a pause, clients that pause notice it, but the latency figures of slices do not show it.
    """
    extra = first_generation_extra(sample)
    if extra is None or extra <= _SLOW_FIRST_S:
        return
    around = [found for one in neighbours(sample, case.run) if (found := first_generation_extra(one)) is not None]
    usual = statistics.median(around) if around else 0.0
    if extra <= _SLOW_FIRST_TIMES * usual:
        return
    yield Fired(
        f"the first responses after a rest take {seconds(extra)} longer than later ones; latencies leave them out",
        figures=[*LATENCY],
        evidence={"extra_s": extra, "usual_s": usual},
    )
