"""Finds the file of the service that a Dockerfile copies to a path of its image."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

_MOST_STAGES = 16
"""Copies from stage to stage that are followed."""


@dataclass(frozen=True)
class BuildContext:
    """The folder that an image is built of: the service's own, or one above it."""

    folder: Path
    place: str = "."
    """The service's folder, from the context's."""

    @classmethod
    def of(cls, folder: Path, service: Path) -> BuildContext:
        """The context for a service at or below `folder`."""
        return cls(folder, service.resolve().relative_to(folder.resolve()).as_posix())

    def from_service(self, path: PurePosixPath) -> PurePosixPath:
        """A path of the context, as seen from the service's folder."""
        return PurePosixPath(posixpath.relpath(path.as_posix(), self.place))

    def lies_in_service(self, source: PurePosixPath) -> bool:
        """Whether a path of a larger context lies in the service's folder, or is that folder."""
        return self.place != "." and PurePosixPath(posixpath.normpath(source)).is_relative_to(self.place)


@dataclass(frozen=True)
class Copy:
    """A `COPY` or `ADD` instruction."""

    sources: Sequence[PurePosixPath]
    """From the top of the context; from the top of the stage's files where `stage` is set."""
    to: PurePosixPath
    stage: StageFiles | None = None


@dataclass
class StageFiles:
    """The files that the instructions of a stage have copied so far."""

    copies: list[Copy] = field(default_factory=list)

    def copy(self, words: Sequence[str], folder: str, stages: Mapping[str, StageFiles]) -> None:
        """Take an instruction's words. One that copies from another image brings nothing of the context."""
        options = [word for word in words if word.startswith("--")]
        *sources, to = [word for word in words if not word.startswith("--")] or [""]
        named = next((one.partition("=")[2] for one in options if one.startswith("--from=")), None)
        if not sources or not (named is None or named in stages):
            return
        stage = stages[named] if named is not None else None
        top = PurePosixPath("/") if stage else PurePosixPath()
        paths = [top / source.lstrip("/") for source in sources if "://" not in source]
        self.copies.append(Copy(paths, PurePosixPath(folder, to), stage))

    def origin(self, path: PurePosixPath, context: BuildContext) -> PurePosixPath | None:
        """The file that the image has at `path`, as seen from the service's folder. A build may still have to make it.

        A file that exists is preferred; among others, the one that is copied last. None where nothing is copied there.
        """
        found = list(self._origins(path, context.folder, _MOST_STAGES))
        chosen = next((one for one in found if (context.folder / one).is_file()), next(iter(found), None))
        return chosen and context.from_service(chosen)

    def _origins(self, path: PurePosixPath, top: Path, most: int) -> Iterator[PurePosixPath]:
        for copy in reversed(self.copies if most else ()):
            for at in _candidates(copy, path, top):
                if copy.stage is None:
                    yield at
                else:
                    yield from copy.stage._origins(at, top, most - 1)


def _candidates(copy: Copy, path: PurePosixPath, top: Path) -> Iterator[PurePosixPath]:
    """Where the file at `path` may have been before it was copied."""
    if not path.is_relative_to(copy.to):
        return
    rest = path.relative_to(copy.to)
    for source in reversed(copy.sources):
        pattern = any(char in source.name for char in "*?[")
        if rest == PurePosixPath():
            # The destination is the file itself.
            yield from () if pattern else (source,)
        elif (top / source).is_dir() and copy.stage is None:
            yield source / rest
        elif len(rest.parts) == 1 and fnmatchcase(rest.name, source.name):
            yield source.parent / rest
        elif not pattern and not source.suffix:
            yield source / rest
