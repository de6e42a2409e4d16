"""Rules on builds: what a build left, and what its times show."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import BOOT_TIME, CPU, MEMORY
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import Fired, on_run, on_sample
from touchstone.record.process import AotCache
from touchstone.record.sample import Sample
from touchstone.vocabulary.limits import OTHERS

_SHOWN = 3


@on_run(
    "aot-cache-refused",
    Severity.SUSPECT,
    title="The JVM does not use the AOT cache",
    threshold=(
        "a command names an AOT cache or a CDS archive, and the JVM rejects the file. touchstone starts the JVM with "
        "the option that makes a rejection an error"
    ),
    threshold_reason=(
        "the JVM itself says that it rejects the cache. Without that option it runs without the cache, and mentions "
        "this at most in its log"
    ),
    next_step=(
        "Train with the JDK and the flags that the service runs with. The garbage collector, object headers, a heap "
        "above 32 GB and the JDK's version decide whether a cache fits."
    ),
)
def aot_cache_refused(case: Case) -> Iterator[Fired]:
    """The variant is called one with an AOT cache, but was measured without a cache."""
    for name, cache in _caches(case).items():
        if cache.refused is not None:
            yield Fired(
                f"the JVM refused the AOT cache {cache.file}: {cache.refused}",
                contender=name,
                figures=[*BOOT_TIME, *CPU, *MEMORY],
                evidence=cache.model_dump(),
            )


@on_run(
    "aot-cache-stale",
    Severity.INVALID,
    title="The AOT cache is older than the program",
    threshold=(
        "the JVM accepts an AOT cache, and a jar or class among the artifacts was changed more than 1 s after the cache"
    ),
    threshold_reason=(
        "a cache is made from files that are older than the cache. The 1 s is for file systems that round times. JDK "
        "25.0.3 does not compare an AOT cache with the jars. It runs the code in the cache"
    ),
    next_step="Make the cache in `train`, or in `build` after the last step that writes a jar.",
)
def aot_cache_stale(case: Case) -> Iterator[Fired]:
    """The JVM then runs the old program in the cache instead of the new build."""
    for name, cache in _caches(case).items():
        if cache.newer and cache.refused is None:
            yield Fired(
                f"the AOT cache {cache.file} is older than {', '.join(cache.newer)}, and the JVM runs the code in "
                "the cache",
                contender=name,
                evidence=cache.model_dump(),
            )


def _caches(case: Case) -> dict[str, AotCache]:
    """By contender: what was found at its last start."""
    found = ((sample.contender, sample.process.aot_cache) for sample in case.run.samples)
    return {name: cache for name, cache in found if cache is not None}


@on_sample(
    "artifact-older",
    Severity.INVALID,
    title="The build's output is older than the build",
    threshold=(
        "the cold build left an executable, a jar, a class, an AOT cache or a CDS archive that was last changed more "
        "than 1 s before the build began. Files that are identical in a package manager's store do not count"
    ),
    threshold_reason=(
        "a compiler's output has the time at which it was written. The 1 s is for file systems that round times"
    ),
    next_step=(
        "Compile it in `build`. Downloads of finished files, such as packages, belong in `install`. A program that is "
        "not built needs no `build`."
    ),
    phases=("build",),
)
def artifact_older(sample: Sample, case: Case) -> Iterator[Fired]:
    """The build copied a program that was compiled earlier. The time of that compilation is not in the build time."""
    older = sample.build.older if sample.build else []
    if older:
        others = f" and {len(older) - _SHOWN} more" if len(older) > _SHOWN else ""
        yield Fired(
            f"{', '.join(older[:_SHOWN])}{others} were already compiled when the build began",
            figures=["build_cold", "build_warm", "build_cpu", "build_memory_peak"],
            evidence={"artifacts": older},
        )


_BUILD_DISTURBED_STOLEN = 0.05
_BUILD_DISTURBED_TICK_S = 0.01
"""The kernel's clock counts the CPU time of the machine in ticks of this length, for each CPU."""
_BUILD_DISTURBED_TICKS = 5


