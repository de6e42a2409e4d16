"""The build phase: cold and warm build time, the build's CPU and peak memory, and what it leaves."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.stack import Stack, Variant
from touchstone.phase.artifact_identity import digests, prebuilt
from touchstone.phase.base import Bench, Built, Phase, attempt, blank_sample
from touchstone.phase.command import build_environment, command_line, fill_places, run_environment
from touchstone.phase.metering import Meter, run_metered
from touchstone.phase.native_turn import native_turn
from touchstone.record.sample import BuildEvidence, Sample
from touchstone.toolchain.registry import cache_folder, find_tool
from touchstone.toolchain.tool import Found

_RECORD = "build.json"


class BuildError(TouchstoneError):
    """A build command failed, or left no artifact."""


@dataclass
class _Workshop:
    """One variant's build: its folders and its tools."""

    stack: Stack
    variant_name: str
    tools: Mapping[str, Found]
    home: Path
    base: Path | None
    log: Path

    @property
    def variant(self) -> Variant:
        return self.stack.variants[self.variant_name]

    @property
    def work(self) -> Path:
        return self.home / "work"

    @property
    def cache(self) -> Path:
        return self.home / "cache"

    @property
    def places(self) -> dict[str, Path | None]:
        return {"work": self.work, "cache": self.cache, "source": self.stack.folder, "base": self.base}

    def fresh(self) -> list[str]:
        """Make empty folders and lay the sources in; what was seen to be empty, in words."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.cache.mkdir(parents=True)
        proof = [f"the compile cache was empty ({len(list(self.cache.iterdir()))} entries)"]
        proof.append(
            f"the work folder was made anew ({'it did not exist' if not self.work.exists() else 'it existed'})"
        )
        if self.base is not None:
            shutil.copytree(self.base, self.work, symlinks=True)
            proof.append("it starts from the finished build of its base, whose time is added")
        else:
            self.lay_sources()
        return proof

    def lay_sources(self) -> None:
        """Copy the sources into the work folder."""
        self.work.mkdir(parents=True, exist_ok=True)
        for path, relative in source_files(self.stack):
            target = self.work / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)

    def drop_artifacts(self) -> None:
        """Remove what this build left, so that a warm build must make it again; what its base left is not its own."""
        for name in self.variant.artifacts:
            if self.base is None or not (self.base / name).exists():
                (self.work / name).unlink(missing_ok=True)

    def run(self, commands: Sequence[list[str]], *, meter: Meter, timed: bool) -> None:
        """Carry out commands one after the other. Raises BuildError with the last lines of the log."""
        env = build_environment(self.tools)
        env |= {name: fill_places(text, self.places, self.tools) for name, text in self.variant.build_env.items()}
        for words in commands:
            argv = command_line(words, self.places, self.tools)
            code = run_metered(argv, env=env, cwd=self.work, log=self.log, meter=meter if timed else Meter())
            if code != 0:
                raise BuildError(
                    f"{'build' if timed else 'fetch'} command ended with code {code}: {' '.join(words)}",
                    where=f"stack {self.stack.name}, variant {self.variant_name}",
                    mend=f"read the log: {self.log}",
                )


def source_files(stack: Stack) -> list[tuple[Path, Path]]:
    """The files that a build needs, with their place in the work folder."""
    roots = [(stack.folder, Path())] + [
        ((stack.folder / relative).resolve(), Path(name)) for name, relative in stack.extra_sources.items()
    ]
    found: dict[Path, Path] = {}
    for root, prefix in roots:
        patterns = stack.sources if root == stack.folder else ["**/*"]
        for pattern in patterns:
            for path in root.glob(pattern):
                if path.is_file() and not _is_output(path.relative_to(root)):
                    found[prefix / path.relative_to(root)] = path
    return [(path, relative) for relative, path in sorted(found.items())]


def _is_output(relative: Path) -> bool:
    """Whether it lies in a folder that a hand-made build leaves among the sources."""
    return any(part in {"target", "build", "node_modules", ".git", "__pycache__"} for part in relative.parts[:-1])


def build_key(stack: Stack, variant_name: str, tools: Mapping[str, Found]) -> str:
    """What the result of a build depends on: sources, commands, environment and tool versions."""
    digest = hashlib.sha256()
    current: str | None = variant_name
    while current is not None:
        variant = stack.variants[current]
        digest.update(
            json.dumps([variant.fetch, variant.build, variant.build_env, variant.artifacts, variant.train]).encode()
        )
        for name in variant.extra_configuration:
            digest.update(name.encode() + b"\0" + _bytes_of(stack.folder / name))
        current = variant.base
    for path, relative in source_files(stack):
        if relative.name != "stack.toml":
            digest.update(str(relative).encode() + b"\0" + path.read_bytes())
    versions = {name: f"{tool.version} {tool.path} {tool.note}".rstrip() for name, tool in sorted(tools.items())}
    digest.update(json.dumps(versions).encode())
    return digest.hexdigest()[:16]


def _bytes_of(path: Path) -> bytes:
    """A file's content; nothing if it is absent, which `configuration_lines` complains about."""
    return path.read_bytes() if path.is_file() else b""


