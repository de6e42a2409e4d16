"""Rules on the ceiling: figures next to those of the null server."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from touchstone.judge.figures import CPU, PEAK, SPEED
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import has_cpu_to_spare, loop, server_busy
from touchstone.judge.rule import Fired, on_run, on_sample
from touchstone.judge.statistics.distributions import order_chance
from touchstone.judge.statistics.trend import theil_sen
from touchstone.record.sample import Sample
from touchstone.vocabulary.limits import NEAR_CEILING

_ABOVE_TARE_FASTER = 1.25
_ABOVE_TARE_SHORTER = 0.5


@on_sample(
    "above-tare",
    Severity.SUSPECT,
    title="The contender is faster than the null server",
    threshold=(
        "in a closed loop, throughput is more than 25 % above the null server's best. In an open loop, the median "
        "latency is below half of the null server's lowest"
    ),
    threshold_reason=(
        "measurements of the null server are short and vary by up to a tenth between rounds. The rule uses the best "
        "of them. A real server does at least as much work as the null server"
    ),
    next_step=(
        "Check that the null server ran on the same CPUs and connections. Look for a cache or a proxy in front of the "
        "contender."
    ),
)
def above_tare(sample: Sample, case: Case) -> Iterator[Fired]:
    """A real server cannot be much faster than the null server.

    If a contender seems to be, a unit, a count or the null server's figure is wrong.
    """
    result, tares = sample.result, [t.result for t in case.tares(sample.load) if t.result is not None]
    if result is None or not tares:
        return
    if loop(sample) == "closed":
        best = max(t.rate.achieved for t in tares)
        if best and result.rate.achieved > best * _ABOVE_TARE_FASTER:
            yield Fired(
                f"the rate of {number(result.rate.achieved)}/s is {share(result.rate.achieved / best)} of the null "
                "server's "
                f"best rate ({number(best)}/s), although the null server does no work",
                figures=SPEED,
                evidence={"rate": result.rate.achieved, "best_tare": best},
            )
        return
    medians = [t.latency.p50 for t in tares if t.latency.p50]
    if medians and result.latency.p50 and result.latency.p50 < min(medians) * _ABOVE_TARE_SHORTER:
        yield Fired(
            f"the median latency of {seconds(result.latency.p50)} is {share(result.latency.p50 / min(medians))} "
            f"of the null server's lowest median ({seconds(min(medians))})",
            figures=SPEED,
            evidence={"p50_s": result.latency.p50, "lowest_tare_p50_s": min(medians)},
        )


@on_sample(
    "near-tare",
    Severity.SUSPECT,
    title="The throughput is close to the null server's",
    threshold=(
        "in a closed loop, throughput is above 90 % of the null server's median rate, while the server's CPUs are less "
        "than 90 % busy"
    ),
    threshold_reason=(
        "within a tenth of the null server's rate, differences between contenders look smaller than they are. A "
        "server whose CPUs are full has reached its own limit; CPU that other processes used was not available to "
        "it. In neighbouring slices both contenders have the same ceiling, so their order is known, but not the size "
        "of the difference"
    ),
    next_step=(
        "Give the engine more CPUs, or make the server the bottleneck (fewer CPUs for it). Compare CPU per request "
        "instead."
    ),
)
def near_tare(sample: Sample, case: Case) -> Iterator[Fired]:
    """The null server's rate is the highest that load generator, kernel and machine can reach.

    A contender close to that rate may be faster than touchstone can measure.
    """
    result = sample.result
    tare = case.ceiling(sample.load)
    if result is None or not tare or loop(sample) != "closed":
        return
    busy = server_busy(sample)
    if not has_cpu_to_spare(busy) or result.rate.achieved <= NEAR_CEILING * tare:
        return
    yield Fired(
        f"the rate of {number(result.rate.achieved)}/s is {share(result.rate.achieved / tare)} of the null server's "
        f"rate ({number(tare)}/s), and the server used only {share(busy)} of its CPUs",
        figures=SPEED,
        doubt=PossibleBias(
            faster=None, presses=True, reason="with a faster generator the rate may be any higher value"
        ),
        evidence={"rate": result.rate.achieved, "tare": tare, "server_busy": busy},
    )


_LEAST_TARES = 4
_TARE_DRIFT_UNLIKELY = 0.05
_TARE_DRIFT_RARE = 0.1


@on_run(
    "tare-drift",
    Severity.SUSPECT,
    title="The machine became faster or slower during the run",
    threshold=(
        "the null server's rates rise or fall over time (Kendall's tau). A change of more than twice the margin at p "
        "below 5 % is suspect; a change of more than the margin at p below 10 % is a note"
    ),
    threshold_reason=(
        "ratios are computed within rounds, which cancels most of a drift. If the drift is twice the margin, it can "
        "reach the margin between the first and the last contender of a round. Four rates are in rising or falling "
        "order by chance once in twelve times, so four rates alone never make it suspect"
    ),
    next_step=(
        "Let the machine reach a steady temperature first. Stop other processes. Measure more rounds: the random "
        "order of contenders then averages the drift out."
    ),
)
def tare_drift(case: Case) -> Iterator[Fired]:
    """The null server does the same work in every round.

    If it becomes slower, the machine has become slower, and contenders that are measured later look slower.
    """
    for load in case.tared:
        rates = _closed_rates(case, load)
        if len(rates) < _LEAST_TARES or min(rates) <= 0:
            continue
        line = theil_sen(range(len(rates)), rates)
        change = line.slope * (len(rates) - 1) / line.intercept if line.intercept > 0 else 0.0
        if abs(change) <= case.margin:
            continue
        p = order_chance(rates)
        certain = p < _TARE_DRIFT_UNLIKELY
        if p < _TARE_DRIFT_RARE:
            yield Fired(
                f"the null server's rate {'rose' if change > 0 else 'fell'} by {share(abs(change))} over the run",
                severity=Severity.SUSPECT if certain and abs(change) > 2 * case.margin else Severity.NOTE,
                load=load,
                figures=PEAK if load is None else [*SPEED, *CPU],
                doubt=PossibleBias(
                    faster=1 + change if change > 0 else 1 / max(1e-3, 1 + change),
                    common=True,
                    reason="the change of the machine's speed; neighbouring slices share it",
                ),
                evidence={"tares": rates, "change": change, "p": p},
            )


@on_run(
    "tare-missing",
    Severity.NOTE,
    title="The null server was not measured",
    threshold="a load has samples, but the null server was not measured under it",
    threshold_reason=(
        "several rules need the null server's figures. Without them these rules cannot fire, even if there is a problem"
    ),
    next_step="Run with the null server (it is on by default), or find out why it failed.",
)
def tare_missing(case: Case) -> Iterator[Fired]:
    """The null server's rate shows whether the load generator was at its limit.

    It also shows whether the machine changed.
    """
    for load in case.tared:
        groups = case.groups_of("load" if load else "peak")
        measured = [g for g in groups if g.load == load and any(s.result for s in g.samples)]
        if measured and not case.tares(load):
            yield Fired(
                "the null server was not measured, so the generator's ceiling and the machine's drift are unknown",
                load=load,
            )


@on_run(
    "tare-noise",
    Severity.SUSPECT,
    title="The machine is noisy",
    threshold=(
        "the variation of the null server's rates (1.48 times the median absolute deviation) is above three times "
        "the margin: suspect; above the margin: a note"
    ),
    threshold_reason=(
        "the intervals of comparisons already include this noise. Above three times the margin, a run has too few "
        "rounds to average outliers out. For loads in slices it is a note, because noise affects neighbouring slices "
        "equally"
    ),
    next_step=(
        "Stop other processes (`touchstone doctor --noise` lists them), pin the CPUs, or measure longer rounds."
    ),
)
def tare_noise(case: Case) -> Iterator[Fired]:
    """The null server always does the same work, so its rate varies only with the machine.

    All other figures vary at least as much.
    """
    for load in case.tared:
        rates = _closed_rates(case, load)
        if len(rates) < _LEAST_TARES:
            continue
        middle = statistics.median(rates)
        scatter = 1.4826 * statistics.median(abs(r - middle) for r in rates) / middle if middle else 0.0
        loud = scatter > 3 * case.margin
        if scatter > case.margin:
            yield Fired(
                f"the null server's rate varies by {share(scatter)} around {number(middle)}/s, although its work is "
                "constant",
                severity=Severity.SUSPECT if loud and not _sliced(case, load) else Severity.NOTE,
                load=load,
                figures=PEAK if load is None else [*SPEED, *CPU],
                doubt=PossibleBias(
                    faster=1 + scatter,
                    common=True,
                    reason="a disturbed round compared with the others; neighbouring slices share it",
                ),
                evidence={"tares": rates, "scatter": scatter},
            )


def _closed_rates(case: Case, load: str | None) -> list[float]:
    """The rates of a load's tares in the order in which they were taken. None in an open loop."""
    return [tare.result.rate.achieved for tare in case.tares(load) if tare.result and loop(tare) == "closed"]


