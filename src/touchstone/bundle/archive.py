"""A run in one file: a tar archive with a manifest of hashes first, compressed by xz. Equal runs give equal bytes."""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import tarfile
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from touchstone.failure import InvalidRunError, UsageError
from touchstone.record.base import Record
from touchstone.record.run import Run
from touchstone.record.store import load_run

MANIFEST = "manifest.json"
JUDGEMENT = "judgement.json"
"""What the run is said to show, as the version of touchstone that made the bundle judged it."""
_KNOWN = re.compile(r"(plan|environment|state|judgement|revisions)\.json|samples/[A-Za-z0-9._-]{1,200}\.json")
_MAGIC = b"\xfd7zXZ\x00"
_MOST_BYTES = 1 << 30
"""Limit of all files together: a thorough run has a tenth of this size."""


class Manifest(Record):
    """What a bundle holds."""

    schema_: Literal["touchstone.bundle/1"] = Field(default="touchstone.bundle/1", alias="schema")
    run: str
    scenario: str
    scenario_version: int
    touchstone_version: str
    touchstone_revision: str | None = None
    """The version that judged the run for the bundle; the environment names the one that measured it."""
    engine_version: str
    engine_sha256: str
    sources: dict[str, str] = {}
    """By contender: the key of its build, a hash of its sources, its commands, and its tools."""
    files: dict[str, str]
    """SHA-256 of each file, by its place."""


def is_bundle(path: Path) -> bool:
    """Whether this file is compressed as a bundle is."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def packed(manifest: Manifest, files: dict[str, bytes]) -> bytes:
    """The archive's bytes: no time, owner or order of the machine is in them."""
    whole = {MANIFEST: manifest.model_dump_json(indent=1, by_alias=True).encode()} | dict(sorted(files.items()))
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in whole.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
    return lzma.compress(stream.getvalue(), preset=6)


def unpack(path: Path) -> tuple[Manifest, dict[str, bytes]]:
    """The manifest and the files of a bundle, each with the hash that the manifest names.

    Raises UsageError for a file that is not a bundle, and InvalidRunError for one that is damaged or was changed.
    """
    try:
        files = _members(path)
        manifest = Manifest.model_validate_json(files.pop(MANIFEST))
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError, KeyError, ValidationError, _StrangeError) as error:
        what = error.args[0] if isinstance(error, _StrangeError) else "it is not a whole file of `touchstone bundle`"
        raise UsageError(
            f"is not a bundle: {what}", where=str(path), fix="`touchstone bundle RUN --out FILE` makes one"
        ) from error
    found = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    for name in sorted(found.keys() | manifest.files.keys()):
        if found.get(name) != manifest.files.get(name):
            why = "is not there" if name not in found else "is not the one that the manifest names"
            raise InvalidRunError(
                f"the bundle was changed after it was made: {name} {why}",
                where=str(path),
                fix="get the bundle again from its author",
            )
    return manifest, files


class _StrangeError(Exception):
    """An archive that `pack` does not write."""


def _members(path: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    left = _MOST_BYTES
    with lzma.open(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            left -= member.size
            if left < 0:
                raise _StrangeError(f"it holds more than {_MOST_BYTES >> 20} MiB")
            if (
                not member.isreg()
                or member.name in files
                or not (member.name == MANIFEST or _KNOWN.fullmatch(member.name))
            ):
                raise _StrangeError(f"it holds {member.name[:100]!r}")
            content = archive.extractfile(member)
            files[member.name] = content.read() if content else b""
        # The archive ends before the file does: a file that was cut there is not whole.
        while rest := stream.read(1 << 20):
            if (left := left - len(rest)) < 0:
                raise _StrangeError(f"it holds more than {_MOST_BYTES >> 20} MiB")
    return files


def lay_out(files: dict[str, bytes], folder: Path) -> Run:
    """Write a bundle's files into a folder, as a run has them, and read it. Raises StoreError for damaged records."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return load_run(folder)
