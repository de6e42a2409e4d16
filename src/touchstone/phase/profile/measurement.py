"""One contender under one load: its CPU without a profiler, the counters, and the sampled stacks."""

from __future__ import annotations

from collections.abc import Callable

from touchstone.bench.base import Built
from touchstone.bench.service import StartedService
from touchstone.failure import TouchstoneError
from touchstone.phase.build.copy import build_copy
from touchstone.phase.profile.application import NATIVE_IMAGE, own_prefixes, tables_of
from touchstone.phase.profile.counters import read_counters
from touchstone.phase.profile.figures import profile_figures
from touchstone.phase.profile.heap import HotspotHeap, heap_counts
from touchstone.phase.profile.java_names import of_symbol
from touchstone.phase.profile.jvm import is_jvm
from touchstone.phase.profile.jvm_profiler import jvm_profiler
from touchstone.phase.profile.naming_runtime import naming_runtime
from touchstone.phase.profile.own_starts import count_instructions, trace_heap
from touchstone.phase.profile.passes import COUNTED_S, PassError, ProfilePasses
from touchstone.phase.profile.perf import Perf
from touchstone.phase.profile.profiler import HERTZ, Profiler, ProfilerError
from touchstone.phase.profile.strace import counting
from touchstone.phase.profile.task import ProfileTask, started
from touchstone.phase.profile.waits import looked_at
from touchstone.record.evidence.profile import ProfileEvidence, ProfilePass, RequestCounts
from touchstone.record.sample import Sample
from touchstone.traffic.warming import WarmUpBudget


def profile_one(task: ProfileTask, sample: Sample) -> None:
    """Fill the sample: the contender itself without a profiler and counted, then itself or its copy with one.

    Raises TouchstoneError if it cannot be loaded. What a profiler is refused is put down, and the rest is measured.
    """
    if task.rate <= 0:
        _try_to_load(task, sample)
        raise PassError("no contender could be loaded, so that there is no rate", fix="run the phase `load` first")
    stack, asked = task.contender.stack, task.contender.variant.profiled
    evidence = ProfileEvidence(rate=task.rate, application=own_prefixes(stack))
    sample.evidence = evidence
    copy = None if asked is None else _copy(task, sample, evidence)
    built = task.bench.builds[task.contender.name]
    with started(task, built, sample) as (contender_running, sequence):
        runtime = naming_runtime(contender_running.process)
        if runtime is not None and runtime.asks and (copy or asked is None):
            copy = runtime.asked(copy or built)
        sampler = _sampler(task, contender_running, evidence) if asked is None and copy is None else None
        with ProfilePasses(task.bench, sequence.load, contender_running, task.rate) as passes:
            passes.warm_up(_budget(task))
            evidence.plain = _steady(passes, contender_running, evidence, sampler)
            _look_at_threads(passes, contender_running, evidence)
            _look_at_heap(passes, contender_running, evidence)
            _count_calls(passes, contender_running, evidence)
        sequence.settle(None, last=False)
    if copy is not None:
        _profile_copy(task, copy, sample, evidence)
    count_instructions(task, sample, evidence)
    if task.contender.stack.language.lower() == "go":
        trace_heap(task, sample, evidence)
    sample.figures, sample.not_measured = profile_figures(evidence)


def _try_to_load(task: ProfileTask, sample: Sample) -> None:
    """Raises TouchstoneError with the reason why this contender could not be loaded, where it still cannot."""
    with (
        started(task, task.bench.builds[task.contender.name], sample) as (contender_running, sequence),
        ProfilePasses(task.bench, sequence.load, contender_running, None) as passes,
    ):
        passes.warm_up(_budget(task))


def _copy(task: ProfileTask, sample: Sample, evidence: ProfileEvidence) -> Built | None:
    """The copy that is profiled. None if it could not be built, with the reason in the evidence."""
    variant = task.contender.variant
    try:
        copy = build_copy(task.bench, task.contender, sample, task.bench.log(sample.process))
    except TouchstoneError as error:
        evidence.not_profiled = f"not measured: the copy for the profiler: {error.sentence}"
        return None
    evidence.copy_build = variant.profiled.build or variant.build if variant.profiled else variant.build
    return copy


def _profile_copy(task: ProfileTask, copy: Built, sample: Sample, evidence: ProfileEvidence) -> None:
    """Sample the copy in a start of its own. If it cannot be loaded, the reason stands in the evidence."""
    try:
        with started(task, copy, sample.model_copy(deep=True)) as (contender_running, sequence):
            sampler = _sampler(task, contender_running, evidence)
            with ProfilePasses(task.bench, sequence.load, contender_running, task.rate) as passes:
                passes.warm_up(_budget(task))
                evidence.copy_plain = _steady(passes, contender_running, evidence, sampler)
    except TouchstoneError as error:
        evidence.not_profiled = f"not measured: the copy for the profiler: {error.sentence}"
        evidence.profiled = evidence.stacks = None  # there is nothing to put them against


