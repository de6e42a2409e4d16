"""The footprint of an image: it is all that there is on an empty Linux, and the contract held in it already."""

from __future__ import annotations

import json

from touchstone.bench.base import Bench, ImageBuilt
from touchstone.record.evidence.footprint import FootprintEvidence, OciLayout
from touchstone.record.sample import Sample

_NOT_ALONE = "an image is transferred as its layers are compressed: see the OCI image"


def measure_image(bench: Bench, image: ImageBuilt, sample: Sample) -> None:
    """All files of the image, and its OCI layout size, which is what a registry transfers.

    Raises StartError with the runtime's words.
    """
    bench.watcher.step(f"writing {sample.contender} as an OCI image layout")
    size = image.runtime.image_bytes(image.id)
    sample.figures["footprint_bytes"] = float(size)
    sample.not_measured["footprint_compressed"] = _NOT_ALONE
    sample.evidence = evidence = FootprintEvidence(bytes_by_kind={"image": size})
    if not image.runtime.is_podman:
        sample.not_measured["footprint_image"] = "docker keeps layers as they are, and podman writes them compressed"
        return
    folder = bench.store.folder / "oci" / sample.contender.replace("/", ".")
    folder.parent.mkdir(parents=True, exist_ok=True)
    image.runtime.ask("push", "--quiet", image.id, f"oci:{folder}")
    sample.files["oci_layout"] = str(folder.relative_to(bench.store.folder))
    sample.figures["footprint_image"] = float(sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()))
    (manifest,) = json.loads((folder / "index.json").read_text(encoding="utf-8"))["manifests"]
    evidence.oci = OciLayout(digest=manifest["digest"], written_by="podman", port=None)
