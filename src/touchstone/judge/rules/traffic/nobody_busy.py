"""Rule: requests waited, and no CPU was what they waited for."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.dependencies import dependency_use, stated_delay_s
from touchstone.judge.reading.disturbance import others_share
from touchstone.judge.reading.traffic import error_share, generator_busy, generator_throttled, loop, pauses, server_busy
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import DependencyState, Sample

SERVER_BUSY = 0.3
OTHERS_BUSY = 0.5
TAKEN = 0.25
WAITED_S = 0.002
FAILED = 0.05


class NobodyBusy(SampleRule):
    """A closed loop asks again as soon as it has an answer, so that something is always the limit.

    Where it is no CPU, a faster program changes nothing: the requests wait for something that takes its time however
    fast the machine is. That is a property of the service, and often the whole of a difference.
    """

    code = "nobody-busy"
    severity = Severity.NOTE
    title = "Requests waited while no CPU was busy"
    threshold = (
        "closed loop without think time, a median latency of 2 ms and more: the server below 30 % of the CPUs that its "
        "threads could use, the generator and each dependency below 50 %, others below 25 % of the machine; and no "
        "downstream whose stated delay is half of the median"
    )
    threshold_reason = (
        "waking up and passing on take far less than 2 ms, also on a virtual machine; below 30 % a queue for the "
        "server's CPUs adds less than half of the time that a request needs of them"
    )
    next_step = (
        "Find what its requests wait for: a pool that is too small, a lock, a timer, a limit of the rate, the disk, an "
        "acknowledgement (TCP_NODELAY). A faster machine does not help; more connections may."
    )

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or loop(sample) != "closed" or pauses(sample) or sample.placement.cpu_limit is not None:
            return
        server, generator, median = server_busy(sample), generator_busy(result), result.latency.p50
        if server is None or median is None or median < WAITED_S or error_share(result) > FAILED:
            return
        taken = (others_share(sample, case.run.environment.cpus) or 0.0) + _stolen(sample, case)
        if server >= SERVER_BUSY or generator >= OTHERS_BUSY or taken >= TAKEN or _throttled(sample):
            return
        if all(_at_rest(dependency, sample, median) for dependency in sample.dependencies):
            yield self.finding(
                f"a request took {seconds(median)} while the server was busy for {share(server)} and the generator for "
                f"{share(generator)}: it waited for something that is no CPU",
                sample=sample,
                figures=[],
                evidence={"p50_s": median, "server_busy": server, "engine_busy": generator, "taken": taken},
            )


def _at_rest(dependency: DependencyState, sample: Sample, median: float) -> bool:
    """Whether a dependency neither worked much nor is stated to make requests wait; not if nobody knows."""
    delay, use = stated_delay_s(dependency), dependency_use(sample)
    if delay is not None and 2 * delay >= median:
        return False
    used = use.cpu_s.get(dependency.name)
    if used is None:
        # A file, such as SQLite's, has no process.
        return not dependency.cpus
    return used < OTHERS_BUSY * use.elapsed_s


def _stolen(sample: Sample, case: Case) -> float:
    result = sample.result
    if result is None or not result.machine.steal_s or not result.window.watched_s:
        return 0.0
    return result.machine.steal_s / (result.window.watched_s * max(1, case.run.environment.cpus))


def _throttled(sample: Sample) -> bool:
    if sample.result is None:
        return False
    watch = sample.result.watch
    return generator_throttled(sample.result) > 0 or (watch is not None and bool(watch.window.throttled_periods))