def _sliced(case: Case, load: str | None) -> bool:
    return all(tare.slices is not None for tare in case.tares(load))


_LEVEL = 0.02


@on_run(
    "level-at-ceiling",
    Severity.SUSPECT,
    title="Several contenders have the same rate, close to the null server's",
    threshold=(
        "in a closed loop, the rates of two or more contenders are within 2 % of each other and above 90 % of the "
        "null server's rate, and the CPUs of all of them are less than 90 % busy"
    ),
    threshold_reason=(
        "on a quiet machine repeated runs agree within 2 %. Servers with equal rates and unused CPU share a limit "
        "outside of them. It makes differences smaller but does not change the order"
    ),
    next_step="Give the engine more CPUs or the servers fewer. Or compare their CPU per request.",
)
def level_at_ceiling(case: Case) -> Iterator[Fired]:
    """The load generator limits these contenders.

    Their equal rates show its limit, and not that the contenders are equally fast.
    """
    for load in case.loads:
        ceiling = case.ceiling(load)
        if not ceiling:
            continue
        at_ceiling: dict[str, float] = {}
        for group in case.groups_of("load", load):
            rates = [
                s.result.rate.achieved
                for s in group.samples
                if s.result and loop(s) == "closed" and has_cpu_to_spare(server_busy(s))
            ]
            if rates and statistics.median(rates) > NEAR_CEILING * ceiling:
                at_ceiling[group.contender] = statistics.median(rates)
        top = max(at_ceiling.values(), default=0.0)
        level = sorted(c for c, rate in at_ceiling.items() if rate >= top * (1 - _LEVEL))
        if len(level) > 1:
            for contender in level:
                yield Fired(
                    f"{', '.join(level)} are within {share(_LEVEL)} of each other at the null server's rate of "
                    f"{number(ceiling)}/s, so the load generator limits all of them",
                    contender=contender,
                    load=load,
                    figures=SPEED,
                    doubt=PossibleBias(faster=None, presses=True, reason="without the shared limit they may differ"),
                    evidence={"rates": at_ceiling, "tare": ceiling},
                )
