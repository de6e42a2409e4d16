"""What the kernel counts of a process tree."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path

from touchstone.isolation.family import task_folders
from touchstone.isolation.process import ServerProcess


def read_counters(process: ServerProcess) -> Counter[str]:
    """The counts until now, over all processes and threads that live. What the kernel does not tell is left out."""
    found: Counter[str] = Counter()
    for member in process.tree():
        home = Path(f"/proc/{member.pid}")
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (home / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            found["minor_faults"] += int(fields[7])
            found["major_faults"] += int(fields[9])
        with contextlib.suppress(OSError, ValueError):
            counts = _pairs(home / "io")
            found["bytes_read"] += counts["rchar"]
            found["bytes_written"] += counts["wchar"]
        for task in task_folders(member.pid):
            with contextlib.suppress(OSError, ValueError, KeyError):
                counts = _pairs(task / "status")
                found["voluntary_switches"] += counts["voluntary_ctxt_switches"]
                found["involuntary_switches"] += counts["nonvoluntary_ctxt_switches"]
    return found


def _pairs(path: Path) -> dict[str, int]:
    """The lines `name: number` of a file of the kernel."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if value.strip().isdigit():
            found[name] = int(value)
    return found
