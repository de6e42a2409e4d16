"""Rules on capacity: the search for the highest rate that meets an objective."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.disturbance import taken_in_failed_trials
from touchstone.judge.reading.traffic import has_cpu_to_spare
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.evidence.capacity import Behaviour, BurstEvidence, CapacityEvidence
from touchstone.record.sample import Sample
from touchstone.vocabulary.limits import NEAR_CEILING, OTHERS


@on_sample(
    "capacity-beyond-generator",
    Severity.SUSPECT,
    title="The capacity is beyond what the generator can offer",
    threshold=(
        "the server kept the objective at every rate that the engine could send. Or the capacity is above 90 % of "
        "the null server's capacity under the same objective, and the server's CPUs were less than 90 % busy at the "
        "highest rate that kept it"
    ),
    threshold_reason=(
        "a server that keeps the objective at the engine's limit may keep it at higher rates too. Within a tenth of "
        "the null server's capacity, engine and kernel are close to their own limits. The server is the limit only "
        "if its CPUs are full"
    ),
    next_step="Read the capacity as a lower bound. Give the engine more CPUs, or the contender fewer (--cpus 0.5).",
    phases=("capacity",),
)
def capacity_beyond_generator(sample: Sample, case: Case) -> Iterator[Fired]:
    """The search ended at the load generator's limit, not at the server's."""
    found, rate = sample.capacity, sample.figures.get("capacity")
    if found is None or rate is None:
        return
    why = _why(found, rate)
    if why:
        yield Fired(
            f"the capacity is at least {number(rate)}/s: {why}",
            figures=["capacity"],
            doubt=PossibleBias(faster=None, reason="the capacity may be any higher rate"),
            evidence={"capacity": rate, "tare": found.tare, "ended": found.ended},
        )


def _why(found: CapacityEvidence, rate: float) -> str:
    if found.ended == "generator":
        spoilt = [trial.why for trial in found.trials if trial.held is None and trial.void != "others"]
        limit = f"; above them, {spoilt[-1]}" if spoilt else ""
        return f"the objective ({found.objective}) held at all rates that the engine could offer{limit}"
    held = [trial for trial in found.trials if trial.held]
    busy = max(held, key=lambda trial: trial.rate).server_busy if held else None
    if found.tare and rate > NEAR_CEILING * found.tare and has_cpu_to_spare(busy):
        return (
            f"that is {share(rate / found.tare)} of the null server's capacity ({number(found.tare)}/s), and the "
            f"server used only {share(busy)} of its CPUs"
        )
    return ""


_SHOWN = 0.01


@on_sample(
    "capacity-disturbed",
    Severity.SUSPECT,
    title="Other programs used the CPUs while trials failed",
    threshold=(
        "in the median failed trial, more than 10 % of the machine's CPU time was steal or was used by processes "
        "other than server, engine and dependencies"
    ),
    threshold_reason="the limit is that of `other-processes`: on two cores, 10 % of the machine is a fifth of one core",
    next_step="Stop other processes (`touchstone doctor --noise` lists them), or measure on a dedicated machine.",
    phases=("capacity",),
)
def capacity_disturbed(sample: Sample, case: Case) -> Iterator[Fired]:
    """A trial that fails because another program uses the CPU shows nothing about the server.

    Trials that fail because of a short burst of other programs are ignored.

    This finding reports other programs that use the CPU all the time.
    """
    taken = taken_in_failed_trials(sample, case.run.environment.cpus)
    if taken is None or sum(taken) <= OTHERS:
        return
    others, stolen = taken
    stolen_too = f", and the hypervisor took {share(stolen)}" if stolen >= _SHOWN else ""
    yield Fired(
        f"during the failed trials, other processes used {share(others)} of the machine's CPU time{stolen_too}",
        figures=["capacity"],
        doubt=PossibleBias.of_taken(others + stolen),
        evidence={"share": others, "stolen": stolen},
    )


@on_sample(
    "capacity-uncertain",
    Severity.SUSPECT,
    title="The trials of a round do not determine the capacity",
    threshold="all trials of a round were used, and the round's interval is still wider than twice the margin",
    threshold_reason=(
        "the capacity of this round is then more uncertain than the smallest difference that matters. The round's "
        "interval is added to the interval of the comparison"
    ),
    next_step="Stop other programs, or use a longer preset. Longer trials are less affected by a short disturbance.",
    phases=("capacity",),
)
def capacity_uncertain(sample: Sample, case: Case) -> Iterator[Fired]:
    """Over a wide range of rates, some trials keep the objective and some do not.

    The capacity is then a range and not a number.
    """
    found, rate = sample.capacity, sample.figures.get("capacity")
    if found is None or rate is None or found.ended != "trials" or not found.low or not found.high:
        return
    width = found.high / found.low - 1
    if width <= 2 * case.margin:
        return
    void = sum(trial.void == "others" for trial in found.trials)
    void_too = f". {void} trials are void, because other processes used the CPUs" if void else ""
    yield Fired(
        f"after {len(found.trials)} trials the capacity lies between {number(found.low)} and "
        f"{number(found.high)}/s, {share(width)} apart{void_too}",
        figures=["capacity"],
        doubt=PossibleBias(
            faster=max(1.0, found.high / rate),
            slower=max(1.0, rate / found.low),
            reason="the interval of this round's own trials",
        ),
        evidence={"low": found.low, "high": found.high, "trials": len(found.trials), "void": void},
    )


@on_sample(
    "dies-past-knee",
    Severity.NOTE,
    title="The server exited at a rate above its capacity",
    threshold=(
        "the server exits before the stop signal, during a trial, during the closed loop of the warm-up, or in a burst"
    ),
    threshold_reason="a process that has exited answers no request at any rate",
    next_step="Read the server's log. Limit its queue or its connections, so that it refuses excess requests.",
    phases=("capacity",),
)
def dies_past_knee(sample: Sample, case: Case) -> Iterator[Fired]:
    """A service that refuses excess requests recovers when the load falls.

    A service that exits does not. This is a result and not an error of the measurement. touchstone started a new
    process and continued the search at lower rates.
    """
    found = sample.capacity
    if found is not None and found.death is not None:
        where = f"at {number(found.dies_at)}/s" if found.dies_at else "when all connections sent requests at once"
        yield Fired(
            f"the service died {where}: the server {found.death}",
            figures=[],
            evidence={"dies_at": found.dies_at, "death": found.death, "capacity": sample.figures.get("capacity")},
        )
    if (burst := _burst(sample, "dies")) is not None:
        yield Fired(
            f"the service died in a burst above its capacity of {number(burst.capacity)}/s: the server {burst.died}",
            figures=[],
            evidence=burst.model_dump(mode="json"),
        )


@on_sample(
    "goodput-collapses",
    Severity.NOTE,
    title="Above its capacity the service answers hardly any request in time",
    threshold=(
        "at a load of twice the capacity, goodput (the rate of responses in time) is below 20 % of the capacity, and "
        "the service recovers after the burst"
    ),
    threshold_reason=(
        "a service that refuses excess requests keeps its goodput. A service that loses four fifths of it spends its "
        "time on requests whose clients have given up"
    ),
    next_step=(
        "Limit the queue or the number of requests in flight, and refuse the rest at once with 503 or 429. Drop a "
        "request whose client has closed its connection."
    ),
    phases=("capacity",),
)
def goodput_collapses(sample: Sample, case: Case) -> Iterator[Fired]:
    """At twice its capacity, a service could still answer requests at its full capacity.

    Many services then answer none in time.
    """
    burst = _burst(sample, "collapses")
    if burst is None:
        return
    goodput = burst.goodput_at(2.0) or 0.0
    yield Fired(
        f"at twice its capacity of {number(burst.capacity)}/s, the service answers only {number(goodput)}/s within "
        f"{burst.deadline_s * 1e3:g} ms",
        figures=[],
        evidence=burst.model_dump(mode="json"),
    )


@on_sample(
    "never-recovers",
    Severity.NOTE,
    title="The service did not recover from a burst",
    threshold=(
        "after the burst, the load continues at 70 % of the capacity for the length of four trials. The service "
        "never recovers: in each second, fewer than 95 % of the requests get a right response within the objective's "
        "latency"
    ),
    threshold_reason=(
        "without the burst, the service can handle this load. So the burst left something behind: a queue of "
        "requests whose clients have given up, or a broken state"
    ),
    next_step=(
        "Limit the time in the queue: drop a request that has waited longer than its client waits. Look for retries, "
        "for caches that have become empty, and for pools with broken connections."
    ),
    phases=("capacity",),
)
def never_recovers(sample: Sample, case: Case) -> Iterator[Fired]:
    """A short burst makes the service unusable for minutes, or until it is restarted."""
    burst = _burst(sample, "never recovers")
    if burst is None:
        return
    after = burst.steps[-1]
    yield Fired(
        f"the service did not recover within {after.seconds:g} s after the burst. At {after.factor:.0%} of its "
        f"capacity it answered {number(after.goodput)}/s of {number(after.rate)}/s within "
        f"{burst.deadline_s * 1e3:g} ms, and its latency stayed above the usual one",
        figures=[],
        evidence=burst.model_dump(mode="json"),
    )


def _burst(sample: Sample, behaviour: Behaviour) -> BurstEvidence | None:
    """The burst in which a service showed this behaviour. None if it did not or the burst is void."""
    burst = sample.capacity.burst if sample.capacity else None
    return burst if burst is not None and not burst.void and burst.behaviour == behaviour else None


@on_sample(
    "objective-not-met",
    Severity.NOTE,
    title="No rate met the objective",
    threshold="with a probability of 90 %, the capacity is below the lowest rate that can be tested",
    threshold_reason=(
        "below the lowest rate, a trial of ten seconds has too few requests to estimate the objective's percentiles"
    ),
    next_step=(
        "Look at the latency at the lowest rate. The objective may be stricter than the latency of the idle service."
    ),
    phases=("capacity",),
)
def objective_not_met(sample: Sample, case: Case) -> Iterator[Fired]:
    """The service misses the objective even when it is nearly idle. It has no capacity under this objective."""
    found = sample.capacity
    if found is None or found.ended != "nothing holds" or not found.trials:
        return
    least = min(found.trials, key=lambda trial: trial.rate)
    yield Fired(
        f"the objective ({found.objective}) was missed even at {number(least.rate)}/s, the lowest rate tried: "
        f"{least.why}",
        figures=["capacity"],
        evidence={"lowest": found.lowest, "rate": least.rate, "latency": least.latency, "why": least.why},
    )