def configuration_lines(stack: Stack, variant: Variant) -> int:
    """The lines, other than empty ones, of what had to be written by hand beside the program. Raises BuildError."""
    lines = 0
    for name in variant.extra_configuration:
        path = stack.folder / name
        if not path.is_file():
            raise BuildError(
                f"extra_configuration names {name}, which is not there",
                where=f"stack {stack.name}",
                mend="mend the name in stack.toml",
            )
        lines += sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())
    return lines


class BuildPhase(Phase):
    """Builds a contender cold, then warm, and keeps the result in the cache under a key of all that it depends on."""

    name: ClassVar[str] = "build"
    title: ClassVar[str] = "Build"

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """Build, or take an equal build from the cache with the figures that were measured when it was made."""
        sample = blank_sample(bench, self.name, contender.name)
        log = bench.store.logs / f"{sample.id}.log"
        sample.files["log"] = str(log.relative_to(bench.store.folder))

        def action(sample: Sample) -> None:
            workshop = _build(bench, contender.stack, contender.variant_name, sample, log)
            bench.builds[contender.name] = _built(contender, workshop)
            _identify(sample, contender, bench.builds[contender.name])
            if contender.variant.train:
                del sample.figures["artifact_bytes"]
                sample.not_measured["artifact_bytes"] = "a part of it comes from the training run"
            if contender.variant.extra_configuration:
                sample.figures["extra_configuration_lines"] = float(
                    configuration_lines(contender.stack, contender.variant)
                )

        return [attempt(sample, action, log)]


def _build(bench: Bench, stack: Stack, variant_name: str, sample: Sample, log: Path) -> _Workshop:
    variant = stack.variants[variant_name]
    tools = _tools(bench, stack, variant_name)
    if variant.base is not None:
        base = _build(bench, stack, variant.base, sample, log)
        if not variant.build and not variant.train:
            return base
    base_work = None if variant.base is None else base.work
    key = build_key(stack, variant_name, tools)
    home = cache_folder() / "builds" / f"{stack.scenario}-{stack.name}-{variant_name}-{key}"
    workshop = _Workshop(stack, variant_name, tools, home, base_work, log)
    recorded = home / _RECORD
    if recorded.is_file() and not bench.fresh_builds:
        _add(sample, BuildEvidence.model_validate_json(recorded.read_text(encoding="utf-8")), cached=True)
    else:
        bench.watcher.step(f"building {stack.name}/{variant_name}")
        with native_turn(cache_folder()) if variant.native else nullcontext():
            evidence = _measure_build(workshop, key)
        recorded.write_text(evidence.model_dump_json(indent=1), encoding="utf-8")
        _add(sample, evidence, cached=False)
    return workshop


def _tools(bench: Bench, stack: Stack, variant_name: str) -> Mapping[str, Found]:
    """The tools of a variant; those of a base that is not measured itself are found here."""
    contender = Contender(stack, variant_name)
    if contender.name in bench.tools:
        return bench.tools[contender.name]
    found = {name: find_tool(name, wanted) for name, wanted in contender.needs.items()}
    return {name: tool for name, tool in found.items() if isinstance(tool, Found)}


def _measure_build(workshop: _Workshop, key: str) -> BuildEvidence:
    variant = workshop.variant
    _fetch(workshop)
    proof = workshop.fresh()
    cold = Meter()
    workshop.run(variant.build, meter=cold, timed=True)
    artifacts = _artifacts(workshop)
    warm = Meter()
    if variant.build and not variant.native:
        workshop.drop_artifacts()
        if workshop.base is None:
            workshop.lay_sources()
        workshop.run(variant.build, meter=warm, timed=True)
        artifacts = _artifacts(workshop)
    shutil.rmtree(workshop.cache, ignore_errors=True)
    return BuildEvidence(
        commands=variant.build,
        cold=True,
        cold_proof=proof,
        key=key,
        tools={name: str(tool.version) for name, tool in workshop.tools.items()},
        builder=next((tool.note for name, tool in workshop.tools.items() if name == "native-image"), None),
        artifacts=artifacts,
        cold_s=cold.wall_s,
        warm_s=None if variant.native else warm.wall_s,
        cpu_s=cold.cpu_s,
        memory_peak=cold.memory_peak,
        other_cpu_s=cold.other_cpu_s,
        steal_s=cold.steal_s,
        measured_at=datetime.now(UTC),
    )


