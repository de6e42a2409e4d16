"""Writing into a folder that the user named."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_or_nothing(folder: Path, file: str) -> Iterator[None]:
    """A context that restores a folder and the file of that name if its body fails."""
    made = next((one for one in (*reversed(folder.parents), folder) if not one.exists()), None)
    before = set(folder.iterdir()) if folder.is_dir() else set()
    held = (folder / file).read_bytes() if (folder / file).is_file() else None
    try:
        yield
    except BaseException:
        new = [made] if made else [one for one in folder.iterdir() if one not in before]
        for one in new:
            shutil.rmtree(one, ignore_errors=True) if one.is_dir() else one.unlink(missing_ok=True)
        if held is not None:
            (folder / file).write_bytes(held)
        raise
