"""The build phase: cold and warm build time, the build's CPU and peak memory, and what it leaves."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from touchstone.bench.artifact_files import artifact_bytes, artifact_files, artifact_paths
from touchstone.bench.artifact_identity import as_noted, identity, note_work
from touchstone.bench.base import Bench, Built, sampling
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.stack import Stack, Variant
from touchstone.phase.base import Phase
from touchstone.phase.build.command import command_line, fill_build_places, run_environment
from touchstone.phase.build.figures import add_build, is_timed, leave_out
from touchstone.phase.build.image import built_image, is_kept, measure_image
from touchstone.phase.build.installation import install
from touchstone.phase.build.kept import locked_folder, recorded
from touchstone.phase.build.metering import Meter
from touchstone.phase.build.native_turn import native_turn
from touchstone.phase.build.workshop import BuildError, Workshop, build_key
from touchstone.record.evidence.build import BuildEvidence
from touchstone.record.sample import Sample
from touchstone.record.secret import shown_environment
from touchstone.toolchain.cache import cache_folder
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool
from touchstone.vocabulary.phase import PHASES, PhaseKind

_RECORD = "build.json"


def configuration_lines(stack: Stack, variant: Variant) -> int:
    """Non-empty lines of hand-written configuration next to the program. Raises BuildError."""
    lines = 0
    for name in variant.extra_configuration:
        path = stack.folder / name
        if not path.is_file():
            raise BuildError(
                f"extra_configuration names {name}, which does not exist",
                where=f"stack {stack.name}",
                fix="fix the name in stack.toml",
            )
        lines += sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())
    return lines


class BuildPhase(Phase):
    """Builds a contender cold, then warm, and caches the result by all its inputs."""

    kind: ClassVar[PhaseKind] = PHASES["build"]

    def __init__(self) -> None:
        self.built: dict[str, Built] = {}
        """What was built, by contender."""

    def stage(self, contenders: Sequence[Contender]) -> str:
        """How many are built."""
        return f"building {len(contenders)} contender{'s' * (len(contenders) != 1)}"

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """Build, or take an equal build with its recorded figures from the cache."""
        with sampling(bench, "build", contender.name) as sample:
            log = bench.log(sample.process)
            workshop = build_variant(bench, contender.stack, contender.variant_name, sample, log)
            self.built[contender.name] = built = built_of(contender, workshop)
            sample.process.artifacts = identity(built)
            leave_out(sample, contender, built)
            if contender.variant.extra_configuration:
                sample.figures["extra_configuration_lines"] = float(
                    configuration_lines(contender.stack, contender.variant)
                )
        return [sample]


def build_variant(bench: Bench, stack: Stack, variant_name: str, sample: Sample, log: Path) -> Workshop:
    """Build a variant and its bases, or take equal builds from the cache. Evidence and figures go into the sample."""
    variant = stack.variants[variant_name]
    if variant.base is not None:
        base = build_variant(bench, stack, variant.base, sample, log)
        if not variant.build and not variant.train:
            return base
    base_work = None if variant.base is None else base.work
    key, home = _place(bench, stack, variant_name)
    workshop = Workshop(stack, variant_name, _tools(bench, stack, variant_name), home, base_work, log)
    record = home / _RECORD
    with locked_folder(home):
        # The builds of this run are not made again, even where those of earlier runs are.
        fresh = bench.options.fresh_builds and all(built.work != workshop.work for built in bench.builds.values())
        kept = recorded(record, BuildEvidence) if not fresh else None
        enough = kept is not None and (is_timed(kept) or not bench.options.timed_builds)
        if kept is not None and enough and is_kept(workshop) and _is_whole(workshop):
            evidence = kept.model_copy(update={"cached": True})
            record.touch()  # `touchstone clean` removes the builds longest unused.
        else:
            with native_turn(cache_folder()) if variant.native else nullcontext():
                evidence = _measure_build(bench, workshop, key)
            if variant.image is None:
                note_work(workshop.work)
            record.write_text(evidence.model_dump_json(indent=1), encoding="utf-8")
    add_build(sample, evidence)
    return workshop


def is_built(bench: Bench, contender: Contender) -> bool:
    """Whether the cache holds a contender's build."""
    return (_place(bench, contender.stack, contender.variant_name)[1] / _RECORD).is_file()


def _place(bench: Bench, stack: Stack, variant_name: str) -> tuple[str, Path]:
    """The key of a build, and its folder in the cache."""
    key = build_key(stack, variant_name, _tools(bench, stack, variant_name))
    # The stack's name is not part of it: to `ab` the sources that `run` has built are a base or a head.
    return key, cache_folder() / "builds" / f"{stack.scenario}-{variant_name}-{key}"


