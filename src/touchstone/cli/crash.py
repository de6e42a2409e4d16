"""Unexpected errors: those of the operating system, and defects of touchstone."""

from __future__ import annotations

import errno
import os
import select
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from io import IOBase
from pathlib import Path

from rich.console import Console

import touchstone
from touchstone.failure import TouchstoneError
from touchstone.record.secret import shown_text
from touchstone.toolchain.cache import cache_folder

_OWN = Path(touchstone.__file__).parent
_OUTPUT = Path("standard output")
_RIGHTS = "let your user read and write it (`ls -l` shows its rights), or name another place"
_ROOM = "free space there (`df -h` shows how much is left), or write to another place"
_FILES = "raise the limit (`ulimit -n 65536`), or ask for fewer connections"
_PROCESSES = "end processes that nobody needs, or raise the limits of processes and memory (`ulimit -a` shows them)"
_DISK = "see what the kernel reports about the disk: `dmesg`"
_CAUSES = {
    errno.ENOSPC: ("the disk is full", _ROOM),
    errno.EDQUOT: ("the disk quota is used up", _ROOM),
    errno.EFBIG: ("the file would be larger than the limit", "raise the limit: `ulimit -f unlimited`"),
    errno.EACCES: ("permission denied", _RIGHTS),
    errno.EPERM: ("operation not permitted", _RIGHTS),
    errno.EROFS: ("the file system is read-only", "write to another place"),
    errno.EMFILE: ("this process has too many open files", _FILES),
    errno.ENFILE: ("the machine has too many open files", "close programs that hold many files open"),
    errno.EAGAIN: ("the system cannot start another process or thread", _PROCESSES),
    errno.ENOMEM: ("the system is out of memory", _PROCESSES),
    errno.ENOENT: ("there is no such file or folder", "see that the path is right and that nothing removes it"),
    errno.ENOTDIR: ("a part of the path is not a folder", "see that the path is right"),
    errno.EISDIR: ("it is a folder, where a file is needed", "name a file"),
    errno.EEXIST: ("it exists already", "remove it, or name another place"),
    errno.ENOTEMPTY: ("the folder is not empty", "empty it, or name another folder"),
    errno.ENAMETOOLONG: ("the path is too long", "use a shorter path"),
    errno.ELOOP: ("its symbolic links lead in a circle", "repair the links"),
    errno.ENOEXEC: ("the system cannot execute it", "see that it is a program for this machine"),
    errno.ETXTBSY: ("the program is still being written", "wait until it is written, then run again"),
    errno.EIO: ("the disk reports an error", _DISK),
    errno.ESTALE: ("the network file system has lost it", _DISK),
}


def reader_is_gone() -> bool:
    """Whether the program that read our output has ended, as `head` does."""
    watched = select.poll()
    for number in (1, 2):
        watched.register(number, 0)
    return any(found & select.POLLERR for _, found in watched.poll(0))


def system_failure(error: OSError) -> TouchstoneError | None:
    """Describe an error of the operating system by file and cause. None for any other error."""
    if error.errno not in _CAUSES:
        return None
    cause, fix = _CAUSES[error.errno]
    return TouchstoneError(cause, where=_place(error), fix=fix)


def defect(error: BaseException, command: str) -> TouchstoneError:
    """Return a message about a defect of touchstone.

    It names the file with the details.

    Args:
        error: what was raised.
        command: as the user typed it, without secrets.

    """
    held = _in_hand(error)
    doing = f"`{command}`{f' while it worked on {held}' if held else ''}"
    if isinstance(error, MemoryError):
        return TouchstoneError(
            f"there was not enough memory for {doing}", fix="free memory, or measure less in one run"
        )
    kept = _written(_details(error, command))
    return TouchstoneError(
        f"a defect in touchstone stopped {doing}; results that were already written are kept",
        fix=f"report it to the maintainers of touchstone, with {kept} and, if you may share it, the input",
    )


def _place(error: OSError) -> str | None:
    named = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    if not named and any(frame.f_code is Path.cwd.__code__ for frame, _ in traceback.walk_tb(error.__traceback__)):
        return "the working folder"
    return " -> ".join(named) or _in_hand(error)


def _in_hand(error: BaseException) -> str | None:
    """Return the file or folder that the innermost function was using at the error.

    A failed `write` does not name its file, and a parser does not know it; a function that called them does.
    """
    held = [path for path in _held(error) if not path.is_relative_to(_OWN)]
    files = [path for path in held if path.is_file() or path == _OUTPUT]
    return str((files or held)[0]) if held else None


def _held(error: BaseException) -> Iterator[Path]:
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for value in reversed(list(frame.f_locals.values())):
            held = value.file if isinstance(value, Console) else value
            if isinstance(held, Path):
                yield held
            elif held is sys.stdout and held is not None:
                yield _OUTPUT
            elif isinstance(held, IOBase) and isinstance(name := getattr(held, "name", None), str):
                yield Path(name)


def _details(error: BaseException, command: str) -> str:
    trace = "".join(traceback.format_exception(error))
    python = ".".join(map(str, sys.version_info[:3]))
    head = f"touchstone {touchstone.__version__}, Python {python}, {os.uname().sysname} {os.uname().release}"
    return f"{head}\n{datetime.now(UTC).isoformat(timespec='seconds')}\n{shown_text(command)}\n\n{shown_text(trace)}"


def _written(text: str) -> str:
    """Write the details to a file and return its path. Returns the details if no folder is writable."""
    places: list[Callable[[], Path]] = [lambda: cache_folder() / "crashes", lambda: Path(tempfile.gettempdir())]
    for place in places:
        try:
            folder = place()
            folder.mkdir(parents=True, exist_ok=True)
            number, name = tempfile.mkstemp(".txt", datetime.now(UTC).strftime("touchstone-%Y%m%d-%H%M%S-"), folder)
            with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except (OSError, RuntimeError):
            continue
        return name
    return f"these details:\n{text}"
