"""strace: counts the system calls of a process tree by name. It slows a program down, so its pass is one of its own."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from touchstone.isolation.child import end_child, start_child
from touchstone.isolation.family import task_folders
from touchstone.isolation.process import ServerProcess
from touchstone.phase.profile.profiler import ProfilerError
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

_PATIENCE_S = 10.0


@contextmanager
def counting(process: ServerProcess) -> Iterator[dict[str, int]]:
    """A context: the dictionary holds the calls by name when it has ended. Raises ProfilerError."""
    tool = find_tool("strace", ">=5")
    if not isinstance(tool, FoundTool):
        raise ProfilerError(f"not measured: {tool}", fix="then run the phase again")
    found: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="touchstone-strace-") as folder:
        out, log = Path(folder) / "counts", Path(folder) / "log"
        attach = [word for member in process.tree() for word in ("-p", str(member.pid))]
        with log.open("wb") as output:
            child = start_child(
                [tool.path, "-f", "-c", "-U", "calls,name", "-o", out, *attach], stdout=output, stderr=output
            )
        try:
            _wait_until_traced(child, process, log)
            yield found
            child.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_PATIENCE_S)
        finally:
            end_child(child)
        found |= _read(out)


def _wait_until_traced(child: subprocess.Popen[bytes], process: ServerProcess, log: Path) -> None:
    """Until every thread has its tracer, so that all are counted from the beginning."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline and child.poll() is None:
        tasks = task_folders(process.pid)
        if tasks and all(_traced(task / "status", child.pid) for task in tasks):
            return
        time.sleep(0.02)
    output = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    raise ProfilerError(
        f"not measured: strace cannot trace it: {output[-1] if output else 'no message'}",
        fix="as root: `sysctl kernel.yama.ptrace_scope=0`, or give strace CAP_SYS_PTRACE; in a container the seccomp "
        "profile must allow ptrace",
    )


def _traced(status: Path, by: int) -> bool:
    with contextlib.suppress(OSError):
        return f"TracerPid:\t{by}\n" in status.read_text(encoding="utf-8")
    return True


def _read(out: Path) -> dict[str, int]:
    """The two columns that were asked for. The head, the ruler and the sum are not calls."""
    with contextlib.suppress(OSError):
        rows = [line.split() for line in out.read_text(encoding="utf-8", errors="replace").splitlines()]
        return {row[1]: int(row[0]) for row in rows if len(row) == 2 and row[0].isdigit() and row[1] != "total"}
    return {}
