"""The process of a contender: who ran where, how it was started, and how it ended."""

from __future__ import annotations

from pydantic import Field

from touchstone.record.base import Record
from touchstone.record.evidence.surroundings import Confinement, CpuAtEnd, LeftInWork


class GeneratorPlace(Record):
    """A machine that load comes from, and its CPUs that make it."""

    name: str
    address: str
    cpus: list[int] = []
    model: str = ""
    """Model of its CPUs, in the kernel's words."""


class CountedCpus(Record):
    """How many CPUs a contender's runtime counts, by which it chooses its numbers of threads."""

    count: int
    runtime: str
    asked: bool = False
    """The runtime itself was asked, under the contender's limits; otherwise it is by a known rule of its version."""


class HeapBound(Record):
    """The heap size that a contender's runtime reports under its memory limit."""

    bytes: int
    runtime: str


class AotCache(Record):
    """The AOT cache or CDS archive of a JVM, by its own report and the files."""

    file: str
    refused: str | None = None
    """Why the JVM does not take it, in its own words."""
    classes: int = 0
    """Classes that come from it, of those that are loaded until the program's main class is there."""
    loaded: int = 0
    newer: list[str] = []
    """Files of the program that were changed after the cache was written."""


class EndingWithClients(Record):
    """How a service ended while clients kept connections: at rest, silent, with half a request, or in flight."""

    took_s: float = 0.0
    """Seconds from SIGTERM to its end; the seconds that it was given, if it had to be killed."""
    killed: bool = False
    """It had not ended ten seconds after SIGTERM."""
    in_flight: str | None = None
    """The target of a request that was in flight at SIGTERM; None if no request takes long enough."""
    cut: str | None = None
    """How that request failed; None if it was answered."""


class Placement(Record):
    """CPUs of server, engine and dependencies, on the contender's machine."""

    server_cpus: list[int] = []
    engine_cpus: list[int] = []
    dependency_cpus: list[int] = []
    shared: list[str] = []
    """In words: what shares a CPU with what."""
    cgroup: str | None = None
    memory_limit: int | None = None
    cpu_limit: float | None = None
    """How many CPUs' time its cgroup has."""
    counted_cpus: CountedCpus | None = Field(default=None, exclude_if=lambda counted: counted is None)
    """What its runtime counts, where a CPU quota held and it is known."""
    heap_bound: HeapBound | None = Field(default=None, exclude_if=lambda bound: bound is None)
    """How large its heap may become, where a memory limit held and its runtime could be asked."""
    machine: str | None = Field(default=None, exclude_if=lambda name: name is None)
    """The contender's machine, where a run had several; a round has one."""
    generators: list[GeneratorPlace] = Field(default=[], exclude_if=lambda places: not places)
    """The other machines that the load comes from; the engine's CPUs are then those that lead and watch."""


class Written(Record):
    """Bytes that a process tree wrote to others than its clients since its first response."""

    calls: int = 0
    """By `write` and its kind: log files, pipes, other programs; also responses, unless they go by `send`."""
    writes: int = 0
    """The number of these calls."""
    dirtied: int = 0
    """Pages of files that were changed in any way, as the kernel counts them for the disk."""
    mapped: int = 0
    """Pages of files that were mapped to be written, which came to be resident."""
    piped: int = 0
    """Read by processes that only read from its pipes."""


class Process(Record):
    """One process of a contender. Samples of loads that it served in turn have the same one."""

    id: str = ""
    """The same in all samples of one process; its log is named after it."""
    contender: str = ""
    placement: Placement = Placement()
    argv: list[str] = []
    env: dict[str, str] = {}
    artifacts: dict[str, str] = {}
    """SHA-256 of what was run, by file name."""
    mapped: dict[str, str] = Field(default={}, exclude_if=lambda files: not files)
    """The first 16 digits of SHA-256 of each file mapped as code or open for reading at its end, by path."""
    aot_cache: AotCache | None = Field(default=None, exclude_if=lambda cache: cache is None)
    """None where its command names none."""
    left_in_work: LeftInWork = LeftInWork()
    left_out: list[str] = []
    """What was not done for it, such as settings that one outside is not given; a sentence each."""
    server_exit: str | None = None
    """How it ended if it ended before it was asked to, in words."""
    foreign_listener: str | None = None
    """Holder of the port, if it was not the contender's process tree."""
    stopped: str | None = None
    """How it ended after it was asked to, in words."""
    ending: EndingWithClients | None = Field(default=None, exclude_if=lambda ending: ending is None)
    """None where no clients stayed."""
    cpu_at_end: CpuAtEnd | None = Field(default=None, exclude_if=lambda used: used is None)
    """CPU until its stop signal and after; None without a cgroup of ours."""
    oom_kills: int | None = None
    """Processes of its tree that the kernel ended for want of memory."""
    confinement: list[Confinement] = []
    """One account for each start at which something was found."""
    log: str | None = None
    """The file of its standard output and error, relative to the run's folder."""
    log_bytes: int | None = Field(default=None, exclude_if=lambda size: size is None)
    """Bytes written there during its whole life, under every load."""
    log_file_bytes: int = Field(default=0, exclude_if=lambda size: size == 0)
    """Bytes appended to other files: those open from the first response on, and those of its own folder."""
    written: Written | None = Field(default=None, exclude_if=lambda written: written is None)
    """None for one that touchstone did not start, and in older records."""
