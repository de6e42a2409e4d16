"""Rules on provenance: what was built, from what, and on which machine."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePath

from touchstone.commands.development import compiles_less, development_signs
from touchstone.judge.figures import BOOT_TIME, CPU, MEMORY, SPEED
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.machine_state import machine_state
from touchstone.judge.rule import Fired, on_run
from touchstone.record.sample import TARE, Sample


@on_run(
    "artifact-changed",
    Severity.INVALID,
    title="The program changed during the run",
    threshold=(
        "the SHA-256 of a file differs between two starts of a run. The file is an artifact of the contender, or a "
        "shared library or jar anywhere on the machine that its processes map as code or hold open for reading"
    ),
    threshold_reason=(
        "nothing writes to an artifact or a library after the build, so any difference means a different program"
    ),
    next_step="Find out what writes to the artifact: the program itself, or a build at the same time as the run.",
    own_failure=True,
)
def artifact_changed(case: Case) -> Iterator[Fired]:
    """If a contender's files change between rounds, the rounds measure different programs.

    A comparison needs one program for each contender.
    """
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for sample in case.run.samples:
        if sample.phase == "build":
            # A training run, which goes by this name, too, adds to the artifacts.
            continue
        own = sample.process.artifacts
        mapped = {path: digest for path, digest in sample.process.mapped.items() if PurePath(path).name not in own}
        for name, digest in {**own, **mapped}.items():
            found[sample.contender, name].setdefault(digest, sample.id)
    for (contender, name), digests in found.items():
        if len(digests) > 1:
            yield Fired(
                f"{name} changed within the run. Its versions first appeared in {', then in '.join(digests.values())}",
                contender=contender,
                evidence={"file": name, "first_seen": {sample: digest for digest, sample in digests.items()}},
            )


_SIGNS = 5
"""Signs that the statement names; all are in the evidence."""


@on_run(
    "development-mode",
    Severity.SUSPECT,
    title="The program was built or started for development",
    threshold=(
        "a build command, the run command or their environment shows one of these signs: no optimisation, a "
        "sanitizer, coverage counters, a profiler, a debugger or tracer, a development server or one that reloads "
        "code, a JVM with reduced compilation, logs at debug level. The rule also fires if the program contains a "
        "sanitizer or coverage runtime, or if its debug information says that it was compiled without optimisation. "
        "It does not fire for exhibits"
    ),
    threshold_reason=(
        "none of these signs is usual in deployment. The cost depends on the program: some become thirty times "
        "slower, and none becomes faster. A runtime that compiles less starts sooner and uses less memory, so "
        "figures of start and memory may be too high or too low"
    ),
    next_step="Build and start the program as in production. If production looks like this, the figures are valid.",
)
def development_mode(case: Case) -> Iterator[Fired]:
    """A program without optimisation, with a sanitizer or under a debugger can be many times slower.

    This is a common mistake in comparisons, and no figure shows it.
    """
    for contender in case.run.plan.contenders:
        if contender.exhibit:
            continue
        samples = [s for s in case.run.samples if s.contender == contender.name]
        commands = [command for s in samples if s.build is not None for command in s.build.commands]
        started = next((s for s in samples if s.process.argv), None)
        built_with = {name: value for s in samples if s.build is not None for name, value in s.build.env.items()}
        ran = [started.process.argv] if started else []
        signs = development_signs([*commands, *ran], started.process.env if started else {}, built_with)
        signs += dict.fromkeys(sign for s in samples if s.build is not None for sign in s.build.signs)
        if not signs:
            continue
        less = [sign for sign in signs if compiles_less(sign)]
        yield _finding(contender.name, signs, [*SPEED, *CPU, *([] if less else [*MEMORY, *BOOT_TIME])])
        if less:
            yield _finding(contender.name, less, [*MEMORY, *BOOT_TIME], slower=None)


def _finding(contender: str, signs: list[str], figures: list[str], slower: float | None = 1.0) -> Fired:
    return Fired(
        f"the contender was built or started for development: {'; '.join(signs[:_SIGNS])}",
        contender=contender,
        figures=figures,
        doubt=PossibleBias(faster=None, slower=slower, reason="the cost of development mode depends on the program"),
        evidence={"signs": signs},
    )


_FIGURE = "throughput"


@on_run(
    "machines-differ",
    Severity.NOTE,
    title="The machines of a run disagree about a contender",
    threshold="the median ratio of a contender to the baseline differs between machines by more than twice the margin",
    threshold_reason="if each of two medians is wrong by the margin, they differ by twice the margin",
    next_step="Look at the machines one by one. The results folder has the run of each machine in `machines/`.",
)
def machines_differ(case: Case) -> Iterator[Fired]:
    """Each round runs on one machine, so each ratio is valid for its machine.

    The report shows differences between machines and does not average over them.
    """
    for load in case.loads:
        rates: dict[int | None, dict[str, Sample]] = defaultdict(dict)
        for sample in case.run.samples:
            known = sample.contender != TARE and _FIGURE in sample.figures
            if sample.load == load and sample.process.placement.machine and known:
                rates[sample.round][sample.contender] = sample
        baseline = case.run.plan.baseline_among({name for measured in rates.values() for name in measured})
        ratios: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for measured in rates.values():
            base = measured.get(baseline or "")
            for name, sample in measured.items():
                if base is not None and sample is not base and base.figures[_FIGURE]:
                    ratio = sample.figures[_FIGURE] / base.figures[_FIGURE]
                    ratios[name][sample.process.placement.machine or ""].append(ratio)
        for name, by_machine in ratios.items():
            medians = {machine: statistics.median(values) for machine, values in by_machine.items()}
            if len(medians) > 1 and max(medians.values()) / min(medians.values()) - 1 > 2 * case.margin:
                listed = ", ".join(f"{ratio:.2f} on {machine}" for machine, ratio in sorted(medians.items()))
                yield Fired(
                    f"the throughput of {name} relative to {baseline} under {load} differs between machines: {listed}",
                    load=load,
                    evidence={"contender": name, "ratios": {m: list(v) for m, v in by_machine.items()}},
                )


@on_run(
    "mixed-provenance",
    Severity.INVALID,
    title="Samples of one run have different origins",
    threshold=(
        "the samples have more than one engine version, kernel, scenario or scenario version, or differ in these from "
        "what the run states. It is suspect if only the engine's I/O backend differs within one load"
    ),
    threshold_reason="versions and I/O backends of the engine have different costs",
    next_step="Measure all contenders in one run, or use `touchstone compare` to compare two runs.",
)
def mixed_provenance(case: Case) -> Iterator[Fired]:
    """All samples of a run need the same machine, engine, kernel and scenario. Otherwise they cannot be compared."""
    run = case.run
    origins: dict[str, set[str]] = {
        "scenario": {s.scenario for s in run.samples} | {run.plan.scenario},
        "scenario version": {str(s.scenario_version) for s in run.samples} | {str(run.plan.scenario_version)},
        "engine": {s.result.engine.version for s in run.samples if s.result},
        "kernel": {k for s in run.samples if (k := machine_state(s).kernel)},
    }
    if run.environment.kernel and origins["kernel"]:
        origins["kernel"].add(run.environment.kernel)
    for what, found in origins.items():
        if len(found) > 1:
            yield Fired(f"the run has more than one {what}: {', '.join(sorted(found))}", evidence={what: sorted(found)})
    for load in case.loads:
        backends = {s.result.engine.backend for s in run.samples if s.load == load and s.result}
        if len(backends) > 1:
            yield Fired(
                f"the engine used more than one I/O backend: {', '.join(sorted(backends))}",
                severity=Severity.SUSPECT,
                load=load,
                evidence={"backends": sorted(backends)},
            )


_SAME_PROGRAM_PLACES = {"HOST", "PORT", "GRPC_PORT"}


@on_run(
    "same-program",
    Severity.NOTE,
    title="Two contenders are the same program",
    threshold=(
        "two contenders have the same artifacts by SHA-256, the same arguments and the same environment, except for "
        "addresses"
    ),
    threshold_reason="some comparisons do this on purpose, so it is a note",
    next_step="Check whether one of the two was meant to be built or run differently.",
)
def same_program(case: Case) -> Iterator[Fired]:
    """A difference between two contenders with the same program is noise. A copy counts double in a ranking."""
    known: dict[str, set[str]] = defaultdict(set)
    for group in case.groups_of("load"):
        sample = group.samples[0]
        if sample.process.artifacts and group.contender != case.run.plan.twin:
            arguments = [Path(word).name for word in sample.process.argv]
            env = {
                name: value
                for name, value in sample.process.env.items()
                if name not in _SAME_PROGRAM_PLACES and "/" not in value
            }
            known[repr((sorted(sample.process.artifacts.items()), arguments, sorted(env.items())))].add(group.contender)
    for contenders in known.values():
        if len(contenders) > 1:
            yield Fired(
                f"{' and '.join(sorted(contenders))} run the same program", evidence={"contenders": sorted(contenders)}
            )


_UNFIXED = re.compile(r"snapshot|nightly|[-+.]dev|alpha|beta|-rc", re.IGNORECASE)


@on_run(
    "snapshot-versions",
    Severity.NOTE,
    title="A tool is a snapshot version",
    threshold="a tool's version contains snapshot, nightly, dev, alpha, beta or rc",
    threshold_reason="the version says that it is not a release. It may be used on purpose, so this is a note",
    next_step="Use a released version, or archive the tool with the results.",
)
def snapshot_versions(case: Case) -> Iterator[Fired]:
    """A later snapshot or nightly build will be different, so nobody can repeat the measurement."""
    for contender in case.run.plan.contenders:
        for tool, version in contender.tools.items():
            if _UNFIXED.search(version):
                statement = f"{tool} has the snapshot version {version}"
                yield Fired(statement, contender=contender.name, evidence={tool: version})
