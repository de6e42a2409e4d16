"""Where the threads of a process tree are when they do not run: looked at again and again next to a load."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator

from touchstone.isolation.family import task_folders
from touchstone.isolation.process import ServerProcess
from touchstone.phase.profile.profiler import ProfilerError
from touchstone.record.evidence.profile import ProfilePass, Waits

_EVERY_S = 0.02
"""Between two looks: each reads two small files for each thread, and a JVM has forty of them."""
_NO_PLACE = ("", "0")
"""What the kernel tells of a thread that runs, and of one whose place it keeps to itself."""


def looked_at(process: ServerProcess, carry_out: Callable[[], ProfilePass]) -> Waits:
    """Look at the threads during a pass. Raises ProfilerError if it cannot be known where they sleep."""
    asleep: Counter[str] = Counter()
    running, looks = 0, 0
    pids = [member.pid for member in process.tree()]
    before = _run_delay(pids)
    ended = threading.Event()

    def look() -> None:
        nonlocal running, looks
        while not ended.wait(_EVERY_S):
            looks += 1
            for place in _places(pids):
                running += place is None
                asleep.update([] if place is None else [place])

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        one = carry_out()
    finally:
        ended.set()
        watcher.join()
    after = _run_delay(pids)
    if asleep.total() and set(asleep) <= set(_NO_PLACE):
        raise ProfilerError(
            "not measured: the kernel does not show in which of its functions a thread sleeps",
            fix="run as root, or with CAP_SYS_PTRACE",
        )
    # Here and there a thread was woken between the look at its state and the one at its place.
    running += sum(asleep.pop(place, 0) for place in _NO_PLACE)
    delay = sum(after[task] - before[task] for task in after.keys() & before.keys()) / 1e9
    return Waits(
        seconds=one.seconds, looks=looks, running=running, asleep=dict(asleep), run_delay_s=delay if after else None
    )


def _places(pids: list[int]) -> Iterator[str | None]:
    """For each thread the kernel's function that it sleeps in; None if it runs or could."""
    for pid in pids:
        for task in task_folders(pid):
            with contextlib.suppress(OSError, IndexError):
                state = (task / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
                yield None if state == "R" else (task / "wchan").read_text(encoding="utf-8")


def _run_delay(pids: list[int]) -> dict[str, int]:
    """By thread, the nanoseconds in which it could have run and waited for a CPU."""
    found = {}
    for pid in pids:
        for task in task_folders(pid):
            with contextlib.suppress(OSError, IndexError, ValueError):
                found[str(task)] = int((task / "schedstat").read_text(encoding="utf-8").split()[1])
    return found
