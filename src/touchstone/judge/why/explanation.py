"""What is said of a difference: its parts, each with an interval, and what was counted."""

from __future__ import annotations

from touchstone.record.base import Record


class CpuDifference(Record):
    """A part of the CPU per request, in seconds, as the mean over rounds."""

    name: str
    baseline: float
    contender: float
    low: float | None = None
    high: float | None = None
    """The interval of the difference, simultaneous over all parts of its kind; None with too few rounds."""

    @property
    def difference(self) -> float:
        """The contender's less the baseline's."""
        return self.contender - self.baseline

    @property
    def sure(self) -> bool:
        """Whether it is different at all: its interval excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


class FunctionDifference(CpuDifference):
    """A function with what works on its behalf: kernel, scheduler, collector and allocator below it."""

    category: str


class CountDifference(Record):
    """What was counted of both: a system call per request, threads that wait for the same thing on average."""

    name: str
    baseline: float
    contender: float

    @property
    def difference(self) -> float:
        """The contender's less the baseline's."""
        return self.contender - self.baseline


class CpuExplanation(Record):
    """Why a contender's CPU per request differs from the baseline's under one load."""

    load: str
    contender: str
    baseline: str
    rate: float
    """Requests per second at which both were profiled."""
    rounds: int
    total: CpuDifference
    """Without a profiler: what is explained."""
    parts: list[CpuDifference] = []
    """The categories. With the rest they add up to the total."""
    rest: CpuDifference
    """What the contenders take other than the copies of them that were profiled; 0 where there is no copy."""
    functions: list[FunctionDifference] = []
    """Functions that explain most, by the size of the difference."""
    calls: list[CountDifference] = []
    """The system calls whose number differs most."""
    counted: list[CountDifference] = []
    """What else was counted of both: instructions, context switches, page faults, collections."""
    waits: list[CountDifference] = []
    """What threads of both wait for off the CPU, what differs most first; empty where the kernel does not tell it."""
    no_waits: str = ""
    """Why it does not."""
    profilers: list[str] = []
    """The baseline's, then the contender's."""
    unmatched: list[tuple[str, float]] = []
    """Frames that no table has, with the share of the CPU that ended in them, over both."""


class CpuPart(Record):
    """A part of one contender's CPU per request, in seconds, as the mean over rounds."""

    name: str
    seconds: float
    low: float | None = None
    high: float | None = None
    """Its interval, simultaneous over all costs of its kind; None with too few rounds."""


class EventCount(Record):
    """A count of one contender: a system call per request, threads that wait for the same thing on average."""

    name: str
    each: float


class CpuBreakdown(Record):
    """One contender's CPU per request under one load in parts, without a comparison."""

    load: str
    contender: str
    rate: float
    """Requests per second at which it was profiled."""
    rounds: int
    total: CpuPart
    """Without a profiler: what the parts and the rest add up to."""
    parts: list[CpuPart] = []
    """The categories, the largest first."""
    rest: CpuPart
    """What the contender takes other than its copy that was profiled; 0 where there is no copy."""
    functions: list[CpuPart] = []
    """The functions that take most, each with what works on its behalf."""
    calls: list[EventCount] = []
    """The most frequent system calls, per request."""
    waits: list[EventCount] = []
    """Threads that wait on average, by what they wait for; empty where the kernel does not show it."""
    no_waits: str = ""
    """Why it does not."""
    profiler: str = ""


class Unexplained(Record):
    """A contender, or a pair of them, that could not be explained, and why."""

    load: str
    contender: str
    baseline: str | None = None
    reason: str
