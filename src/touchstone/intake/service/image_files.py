"""Finds the file of the repository that a Dockerfile copies to a path of its image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

_MOST_STAGES = 16
"""Copies from stage to stage that are followed."""


@dataclass(frozen=True)
class Copy:
    """A `COPY` or `ADD` instruction."""

    sources: Sequence[PurePosixPath]
    """From the top of the repository; from the top of the stage's files where `stage` is set."""
    to: PurePosixPath
    stage: StageFiles | None = None


@dataclass
class StageFiles:
    """The files that the instructions of a stage have copied so far."""

    copies: list[Copy] = field(default_factory=list)

    def copy(self, words: Sequence[str], folder: str, stages: Mapping[str, StageFiles]) -> None:
        """Take an instruction's words. One that copies from another image brings nothing of the repository."""
        options = [word for word in words if word.startswith("--")]
        *sources, to = [word for word in words if not word.startswith("--")] or [""]
        named = next((one.partition("=")[2] for one in options if one.startswith("--from=")), None)
        if not sources or not (named is None or named in stages):
            return
        stage = stages[named] if named is not None else None
        top = PurePosixPath("/") if stage else PurePosixPath()
        paths = [top / source.lstrip("/") for source in sources if "://" not in source]
        self.copies.append(Copy(paths, PurePosixPath(folder, to), stage))

    def origin(self, path: PurePosixPath, service: Path) -> PurePosixPath | None:
        """The repository file that the image has at `path`. A build may still have to make it.

        A file that exists is preferred; among others, the one that is copied last. None where nothing is copied there.
        """
        found = list(self._origins(path, service, _MOST_STAGES))
        return next((one for one in found if (service / one).is_file()), next(iter(found), None))

    def _origins(self, path: PurePosixPath, service: Path, most: int) -> Iterator[PurePosixPath]:
        for copy in reversed(self.copies if most else ()):
            for at in _candidates(copy, path, service):
                if copy.stage is None:
                    yield at
                else:
                    yield from copy.stage._origins(at, service, most - 1)


def _candidates(copy: Copy, path: PurePosixPath, service: Path) -> Iterator[PurePosixPath]:
    """Where the file at `path` may have been before it was copied."""
    if not path.is_relative_to(copy.to):
        return
    rest = path.relative_to(copy.to)
    for source in reversed(copy.sources):
        pattern = any(char in source.name for char in "*?[")
        if rest == PurePosixPath():
            # The destination is the file itself.
            yield from () if pattern else (source,)
        elif (service / source).is_dir() and copy.stage is None:
            yield source / rest
        elif len(rest.parts) == 1 and fnmatchcase(rest.name, source.name):
            yield source.parent / rest
        elif not pattern and not source.suffix:
            yield source / rest