def _fetch(workshop: _Workshop) -> None:
    """Fetch what the build needs in a throw-away copy, so that nothing of it warms the build."""
    if not workshop.variant.fetch:
        return
    with tempfile.TemporaryDirectory(prefix="touchstone-fetch-") as folder:
        aside = _Workshop(
            workshop.stack, workshop.variant_name, workshop.tools, Path(folder), workshop.base, workshop.log
        )
        aside.fresh()
        aside.run(workshop.variant.fetch, meter=Meter(), timed=False)


def _artifacts(workshop: _Workshop) -> dict[str, int]:
    found = {}
    for name in workshop.variant.artifacts:
        path = workshop.work / name
        if not path.is_file():
            if workshop.variant.train:
                # The training run leaves it, once there are dependencies to train with.
                continue
            raise BuildError(
                f"the build left no {name}",
                where=f"stack {workshop.stack.name}, variant {workshop.variant_name}",
                mend=f"mend `artifacts` in stack.toml, or the build; its log: {workshop.log}",
            )
        found[name] = path.stat().st_size
    return found


def _add(sample: Sample, evidence: BuildEvidence, *, cached: bool) -> None:
    """Put a build's figures into the sample; a base's come first, and times and CPU add up."""
    earlier = sample.build
    evidence.cached = cached
    figures = sample.figures
    for name, value in (("build_cold", evidence.cold_s), ("build_cpu", evidence.cpu_s)):
        if value is not None:
            figures[name] = figures.get(name, 0.0) + value
    if evidence.warm_s is None:
        figures.pop("build_warm", None)
        sample.not_measured["build_warm"] = "a native image is built whole each time"
    elif "build_warm" not in sample.not_measured:
        figures["build_warm"] = figures.get("build_warm", 0.0) + evidence.warm_s
    if evidence.cold_s and evidence.other_cpu_s is not None and evidence.steal_s is not None:
        machine = sample.detail.setdefault("machine", {"wall_s": 0.0, "other_cpu_s": 0.0, "steal_s": 0.0})
        machine["wall_s"] += evidence.cold_s
        machine["other_cpu_s"] += evidence.other_cpu_s
        machine["steal_s"] += evidence.steal_s
    if evidence.memory_peak is not None:
        figures["build_memory_peak"] = max(figures.get("build_memory_peak", 0.0), evidence.memory_peak)
    if earlier is not None:
        evidence = evidence.model_copy(
            update={
                "commands": [*earlier.commands, *evidence.commands],
                "cold": earlier.cold and evidence.cold,
                "cold_proof": [*earlier.cold_proof, *evidence.cold_proof],
                "artifacts": evidence.artifacts or earlier.artifacts,
                "tools": earlier.tools | evidence.tools,
                "builder": evidence.builder or earlier.builder,
            }
        )
    sample.build = evidence
    if evidence.artifacts:
        figures["artifact_bytes"] = float(sum(evidence.artifacts.values()))


def _identify(sample: Sample, contender: Contender, built: Built) -> None:
    """Say which program came of it, and leave out the time of a build that there was not."""
    sample.detail["artifacts"] = digests(built.artifacts)
    if sample.build is not None and not sample.build.commands:
        for figure in ("build_cold", "build_warm", "build_cpu", "build_memory_peak"):
            sample.figures.pop(figure, None)
            sample.not_measured[figure] = "there is nothing to build"
    elif found := prebuilt(built.artifacts, [path for path, _ in source_files(contender.stack)]):
        sample.detail["prebuilt"] = found


def _built(contender: Contender, workshop: _Workshop) -> Built:
    variant = contender.variant
    places = workshop.places
    if variant.run is None:
        raise BuildError("the variant has no run command", where=contender.name, mend="add `run` to stack.toml")
    env = run_environment(workshop.tools)
    env |= {name: fill_places(text, places, workshop.tools) for name, text in variant.env.items()}
    return Built(
        work=workshop.work,
        artifacts=tuple(workshop.work / name for name in variant.artifacts),
        argv=tuple(command_line(variant.run, places, workshop.tools)),
        env=env,
        train=tuple(command_line(variant.train, places, workshop.tools)) if variant.train else None,
    )
