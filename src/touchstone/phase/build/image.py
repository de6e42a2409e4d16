"""Images: built of a Dockerfile, or fetched by their reference, by podman or docker."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from touchstone.bench.base import Built, ImageBuilt
from touchstone.isolation.container import ContainerRuntime, remove_leftovers
from touchstone.manifest.catalogue import CONTAINERS
from touchstone.manifest.stack import Image
from touchstone.phase.build.metering import Meter, run_metered
from touchstone.phase.build.workshop import BuildError, Workshop
from touchstone.record.evidence.build import BuildEvidence

IMAGE = "image"
"""What stands for an image among artifacts."""
NO_WARM_BUILD = "of sources that are the same, an image is taken from the runtime's cache whole"


def runtime_of(workshop: Workshop) -> ContainerRuntime:
    """What builds and runs its image."""
    return ContainerRuntime(workshop.tools[CONTAINERS].path)


def image_name(home: Path) -> str:
    """What an image is called that a build in this folder of the cache makes."""
    return f"touchstone/{home.name}"


def is_kept(workshop: Workshop) -> bool:
    """Whether what was built earlier is there still. A reference may by now name another: it is looked up."""
    image = workshop.variant.image
    return image is None or (image.reference is None and runtime_of(workshop).image_id(_name(workshop)) is not None)


def measure_image(workshop: Workshop, key: str) -> BuildEvidence:
    """Build the image without cached layers, or fetch it if missing. Raises BuildError."""
    runtime, image = runtime_of(workshop), workshop.variant.image
    proof = workshop.fresh()
    meter, commands = Meter(), []
    if image is not None and image.dockerfile is not None:
        proof = ["no layer of an earlier build was taken (--no-cache)", proof[-1]]
        commands = [["build", "--no-cache", *_arguments(runtime, image), "--tag", _name(workshop), "."]]
        _run(workshop, runtime, commands[0], meter)
    elif runtime.image_id(_name(workshop)) is None:
        _run(workshop, runtime, ["pull", _name(workshop)], Meter())
    # A daemon builds in processes of its own, which nobody here waits for.
    own = runtime.is_podman and bool(commands)
    return BuildEvidence(
        commands=[[runtime.path.name, *words] for words in commands],
        cold=True,
        cold_proof=proof,
        key=key,
        tools={runtime.path.name: str(workshop.tools[CONTAINERS].version)},
        artifacts={IMAGE: runtime.image_bytes(_name(workshop))},
        cold_s=meter.wall_s if commands else None,
        cpu_s=meter.cpu_s if own else None,
        memory_peak=meter.memory_peak if own else None,
        other_cpu_s=meter.other_cpu_s if own else None,
        steal_s=meter.steal_s if own else None,
        measured_at=datetime.now(UTC),
    )


def built_image(workshop: Workshop) -> Built:
    """The image, ready to be run; what dead labs left of it is removed. Raises BuildError if it has gone meanwhile."""
    runtime, image = runtime_of(workshop), workshop.variant.image
    assert image is not None  # it is called for images alone
    remove_leftovers(runtime)
    found = runtime.image_id(_name(workshop))
    if found is None:
        raise BuildError(
            f"the image {_name(workshop)} no longer exists", where=workshop.named, fix="run again with --fresh-builds"
        )
    return Built(
        work=workshop.work,
        artifacts=(),
        argv=(_name(workshop),),
        env=workshop.variant.env,
        image=ImageBuilt(runtime, found, image),
        port=workshop.variant.port,
        grpc_port=workshop.variant.grpc_port,
    )


def _name(workshop: Workshop) -> str:
    image = workshop.variant.image
    return image.reference if image and image.reference else image_name(workshop.home)


def _arguments(runtime: ContainerRuntime, image: Image) -> list[str]:
    words = ["--network=host", "--file", str(image.dockerfile)]
    if runtime.is_podman and os.geteuid() == 0:
        # Commands of the Dockerfile then need no nested control groups and namespaces.
        words.append("--isolation=chroot")
    if image.target is not None:
        words += ["--target", image.target]
    for name, value in image.args.items():
        words += ["--build-arg", f"{name}={value}"]
    return words


def _run(workshop: Workshop, runtime: ContainerRuntime, words: Sequence[str], meter: Meter) -> None:
    argv = runtime.command(*words)
    code = run_metered(argv, env=os.environ, cwd=workshop.work, log=workshop.log, meter=meter)
    if code != 0:
        raise BuildError(
            f"`{runtime.path.name} {words[0]}` ended with code {code}",
            where=workshop.named,
            fix=f"read the log: {workshop.log}",
        )
