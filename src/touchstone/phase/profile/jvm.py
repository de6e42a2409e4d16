"""Whether a contender is a JVM, and the JDK's tool that gives it orders."""

from __future__ import annotations

from pathlib import Path

from touchstone.isolation.process import ServerProcess


def is_jvm(process: ServerProcess) -> bool:
    """Whether a HotSpot JVM is loaded into it."""
    try:
        return "/libjvm.so" in Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def jcmd(process: ServerProcess) -> Path | None:
    """The `jcmd` next to the program that runs it; None if it is no JVM, or one of a JRE."""
    if not is_jvm(process):
        return None
    tool = Path(f"/proc/{process.pid}/exe").resolve().parent / "jcmd"
    return tool if tool.is_file() else None
