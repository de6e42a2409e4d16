"""Which program is run: digests of its artifacts, whether it was there before the build, and what lies next to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from pathlib import Path

from touchstone.bench.artifact_files import artifact_files
from touchstone.bench.base import Built
from touchstone.record.evidence.surroundings import LeftInWork

_CODE_CACHES = (b"\xa2\xab\x0b\xf0", b"\xa8\xab\x0b\xf0")
"""How a JVM's AOT cache or static CDS archive begins, and a dynamic CDS archive (`cds.h` of HotSpot)."""
_PROGRAM = (b"\x7fELF",)
"""How an executable or a shared library begins (elf(5))."""
_COMPILED = (*_PROGRAM, b"PK\x03\x04", b"\xca\xfe\xba\xbe", *_CODE_CACHES)
"""How an executable, a jar, a class, and a cache of code that was compiled or loaded begin."""
_KEPT = 10

_Listing = dict[str, tuple[int, int]]
"""Files of a work folder, with size and time of their last change."""
_NOTED = "work.json"
_seen: dict[Path, _Listing] = {}
"""What lies in each work folder before a contender is started in it."""
_digests: dict[tuple[int, int, int, int, int], str] = {}
"""By a file's device, inode, size, and times of its last changes."""


def identity(built: Built) -> dict[str, str]:
    """Which program is run: the digests of its artifacts, or its image's id."""
    return {"image": built.image.id} if built.image else digests(built.artifacts)


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """SHA-256 by the name of the file or folder; what is not there is left out."""
    return {path.name: _tree_digest(path) if path.is_dir() else file_digest(path) for path in paths if path.exists()}


def _tree_digest(folder: Path) -> str:
    """Digest of the names and contents of all files below the folder."""
    digest = hashlib.sha256()
    for path in artifact_files([folder]):
        content = f"-> {path.readlink()}" if path.is_symlink() else file_digest(path)
        digest.update(f"{path.relative_to(folder)}\0{content}\n".encode())
    return digest.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file's content, read again only if it changed. Raises OSError.

    Another path to the same file, such as that of a process below /proc, is not a reason to read it again.
    """
    status = path.stat()
    state = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    if state not in _digests:
        with path.open("rb") as stream:
            _digests[state] = hashlib.file_digest(stream, "sha256").hexdigest()
    return _digests[state]


def prebuilt(artifacts: Iterable[Path], sources: Iterable[Path]) -> list[str]:
    """Artifacts in a compiled form that are, byte for byte, a file of the sources."""
    ready: dict[int, list[Path]] = {}
    for source in sources:
        ready.setdefault(source.stat().st_size, []).append(source)
    found = []
    for artifact in artifact_files(artifacts):
        if artifact.is_file() and is_compiled(artifact):
            own = file_digest(artifact)
            alike = ready.get(artifact.stat().st_size, [])
            if any(file_digest(source) == own for source in alike):
                found.append(artifact.name)
    return found


def clear_work(built: Built) -> LeftInWork:
    """Remove files that earlier starts have left next to the program, in earlier runs, too. What was removed, and what
    changed.

    A changed file cannot be put back: it is reported, and stays as it is.
    """
    if built.work == Path(built.work.anchor):
        # The program runs in a root of its own; its work folder is not this machine's.
        return LeftInWork()
    found = dict(_files(built.work, but=set(built.artifacts)))
    if built.work not in _seen:
        _seen[built.work] = _noted(built.work) or found
    first = _seen[built.work]
    removed, changed = [], []
    for name, state in sorted(found.items()):
        if name not in first:
            (built.work / name).unlink(missing_ok=True)
            removed.append(name)
        elif first[name] != state:
            changed.append(name)
    return LeftInWork(removed=removed[:_KEPT], changed=changed[:_KEPT])


def note_work(work: Path) -> None:
    """Record the files that a build left. Files that a later start adds are not taken for the build's."""
    _seen.pop(work, None)
    (work.parent / _NOTED).write_text(json.dumps(dict(_files(work))), encoding="utf-8")


def as_noted(work: Path, artifacts: Iterable[Path]) -> bool:
    """Whether the artifacts are still those of the build, and no service has replaced them."""
    shipped = set(artifacts)
    return all(_stamp(work / name) == state for name, state in _noted(work).items() if _is_in(work / name, shipped))


def _noted(work: Path) -> _Listing:
    """What the build had left; empty if nobody wrote it down."""
    with suppress(OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {name: (size, time) for name, (size, time) in json.loads((work.parent / _NOTED).read_text()).items()}
    return {}


def _files(work: Path, but: Set[Path] = frozenset()) -> Iterator[tuple[str, tuple[int, int]]]:
    """Files of a work folder with size and modification time, without these and bytecode caches."""
    for path in work.rglob("*"):
        if _is_in(path, but) or "__pycache__" in path.parts or path.is_symlink() or not path.is_file():
            continue
        if (stamp := _stamp(path)) is not None:
            yield str(path.relative_to(work)), stamp


def _stamp(path: Path) -> tuple[int, int] | None:
    """Size and time of the last change; None if it is not there."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns


def _is_in(path: Path, folders: Set[Path]) -> bool:
    return not folders.isdisjoint((path, *path.parents))


def is_compiled(path: Path) -> bool:
    """Whether a file's first bytes are those of an executable, jar, class or JVM code cache."""
    return _begins_with(path, _COMPILED)


def is_program(path: Path) -> bool:
    """Whether a file begins as an executable or a shared library does."""
    return _begins_with(path, _PROGRAM)


def is_code_cache(path: Path) -> bool:
    """Whether a file begins as a JVM's AOT cache or CDS archive does."""
    return _begins_with(path, _CODE_CACHES)


def _begins_with(path: Path, magic: tuple[bytes, ...]) -> bool:
    with path.open("rb") as stream:
        return stream.read(4).startswith(magic)
