"""What a profile leaves: the passes at a fixed rate, the stacks that were sampled, and what was counted."""

from __future__ import annotations

from typing import Literal

from touchstone.record.base import Record

KERNEL = "_[k]"
"""Stands behind the name of a frame of the kernel."""


class ProfilePass(Record):
    """One window at the profile's rate."""

    seconds: float
    requests: int
    failed: int = 0
    cpu_s: float | None = None
    """CPU seconds of the process tree or its cgroup within the window."""

    @property
    def cpu_per_request(self) -> float | None:
        """CPU seconds per request; None where no CPU was measured or nothing answered."""
        return self.cpu_s / self.requests if self.cpu_s is not None and self.requests else None


class FoldedStacks(Record):
    """Sampled stacks, equal ones counted together."""

    frames: list[str] = []
    """The names, each once. The first of a stack is its thread's kind, with numbers removed."""
    stacks: list[str] = []
    """`0 7 12 5: 31`: places in `frames` from the outermost to the innermost, and how often it was sampled."""

    def read(self) -> list[tuple[list[str], int]]:
        """Each stack as its frames' names, the outermost first, with its samples."""
        found = []
        for line in self.stacks:
            places, _, count = line.partition(":")
            found.append(([self.frames[int(place)] for place in places.split()], int(count)))
        return found

    @property
    def samples(self) -> int:
        """All samples."""
        return sum(int(line.rpartition(":")[2]) for line in self.stacks)


class RequestCounts(Record):
    """What was counted over a number of requests."""

    requests: int
    rate: float
    """Requests per second while it was counted."""
    counts: dict[str, int] = {}
    """By name: system calls, or what the kernel counts of a process."""


class Waits(Record):
    """Where threads slept, sampled repeatedly while the common rate was served."""

    seconds: float
    looks: int
    running: int
    """How many threads ran or could have, over all looks."""
    asleep: dict[str, int] = {}
    """By the kernel's function that a thread slept in: how many, over all looks."""
    run_delay_s: float | None = None
    """Thread seconds of waiting for a CPU while able to run, as the scheduler counts them."""


class ProfileEvidence(Record):
    """One contender under one load of one round, at a rate that every contender serves."""

    kind: Literal["profile"] = "profile"
    rate: float
    """Requests per second."""
    plain: ProfilePass | None = None
    """Without a profiler: what is explained."""
    copy_plain: ProfilePass | None = None
    """The same of the copy that was built or started for the profiler; None where the contender itself was profiled."""
    profiled: ProfilePass | None = None
    profiler: str | None = None
    """Name, version and event; None where no profiler ran."""
    unseen: str | None = None
    """What the profiler cannot see, and why it was taken; None of one that sees all."""
    copy_build: list[list[str]] = []
    """The commands of the copy's build."""
    interval_s: float | None = None
    """CPU time between two samples of a thread."""
    stacks: FoldedStacks | None = None
    tables: list[str] = []
    """The tables of patterns by which its frames are sorted."""
    application: list[str] = []
    """Prefixes of the names of the contender's own functions."""
    not_profiled: str | None = None
    """Why there are no stacks, and what to do."""
    syscalls: RequestCounts | None = None
    not_counted: str | None = None
    """Why system calls were not counted, and what to do."""
    instructions: RequestCounts | None = None
    """What callgrind counted: `user` are the instructions outside the kernel."""
    no_instructions: str | None = None
    """Why they were not counted, and what to do."""
    waits: Waits | None = None
    no_waits: str | None = None
    """Why it is not known what threads waited for, and what to do."""
    heap: RequestCounts | None = None
    """What the runtime tells of its heap: `collections`, and `allocated` in bytes where that is enough to tell."""
    no_heap: str | None = None
    """Why it does not, and what to do."""
    process: RequestCounts | None = None
    """Context switches, page faults and bytes, as the kernel counts them for the process tree."""

    @property
    def subject(self) -> ProfilePass | None:
        """What was profiled, without the profiler: the copy if there is one, else the contender itself."""
        return self.copy_plain or self.plain
