"""A machine that has little: a PATH of its own, with few commands on it."""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path

COREUTILS = """
awk basename cat chmod cp cut date dirname env expr false find grep head id install ln ls mkdir mktemp mv nproc
printf ps pwd readlink rm rmdir sed seq sh bash sleep sort stat tail tee test touch tr true uname wc which xargs
tar gzip ldd mount umount timeout
""".split()  # noqa: SIM905 (a list would be forty lines)


def bare_path(folder: Path, *tools: str) -> str:
    """A PATH of one folder, which holds what every Linux has, and the named tools as far as they are here."""
    folder.mkdir(parents=True)
    for name in (*COREUTILS, *tools):
        if (found := shutil.which(name)) is not None:
            (folder / name).symlink_to(found)
    return str(folder)


def engine_in(wheel: Path) -> bytes:
    """The engine that a wheel holds."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".data/scripts/touchstone-engine"))
        return archive.read(name)


def newest_glibc(binary: bytes) -> tuple[int, int]:
    """The newest version of glibc that a binary asks for: the dynamic linker refuses it on an older one."""
    return max((int(major), int(minor)) for major, minor in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", binary))
