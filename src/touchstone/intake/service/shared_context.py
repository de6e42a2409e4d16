"""Finds one service's folder in a repository from which an image is built."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path

from touchstone.intake.service.dockerfile import copied_paths, image_of
from touchstone.intake.service.image_files import BuildContext
from touchstone.intake.service.language import has_marks


def served_folder(dockerfile: Path, context: Path) -> Path:
    """The folder below `context` that holds the service, or `context` if none does.

    It has a build tool's file, and is the first such of: the Dockerfile's own folder, the folders of the files that the
    image starts, and the one folder that the Dockerfile copies, if it is one.
    """
    top = context.resolve()
    copied = [folder for folder in dict.fromkeys(_copied(dockerfile, top)) if _is_below(folder, top)]
    found = [dockerfile.resolve().parent, *_started(dockerfile, top), *(copied if len(copied) == 1 else ())]
    return next((folder for folder in found if _is_below(folder, top)), context)


def _is_below(folder: Path, top: Path) -> bool:
    return folder != top and folder.is_relative_to(top) and has_marks(folder)


def _started(dockerfile: Path, top: Path) -> Iterator[Path]:
    run = image_of(dockerfile, top, BuildContext(top)).run
    for word in run.words if run else ():
        path = Path(posixpath.normpath(posixpath.join(top, run.folder if run else "", word)))
        if "/" in word and path.is_relative_to(top):
            yield from (folder for folder in path.parents if folder.is_relative_to(top))


def _copied(dockerfile: Path, top: Path) -> Iterator[Path]:
    for source in copied_paths(dockerfile):
        path = Path(posixpath.normpath(top / source))
        yield path if path.is_dir() else path.parent
