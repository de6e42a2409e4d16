"""The footprint phase: all that a contender needs on an empty Linux, shown to be all by running it there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from touchstone.bench.artifact_files import artifact_files
from touchstone.bench.base import Bench, Built, Ports, sampling
from touchstone.bench.service import contender_environment, running
from touchstone.contract.checker import ContractChecker
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.phase.base import Phase
from touchstone.phase.footprint.empty_root import EmptyRoot, compressed_bytes, find_library, mount_prefix
from touchstone.phase.footprint.image import measure_image
from touchstone.phase.footprint.jre import make_jre, used_modules
from touchstone.phase.footprint.oci_layout import ImageConfig, write_layout
from touchstone.record.evidence.footprint import FootprintEvidence, OciLayout
from touchstone.record.sample import Sample
from touchstone.record.secret import shown_environment
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool
from touchstone.vocabulary.phase import PHASES, PhaseKind

_ZONES = Path("/usr/share/zoneinfo")
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_FIGURES = ("footprint_bytes", "footprint_compressed", "footprint_image")
_IMAGE_PORT = 8080
"""Where a container of the image listens, unless PORT is given to it."""


class FootprintError(TouchstoneError):
    """What was gathered is not enough, or cannot be gathered."""


class FootprintPhase(Phase):
    """Copies a contender's files into an empty root, checks its contract there, and counts bytes."""

    kind: ClassVar[PhaseKind] = PHASES["footprint"]

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """Bytes as they are and compressed. No figure is given for a root in which the contract does not hold."""
        with sampling(bench, "footprint", contender.name) as sample:
            image, prefix = bench.builds[contender.name].image, mount_prefix()
            if image is not None:
                measure_image(bench, image, sample)
            elif prefix is None:
                reason = "it could not be proven: this user may not mount; run as root, or allow user namespaces"
                sample.not_measured |= dict.fromkeys(_FIGURES, reason)
            elif contender.variant.train:
                reason = "an AOT cache fits the JDK that it was trained with, and not a smaller JRE made of it"
                sample.not_measured |= dict.fromkeys(_FIGURES, reason)
            else:
                _measure(bench, contender, prefix, sample)
        return [sample]


def _measure(bench: Bench, contender: Contender, prefix: Sequence[str], sample: Sample) -> None:
    bench.watcher.step(f"gathering what {contender.name} needs")
    built, tools = bench.builds[contender.name], bench.tools[contender.name]
    root = EmptyRoot(bench.scratch / f"root-{sample.id}")
    sample.evidence = FootprintEvidence()
    _gather(root, contender, built, tools, sample)
    bench.watcher.step(f"checking {contender.name} in an empty root")
    argv = root.command(prefix, built.cwd, [bench.scratch], built.argv)
    _prove(bench, replace(built, argv=tuple(argv), work=Path("/"), run_in=""), sample)
    bench.watcher.step(f"compressing what {contender.name} needs")
    archive = root.folder.with_name(f"{root.folder.name}.tar")
    root.archive(archive)
    _count(root, archive, sample)
    bench.watcher.step(f"writing {contender.name} as an OCI image layout")
    _write_image(bench, archive, built, sample)
    archive.unlink()


def _gather(
    root: EmptyRoot, contender: Contender, built: Built, tools: Mapping[str, FoundTool], sample: Sample
) -> None:
    for path in built.artifacts:
        root.add(path, "artifacts")
    wanted = contender.variant.footprint
    java = tools.get("java")
    if java is not None and Path(built.argv[0]) == java.path:
        if "jre" not in wanted:
            raise FootprintError(
                "it runs on java, and `footprint` does not ask for a JRE",
                where=contender.name,
                fix='write footprint = ["jre"] in stack.toml',
            )
        _add_jre(root, contender, built, java, sample)
    elif Path(built.argv[0]) not in artifact_files(built.artifacts):
        root.add(Path(built.argv[0]), "interpreter")
    if "zoneinfo" in wanted:
        root.add(_ZONES, "zone data")
    if "certificates" in wanted:
        root.add(_CERTIFICATES, "certificates")
    for name in wanted:
        if name.startswith("library:"):
            root.add(find_library(name.removeprefix("library:")), "libraries")
        if name.startswith("/"):
            root.add(Path(name), "further files")
    upx = tools.get("upx")
    root.add_libraries(upx.path if upx else None)


