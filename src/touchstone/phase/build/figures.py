"""The figures of a build, and which of them a contender has not."""

from __future__ import annotations

from touchstone.bench.artifact_files import artifact_files
from touchstone.bench.artifact_identity import prebuilt
from touchstone.bench.base import Built
from touchstone.bench.binary_signs import binary_signs
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.sources import source_files
from touchstone.phase.build.image import NO_WARM_BUILD
from touchstone.record.evidence.build import BuildEvidence
from touchstone.record.evidence.surroundings import MachineState
from touchstone.record.sample import Sample

_WHOLE = "a native image is built whole each time"
_UP_TO_DATE = "a second build took everything for up to date, and made nothing again"
_UNTIMED = "a first look builds several contenders at once; `--phase build` times a build"
_OF_COMMANDS = ("build_cold", "build_warm", "build_cpu", "build_memory_peak")


def is_timed(evidence: BuildEvidence) -> bool:
    """Whether the time of a build is known, if there is one."""
    return evidence.cold_s is not None or not evidence.commands


def add_build(sample: Sample, evidence: BuildEvidence) -> None:
    """Put a build into the sample. A base's comes first, and seconds and CPU seconds add up."""
    _add_figures(sample, evidence)
    _add_surroundings(sample, evidence)
    sample.evidence = evidence if sample.build is None else _upon(sample.build, evidence)


def _add_figures(sample: Sample, evidence: BuildEvidence) -> None:
    figures = sample.figures
    installed = None if evidence.install is None else evidence.install.seconds
    times = {"build_cold": evidence.cold_s, "build_cpu": evidence.cpu_s, "install_time": installed}
    for name, value in times.items():
        if value is not None:
            figures[name] = figures.get(name, 0.0) + value
    if not is_timed(evidence) or sample.not_measured.get("build_cold") == _UNTIMED:
        for name in ("build_cold", "build_warm"):
            figures.pop(name, None)
            sample.not_measured[name] = _UNTIMED
    elif evidence.warm_s is None:
        figures.pop("build_warm", None)
        sample.not_measured["build_warm"] = _WHOLE if evidence.made_again else _UP_TO_DATE
    elif "build_warm" not in sample.not_measured:
        figures["build_warm"] = figures.get("build_warm", 0.0) + evidence.warm_s
    if evidence.memory_peak is not None:
        figures["build_memory_peak"] = max(figures.get("build_memory_peak", 0.0), evidence.memory_peak)
    if evidence.artifacts:
        figures["artifact_bytes"] = float(sum(evidence.artifacts.values()))


def _add_surroundings(sample: Sample, evidence: BuildEvidence) -> None:
    """What else used the machine, where that is known."""
    if not evidence.cold_s or evidence.other_cpu_s is None or evidence.steal_s is None:
        return
    base = sample.machine or MachineState()
    sample.machine = MachineState(
        wall_s=(base.wall_s or 0.0) + evidence.cold_s,
        other_cpu_s=(base.other_cpu_s or 0.0) + evidence.other_cpu_s,
        steal_s=(base.steal_s or 0.0) + evidence.steal_s,
    )


def _upon(base: BuildEvidence, own: BuildEvidence) -> BuildEvidence:
    """The evidence of a build that begins with its base's."""
    return own.model_copy(
        update={
            "commands": [*base.commands, *own.commands],
            "install": own.install or base.install,
            "cold": base.cold and own.cold,
            "cold_proof": [*base.cold_proof, *own.cold_proof],
            "artifacts": own.artifacts or base.artifacts,
            "older": [*base.older, *own.older],
            "tools": base.tools | own.tools,
            "builder": own.builder or base.builder,
        }
    )


def leave_out(sample: Sample, contender: Contender, built: Built) -> None:
    """Leave out what is not a figure of this contender's build: the time of one that there was not, and the like."""
    if contender.variant.train:
        sample.figures.pop("artifact_bytes", None)
        sample.not_measured["artifact_bytes"] = "a part of it comes from the training run"
    if sample.build is None:
        return
    sample.build.signs = binary_signs(artifact_files(built.artifacts))
    if not sample.build.commands:
        for figure in _OF_COMMANDS:
            sample.figures.pop(figure, None)
            sample.not_measured[figure] = "there is nothing to build"
        return
    if built.image is not None:
        sample.not_measured["build_warm"] = NO_WARM_BUILD
    sample.build.prebuilt = prebuilt(built.artifacts, [path for path, _ in source_files(contender.stack)])