def _budget(task: ProfileTask) -> WarmUpBudget:
    profile = task.bench.profile
    return WarmUpBudget(profile.warm_least_s, profile.warm_most_s)


def _sampler(task: ProfileTask, contender_running: StartedService, evidence: ProfileEvidence) -> Profiler | None:
    """The profiler that suits the process, ready. None if there is none, with the reason in the evidence."""
    process, placement = contender_running.process, task.bench.placement
    jvm, runtime = is_jvm(process), naming_runtime(process)
    evidence.tables = [runtime.table] if runtime else tables_of(task.contender.stack, jvm=jvm)
    try:
        if jvm:
            return jvm_profiler(process)
        names = of_symbol if NATIVE_IMAGE in evidence.tables else str
        return Perf(process, placement.server_cpus, placement.engine_cpus, names, runtime)
    except ProfilerError as error:
        evidence.not_profiled = error.sentence
        return None


def _steady(
    passes: ProfilePasses, contender_running: StartedService, evidence: ProfileEvidence, sampler: Profiler | None
) -> ProfilePass:
    """Half a window without the profiler, a whole one with it, and half a window without: drift cancels."""
    seconds = passes.bench.profile.profile_s
    passes.settle()
    if evidence.process is None:
        first, evidence.process = _counted(passes, contender_running, seconds / 2)
    else:
        first = passes.steady(seconds / 2)
    if sampler is not None:
        _sample(passes, evidence, sampler)
    second = passes.steady(seconds / 2)
    known = first.cpu_s is not None and second.cpu_s is not None
    return ProfilePass(
        seconds=first.seconds + second.seconds,
        requests=first.requests + second.requests,
        failed=first.failed + second.failed,
        cpu_s=(first.cpu_s or 0.0) + (second.cpu_s or 0.0) if known else None,
    )


def _counted(
    passes: ProfilePasses, contender_running: StartedService, seconds: float
) -> tuple[ProfilePass, RequestCounts]:
    """A pass, and what the kernel counted meanwhile."""
    process = contender_running.process
    before = read_counters(process)
    done = passes.steady(seconds)
    after = read_counters(process)
    counts = {name: value - before.get(name, 0) for name, value in after.items()}
    return done, RequestCounts(requests=done.requests, rate=passes.rate or 0.0, counts=counts)


def _sample(passes: ProfilePasses, evidence: ProfileEvidence, sampler: Profiler) -> None:
    try:
        sampler.start()
        evidence.profiled = passes.steady(passes.bench.profile.profile_s)
        evidence.stacks = sampler.stop()
        evidence.profiler, evidence.interval_s, evidence.unseen = sampler.name, 1 / HERTZ, sampler.unseen
    except ProfilerError as error:
        evidence.not_profiled = error.sentence
        evidence.profiled = None
    finally:
        sampler.end()


def _look_at_threads(passes: ProfilePasses, contender_running: StartedService, evidence: ProfileEvidence) -> None:
    """What threads wait for: in a window of its own, for looking takes CPU."""
    seconds = passes.bench.profile.profile_s / 2
    try:
        evidence.waits = looked_at(contender_running.process, lambda: passes.steady(seconds))
    except ProfilerError as error:
        evidence.no_waits = error.sentence


def _look_at_heap(passes: ProfilePasses, contender_running: StartedService, evidence: ProfileEvidence) -> None:
    """What a JVM collects and allocates, between two collections that touchstone asks for."""
    try:
        heap = HotspotHeap(contender_running.process, contender_running.process.log.with_suffix(".gc.log"))
        heap.collect()
        done = passes.steady(passes.bench.profile.profile_s / 2)
        heap.collect()
        evidence.heap = heap_counts(heap.collections(), done, passes.rate)
    except ProfilerError as error:
        evidence.no_heap = error.sentence


def _count_calls(passes: ProfilePasses, contender_running: StartedService, evidence: ProfileEvidence) -> None:
    """System calls by name: in a pass of its own, for a tracer makes a program slow."""

    def traced(carry_out: Callable[[], int]) -> None:
        with counting(contender_running.process) as calls:
            requests = carry_out()
        evidence.syscalls = RequestCounts(requests=requests, rate=passes.counted_rate, counts=calls)

    try:
        passes.counted(COUNTED_S, traced)
    except ProfilerError as error:
        evidence.not_counted = error.sentence