def _add_jre(root: EmptyRoot, contender: Contender, built: Built, java: FoundTool, sample: Sample) -> None:
    """A JRE in the place of the JDK."""
    # bin/java of the command may be a link; the JVM finds its modules next to the file behind it.
    home = java.path.resolve().parent.parent
    jars = [path for path in artifact_files(built.artifacts) if path.suffix == ".jar"]
    declared = [name.removeprefix("module:") for name in contender.variant.footprint if name.startswith("module:")]
    modules = sorted({*used_modules(home, jars), *declared})
    made = root.folder.with_name(f"{root.folder.name}-jre")
    make_jre(home, modules, made)
    root.add(made, "jre", target=java.path.parent.parent)
    assert sample.footprint is not None  # it is made before the gathering
    sample.footprint.jre_modules = modules
    sample.footprint.jre_modules_declared = declared


def _prove(bench: Bench, inside: Built, sample: Sample) -> None:
    # It has a root of its own.
    with running(bench, inside, sample.process, shares_places=True) as contender_running:
        checker = ContractChecker(contender_running.service, bench.dependencies, bench.seed)
        sample.checks = checker.run(bench.scenario.contract_over(bench.scenario.protocol))
    broken = [check for check in sample.checks if not check.passed]
    if broken:
        first = broken[0].broken[0]
        raise FootprintError(
            f"it breaks its contract in an empty root: {broken[0].says}: {first.request}: expected {first.expected}; "
            f"received {first.received}",
            fix="something is missing: add it to `footprint` in stack.toml (module:, library:, zoneinfo, /a/file)",
        )


def _count(root: EmptyRoot, archive: Path, sample: Sample) -> None:
    by_kind = root.bytes_by_kind()
    sample.figures["footprint_bytes"] = float(sum(by_kind.values()))
    assert sample.footprint is not None  # it is made before the gathering
    sample.footprint.bytes_by_kind = by_kind
    sample.footprint.files = root.listing()
    zstd = find_tool("zstd")
    if isinstance(zstd, FoundTool):
        sample.figures["footprint_compressed"] = float(compressed_bytes(archive, zstd.path))
    else:
        sample.not_measured["footprint_compressed"] = str(zstd)


def _write_image(bench: Bench, archive: Path, built: Built, sample: Sample) -> None:
    """The root as an image that can be pushed. It is the one in which the contract held, and no other."""
    crane = find_tool("crane")
    if not isinstance(crane, FoundTool):
        sample.not_measured["footprint_image"] = f"not written: {crane}"
        return
    published = built.at("0.0.0.0", Ports(_IMAGE_PORT))
    config = ImageConfig(published.argv, _image_environment(bench, published), built.cwd, _IMAGE_PORT)
    folder = bench.store.folder / "oci" / sample.contender.replace("/", ".")
    digest = write_layout(crane.path, archive, config, folder)
    sample.files["oci_layout"] = str(folder.relative_to(bench.store.folder))
    sample.figures["footprint_image"] = float(sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()))
    assert sample.footprint is not None  # it is made before the gathering
    sample.footprint.oci = OciLayout(digest=digest, written_by=f"crane {crane.version}", port=_IMAGE_PORT)


def _image_environment(bench: Bench, built: Built) -> dict[str, str]:
    """The contender's environment without dependency addresses of this machine and without secrets.

    Inside a container it listens on all addresses: the container's own, which nobody reaches unless it is published.
    """
    measured = contender_environment(bench, built, Ports(_IMAGE_PORT), None)
    addresses = {name for dependency in bench.dependencies.values() for name in dependency.environment()}
    shown = shown_environment(measured)
    kept = {k: v for k, v in measured.items() if k not in addresses and shown[k] == v}
    return kept | {"HOST": "0.0.0.0"}
