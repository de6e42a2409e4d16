"""Reads an OCI image layout by the specification alone (image-spec 1.1), holding every blob against its descriptor."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any


def blob(layout: Path, descriptor: dict[str, Any]) -> bytes:
    """What a descriptor names; it must be of the size and digest that the descriptor gives."""
    algorithm, digest = descriptor["digest"].split(":")
    data: bytes = (layout / "blobs" / algorithm / digest).read_bytes()
    assert len(data) == descriptor["size"]
    assert hashlib.new(algorithm, data).hexdigest() == digest
    return data


def image(layout: Path) -> tuple[str, dict[str, Any], dict[str, tarfile.TarInfo], dict[str, bytes]]:
    """The manifest's digest, the configuration, and the only layer's members and file contents by absolute path."""
    assert json.loads((layout / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
    index = json.loads((layout / "index.json").read_text())
    (described,) = index["manifests"]
    assert described["mediaType"] == "application/vnd.oci.image.manifest.v1+json"
    manifest = json.loads(blob(layout, described))
    config = json.loads(blob(layout, manifest["config"]))
    (layer,) = manifest["layers"]
    assert layer["mediaType"] == "application/vnd.oci.image.layer.v1.tar+gzip"
    archive = gzip.decompress(blob(layout, layer))
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(archive).hexdigest()}"]
    members: dict[str, tarfile.TarInfo] = {}
    contents: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar.getmembers():
            path = "/" + member.name.removeprefix("./").removeprefix(".")
            members[path] = member
            stream = tar.extractfile(member) if member.isfile() else None
            if stream is not None:
                contents[path] = stream.read()
    used = {described["digest"], manifest["config"]["digest"], layer["digest"]}
    assert {f"sha256:{path.name}" for path in (layout / "blobs/sha256").iterdir()} == used
    return described["digest"], config, members, contents