@on_sample(
    "build-disturbed",
    Severity.SUSPECT,
    title="Other programs used the CPUs during the build",
    threshold=(
        "during the cold build, other processes use more than 10 % of the machine's CPU time, or the hypervisor "
        "takes more than 5 % (steal). In addition, the two together must exceed 50 ms per CPU"
    ),
    threshold_reason=(
        "on two cores 10 % of the machine is a fifth of one core. Steal of 5 % makes a build about 5 % longer, which "
        "is the default margin. The kernel counts CPU time in ticks of 10 ms, so it cannot show which program used "
        "the CPUs in a build of a few milliseconds"
    ),
    next_step="Stop other processes, and build again with `--fresh-builds`.",
    phases=("build",),
)
def build_disturbed(sample: Sample, case: Case) -> Iterator[Fired]:
    """A build is timed only once, so rounds cannot average a disturbance out.

    Later runs take the disturbed figures from the build cache.
    """
    machine = sample.machine
    if machine is None or not machine.wall_s or machine.other_cpu_s is None or machine.steal_s is None:
        return
    cpus = max(1, case.run.environment.cpus)
    others, stolen = (lost / (machine.wall_s * cpus) for lost in (machine.other_cpu_s, machine.steal_s))
    if (others <= OTHERS and stolen <= _BUILD_DISTURBED_STOLEN) or _is_short(
        machine.other_cpu_s + machine.steal_s, cpus
    ):
        return
    yield Fired(
        f"during the build, other processes used {share(others)} of the machine's CPU time, "
        f"and the hypervisor took {share(stolen)}",
        figures=["build_cold", "build_warm", "build_cpu"],
        doubt=_doubt(machine.wall_s, machine.other_cpu_s + machine.steal_s),
        evidence={"wall_s": machine.wall_s, "other_cpu_s": machine.other_cpu_s, "steal_s": machine.steal_s},
    )


def _is_short(lost_s: float, cpus: int) -> bool:
    return lost_s <= _BUILD_DISTURBED_TICKS * _BUILD_DISTURBED_TICK_S * cpus


def _doubt(wall_s: float, lost_s: float) -> PossibleBias:
    """The bias of a build of `wall_s` seconds in which others had CPUs for `lost_s` seconds."""
    return PossibleBias(
        faster=wall_s / (wall_s - lost_s) if lost_s < wall_s else None,
        reason="each second of CPU that others used makes a build longer by at most one second",
    )


@on_sample(
    "build-not-cold",
    Severity.INVALID,
    title="A cold build used files of an earlier build",
    threshold=(
        "there is a figure for a cold build, but the record says that the build was not cold, or does not show that "
        "it was"
    ),
    threshold_reason=(
        "touchstone checks the build's folders and caches before a cold build. Without that check nobody knows "
        "whether the build was cold"
    ),
    next_step="Build again with fresh caches (`--fresh`), and see which cache the build tool keeps elsewhere.",
    phases=("build",),
)
def build_not_cold(sample: Sample, case: Case) -> Iterator[Fired]:
    """A compiler is fast if it finds the object files of an earlier build.

    The build time then shows only how long it took to find them.
    """
    if "build_cold" not in sample.figures or sample.build is None:
        return
    if sample.build.cold and sample.build.cold_proof:
        return
    why = "its caches were not empty" if not sample.build.cold else "nothing proves that its caches were empty"
    yield Fired(
        f"the cold build was not cold: {why}",
        figures=["build_cold", "build_cpu", "build_memory_peak"],
        evidence=sample.build.model_dump(mode="json"),
    )


@on_sample(
    "prebuilt-artifact",
    Severity.INVALID,
    title="The build produced nothing new",
    threshold=(
        "an executable, a jar, a class, an AOT cache or a CDS archive among the artifacts is identical to a file in "
        "the sources"
    ),
    threshold_reason="a compiler's output cannot be in the sources, unless the program was compiled before",
    next_step="Build from the sources. Or leave the build time out: give the variant no `build`.",
    phases=("build",),
)
def prebuilt_artifact(sample: Sample, case: Case) -> Iterator[Fired]:
    """A build that only copies a finished program has a short build time, but builds nothing."""
    found = sample.build.prebuilt if sample.build else []
    if found:
        yield Fired(
            f"the sources already held finished output of the build: {', '.join(found)}",
            figures=["build_cold", "build_warm", "build_cpu", "build_memory_peak"],
            evidence={"artifacts": found},
        )
