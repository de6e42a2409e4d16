"""Detects JVMs and sends them commands by their JDK's `jcmd`."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from touchstone.isolation.process import ServerProcess
from touchstone.phase.profile.profiler import ProfilerError

_PATIENCE_S = 60
_SHOWN = 300
"""Letters of what was said: its end tells what is wrong."""


def is_jvm(process: ServerProcess) -> bool:
    """Whether a HotSpot JVM is loaded into it."""
    try:
        return "/libjvm.so" in Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


@dataclass(frozen=True)
class Jcmd:
    """Gives orders to one JVM."""

    path: Path
    pid: int

    def tell(self, *order: str) -> str:
        """What the JVM answered. Raises ProfilerError if it does not take the order."""
        words = [str(self.path), str(self.pid), *order]
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, errors="replace", timeout=_PATIENCE_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _refused(order[0], str(error)) from error
        if done.returncode != 0:
            raise _refused(order[0], done.stderr or done.stdout)
        return done.stdout

    def neighbour(self, name: str) -> Path:
        """The path of a tool in the JDK of this Java."""
        return self.path.with_name(name)


def jcmd(process: ServerProcess) -> Jcmd | None:
    """The `jcmd` next to the program that runs it. None if it is not a JVM, or one of a JRE."""
    if not is_jvm(process):
        return None
    tool = Path(f"/proc/{process.pid}/exe").resolve().parent / "jcmd"
    return Jcmd(tool, process.pid) if tool.is_file() else None


def _refused(order: str, reply: str) -> ProfilerError:
    return ProfilerError(
        f"not measured: the JVM does not take the order {order}: {reply.strip()[-_SHOWN:]}",
        fix="run touchstone as the user of the JVM, and without -XX:+DisableAttachMechanism",
    )