def _tools(bench: Bench, stack: Stack, variant_name: str) -> Mapping[str, FoundTool]:
    """A variant's tools. Those of a base that is not measured itself are found here."""
    contender = Contender(stack, variant_name)
    if contender.name in bench.tools:
        return bench.tools[contender.name]
    found = {name: find_tool(name, wanted) for name, wanted in contender.needs.items()}
    return {name: tool for name, tool in found.items() if isinstance(tool, FoundTool)}


def _measure_build(bench: Bench, workshop: Workshop, key: str) -> BuildEvidence:
    variant, name = workshop.variant, f"{workshop.stack.name}/{workshop.variant_name}"
    bench.watcher.step(f"building {name}")
    if variant.image is not None:
        return measure_image(workshop, key)
    proof = workshop.fresh()
    wanted = workshop.stack.install_of(workshop.variant_name)
    installed = None
    if wanted:
        bench.watcher.step(f"installing what {name} depends on")
        installed = install(workshop, wanted, fresh=bench.options.fresh_builds)
        bench.watcher.step(f"building {name}")
    workshop.begin()
    cold, warm = Meter(), Meter()
    began = time.time()
    workshop.run(variant.build, variant.build_env, cold, "build")
    artifacts, older, made_again = _artifacts(workshop), workshop.older_than(began), True
    timed = bench.options.timed_builds
    if variant.build and timed and not variant.native:
        bench.watcher.step(f"building {name} again, warm")
        workshop.set_artifacts_aside()
        if workshop.base is None:
            workshop.lay_sources()
        workshop.run(variant.build, variant.build_env, warm, "build")
        made_again = workshop.made_again()
        artifacts = _artifacts(workshop)
    shutil.rmtree(workshop.cache, ignore_errors=True)
    return BuildEvidence(
        commands=variant.build,
        env=shown_environment(variant.build_env),
        install=installed,
        cold=True,
        cold_proof=proof,
        key=key,
        tools={name: str(tool.version) for name, tool in workshop.tools.items()},
        builder=next((tool.note for name, tool in workshop.tools.items() if name == "native-image"), None),
        artifacts=artifacts,
        older=older,
        cold_s=cold.wall_s if timed or not variant.build else None,
        warm_s=warm.wall_s if timed and made_again and not variant.native else None,
        made_again=made_again,
        cpu_s=cold.cpu_s,
        memory_peak=cold.memory_peak,
        other_cpu_s=cold.other_cpu_s,
        steal_s=cold.steal_s,
        measured_at=datetime.now(UTC),
    )


def _is_whole(workshop: Workshop) -> bool:
    """Whether what an earlier build made is there still: nobody has taken it out of the cache, or changed it."""
    try:
        _artifacts(workshop)
    except BuildError:
        return False
    return as_noted(workshop.work, workshop.artifacts)


def _artifacts(workshop: Workshop) -> dict[str, int]:
    """Bytes by each word of `artifacts`. Raises BuildError for one that stands for nothing."""
    found: dict[str, int] = {}
    counted: set[Path] = set()
    for word in workshop.variant.artifacts:
        files = {*artifact_files(artifact_paths(workshop.work, [word]))}
        if files:
            found[word] = artifact_bytes(files - counted)
            counted |= files
        elif not workshop.variant.train:
            # A training run leaves its own later, once there are dependencies to train with.
            raise BuildError(
                f"the build left no {word}",
                where=workshop.named,
                fix=f"correct `artifacts` in stack.toml, or the build; its log: {workshop.log}",
            )
    return found


def built_of(contender: Contender, workshop: Workshop) -> Built:
    """What was built, ready to be run."""
    variant = contender.variant
    places = workshop.places
    if variant.image is not None:
        return built_image(workshop)
    if variant.run is None:
        raise BuildError("the variant has no run command", where=contender.name, fix="add `run` to stack.toml")
    if variant.run_in is not None and not (workshop.work / variant.run_in).is_dir():
        raise BuildError(
            f"run_in names {variant.run_in}, which is not a folder once it is built",
            where=contender.name,
            fix="correct it in stack.toml, or let the build make it",
        )
    env = run_environment(workshop.tools)
    env |= {name: fill_build_places(text, places, workshop.tools) for name, text in variant.env.items()}
    return Built(
        work=workshop.work,
        artifacts=artifact_paths(workshop.work, variant.artifacts),
        argv=tuple(command_line(variant.run, places, workshop.tools)),
        env=env,
        train=tuple(command_line(variant.train, places, workshop.tools)) if variant.train else None,
        run_in=variant.run_in or "",
        port=variant.port,
        grpc_port=variant.grpc_port,
    )
