"""Rules on memory: limits, swap, and pages that a figure does not hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from touchstone.judge.figures import MEMORY
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import number, seconds, share, size
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.machine_state import machine_state
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.memory import peak_memory, peak_rss, several_processes
from touchstone.record.sample import Sample


@on_sample(
    "floor-unsteady",
    Severity.SUSPECT,
    title="The rate without a memory limit was unsteady",
    threshold="the rates without a limit, measured before and after the search, differ by more than a limit may cost",
    threshold_reason=(
        "for example, a limit may cost one tenth of the rate. A change of one tenth without a limit then decides as "
        "much as the limit"
    ),
    next_step="Stop other processes (`touchstone doctor --noise` lists them), and search again with a longer preset.",
    phases=("floor",),
)
def floor_unsteady(sample: Sample, case: Case) -> Iterator[Fired]:
    """The memory floor is the smallest limit that costs hardly any rate.

    If the rate without a limit changes by itself, noise decides which limit passes.
    """
    floor = sample.floor
    if floor is None:
        return
    rates = [rate for rate in floor.unlimited_rates if rate]
    allowed = 1.0 - floor.share
    if len(rates) < 2 or min(rates) >= max(rates) * (1.0 - allowed):
        return
    yield Fired(
        f"without a memory limit, the rate varied from {number(min(rates))} to {number(max(rates))}/s, "
        f"{share(1 - min(rates) / max(rates))} apart",
        figures=["floor_passes"],
        evidence={"unlimited_rates": rates, "share": floor.share},
    )


_HEAP_ABOVE_LIMIT_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_HEAP_ABOVE_LIMIT_XMX = re.compile(r"-Xmx(\d+)([kmgtKMGT]?)")
_OLD_SPACE = re.compile(r"--max[-_]old[-_]space[-_]size=(\d+)")
_HEAP_ABOVE_LIMIT_GO = re.compile(r"(\d+)(?:([KMGT])i)?B?")


@on_sample(
    "heap-above-limit",
    Severity.SUSPECT,
    title="The heap may grow beyond the memory limit",
    threshold=(
        "a heap flag (-Xmx, --max-old-space-size, GOMEMLIMIT) exceeds the memory limit, or the runtime (Node.js, Deno, "
        "Java), started under that limit, reports a largest heap above it"
    ),
    threshold_reason=(
        "a runtime needs stacks, code and buffers besides the heap, so even an equal value is too much. The rule "
        "fires only on settings that are certainly wrong"
    ),
    next_step=(
        "Set the heap well below the limit by the runtime's own option: --max-old-space-size (Node.js), "
        "--v8-flags=--max-old-space-size=MIB (Deno), -Xmx or -XX:MaxRAMPercentage (Java), GOMEMLIMIT (Go). Java "
        "sizes its default heap by the cgroup's limit. Node.js 26 never defaults to less than 262 MiB. Deno 2.9 always "
        "defaults to 4,192 MiB."
    ),
    phases=None,
)
def heap_above_limit(sample: Sample, case: Case) -> Iterator[Fired]:
    """A runtime that assumes more memory than the limit allows collects garbage too late.

    The kernel then kills it, or it swaps.
    """
    limit, bound = sample.process.placement.memory_limit, sample.process.placement.heap_bound
    if not limit:
        return
    flags = [
        (where, flag, heap)
        for where, text in [("argv", " ".join(sample.process.argv)), *sample.process.env.items()]
        for flag, heap in _heaps(where, text)
    ]
    for where, flag, heap in flags:
        if heap > limit:
            yield Fired(
                f"{flag} allows a heap of {size(heap)}, above the memory limit of {size(limit)}",
                evidence={"flag": flag, "where": where, "heap": heap, "limit": limit},
            )
    if bound is not None and bound.bytes > limit and all(heap <= limit for _, _, heap in flags):
        yield Fired(
            f"{bound.runtime} lets its heap grow to {size(bound.bytes)}, above the memory limit of {size(limit)}",
            evidence={"runtime": bound.runtime, "heap": bound.bytes, "limit": limit},
            next_step=f"Set {_OPTION[bound.runtime]} well below the limit: {bound.runtime} does not do so itself.",
        )


_OPTION = {
    "node": "--max-old-space-size (or NODE_OPTIONS)",
    "deno": "--v8-flags=--max-old-space-size",
    "java": "-Xmx or -XX:MaxRAMPercentage",
}


def _heaps(where: str, text: str) -> Iterator[tuple[str, int]]:
    """Heap flags in a command line or an environment variable, in bytes."""
    for match in _HEAP_ABOVE_LIMIT_XMX.finditer(text):
        yield match[0], int(match[1]) * _HEAP_ABOVE_LIMIT_UNITS[match[2].lower()]
    for match in _OLD_SPACE.finditer(text):
        yield match[0], int(match[1]) << 20
    if where == "GOMEMLIMIT" and (found := _HEAP_ABOVE_LIMIT_GO.fullmatch(text)):
        yield f"GOMEMLIMIT={text}", int(found[1]) * _HEAP_ABOVE_LIMIT_UNITS[(found[2] or "").lower()]


_MAJOR_FAULTS_RATE = 10
_MAJOR_FAULTS_LEAST = 50


@on_sample(
    "major-faults",
    Severity.SUSPECT,
    title="The server waited for pages from disk",
    threshold="the server has more than 10 major faults per second of the window, and more than 50 in total",
    threshold_reason=(
        "after the warm-up a server has its pages in memory. 10 faults per second at about 1 ms each take 1 % of a "
        "thread's time"
    ),
    next_step="Raise the memory limit, free memory, or lengthen the warm-up.",
    # What is read from the disk at the start is part of it.
    phases=("load",),
)
def major_faults(sample: Sample, case: Case) -> Iterator[Fired]:
    """At a major page fault, a thread stops until a page has been read from disk.

    Either there is too little memory, or a part of the program was not loaded yet.
    """
    result = sample.result
    faults = result.watch.window.major_faults if result and result.watch else None
    if result is None or not faults or not result.window.measured_s:
        return
    if faults > _MAJOR_FAULTS_LEAST and faults / result.window.measured_s > _MAJOR_FAULTS_RATE:
        yield Fired(
            f"the server had {number(faults)} major page faults within {seconds(result.window.measured_s)}",
            evidence={"major_faults": faults, "a_second": faults / result.window.measured_s},
        )


_MEMORY_LIMIT_HIT_FULL = 0.95
_MEMORY_LIMIT_HIT_FAULTS = 50


@on_sample(
    "memory-limit-hit",
    Severity.SUSPECT,
    title="The memory limit was hit",
    threshold=(
        "anonymous memory is above 95 % of the limit, or the kernel counted hits of the limit together with more than "
        "50 major faults. It is invalid if the kernel killed a process at the limit"
    ),
    threshold_reason=(
        "page cache does not count: it fills any limit, and the kernel can reclaim it at once. Anonymous memory "
        "cannot be reclaimed"
    ),
    next_step="Raise the limit, or lower the heap. The phase `floor` finds the smallest limit that is enough.",
)
def memory_limit_hit(sample: Sample, case: Case) -> Iterator[Fired]:
    """At the memory limit the kernel reclaims pages of the server. The server becomes slower or is killed."""
    limit, result, state = sample.process.placement.memory_limit, sample.result, machine_state(sample)
    watched = result.watch.window if result and result.watch else None
    killed = max(state.oom_kills or 0, (watched.oom_kills if watched else None) or 0)
    if killed:
        yield Fired(
            f"the kernel killed {killed} process(es) at the memory limit",
            severity=Severity.INVALID,
            evidence=state.model_dump() | {"killed_in_the_window": watched.oom_kills if watched else None},
        )
        return
    if not limit or result is None or result.watch is None:
        return
    anon = max((p.anon for p in result.watch.series if p.anon is not None), default=0)
    faults = result.watch.window.major_faults or 0
    if anon > _MEMORY_LIMIT_HIT_FULL * limit or (state.memory_limit_hits and faults > _MEMORY_LIMIT_HIT_FAULTS):
        yield Fired(
            f"anonymous memory reached {size(anon)} of a limit of {size(limit)}, with {number(faults)} major page "
            "faults",
            evidence={"anon_peak": anon, "limit": limit, "major_faults": faults, "limit_hits": state.memory_limit_hits},
        )


_MEMORY_OUTSIDE_RSS_SHARE = 0.05
_MEMORY_OUTSIDE_RSS_LEAST = 1 << 20
_KERNEL_SHARE = 0.10
_KERNEL_LEAST = 4 << 20


@on_sample(
    "memory-outside-rss",
    Severity.SUSPECT,
    title="Some memory is in no process's RSS",
    threshold=(
        "huge pages, and shared memory that is charged to the server's cgroup and mapped by none of its processes, are "
        "more than 1 MiB and more than 5 % of its RSS. Or the cgroup's kernel memory (pipes, sockets) is "
        "more than 4 MiB and more than 10 % of RSS, after these are subtracted: 32 KiB per thread, 8 KiB per slot of "
        "the descriptor table, the page tables, and 2 % of RSS"
    ),
    threshold_reason=(
        "runtimes keep a few pages of counters in such files. 5 % is the least difference that matters. The kernel "
        "needs about 26 KiB for a thread and 4 KiB for a connection"
    ),
    next_step="Compare the cgroup's memory (`cgroup_peak`) instead of RSS.",
    phases=None,
)
def memory_outside_rss(sample: Sample, case: Case) -> Iterator[Fired]:
    """Some memory of a service is not part of RSS and PSS.

    It is the memory of `memfd` and `/dev/shm` files that no process maps, of huge pages, and of bytes that wait in
    pipes and sockets.
    """
    for account in sample.process.confinement:
        shared, kernel = account.unmapped_shared, account.kernel
        found = {}
        if shared > max(_MEMORY_OUTSIDE_RSS_LEAST, _MEMORY_OUTSIDE_RSS_SHARE * account.resident):
            found["huge pages and unmapped shared memory"] = shared
        if kernel > max(_KERNEL_LEAST, _KERNEL_SHARE * account.kernel_resident):
            found["kernel memory, such as pipes and sockets"] = kernel
        if not found:
            continue
        resident = max(account.resident, account.kernel_resident)
        what = " and ".join(f"{size(amount)} of {kind}" for kind, amount in found.items())
        yield Fired(
            f"{what} were in no process's RSS, in addition to {size(resident)} of RSS",
            figures=_HELD if sample.phase == "hold" else MEMORY,
            doubt=_larger(resident, sum(found.values())) if sample.phase != "hold" else None,
            evidence={"unmapped_shared": shared, "kernel": kernel, "rss": resident},
        )
        return


_HELD = ["hold_rss_per_connection", "hold_anon_per_connection", "hold_rss_base", "hold_given_back"]


def _larger(resident: int, beyond: int) -> PossibleBias | None:
    """The bound on figures of memory: with what lies outside they are no larger than the sum."""
    if not resident:
        return None
    return PossibleBias(slower=1 + beyond / resident, reason="the cgroup's memory bounds what its processes hold")


_PAGES_SHARED_MORE = 1.05


@on_sample(
    "pages-shared",
    Severity.NOTE,
    title="Shared pages are counted once",
    threshold="the server has several processes, and the sum of their RSS is more than 5 % above the memory shown",
    threshold_reason="below 5 % the two sums hardly differ",
    next_step=(
        "Nothing is wrong. Do not compare this figure with `ps` or `top`, which count shared pages once per process."
    ),
)
def pages_shared(sample: Sample, case: Case) -> Iterator[Fired]:
    """Forked processes share all pages that they have not written.

    A sum of RSS counts such a page once per process, so touchstone shows the sum of PSS. The file pages of a process
    count at least once, even if unrelated processes share them.
    """
    watch = sample.result.watch if sample.result else None
    if watch is None or not several_processes(watch):
        return
    counted, summed = peak_memory(watch), peak_rss(watch)
    if counted is None or summed is None or summed <= _PAGES_SHARED_MORE * counted:
        return
    processes = max((point.processes or 0) for point in watch.series)
    yield Fired(
        f"{processes} processes hold {size(counted)} with shared pages counted once; the sum of their RSS is "
        f"{size(summed)}",
        evidence={"counted": counted, "rss_summed": summed, "processes": processes},
    )


_SWAPPED_PAGES = 256


@on_sample(
    "swapped",
    Severity.SUSPECT,
    title="The machine swapped",
    threshold="more than 256 pages moved to or from swap during the sample",
    threshold_reason=(
        "256 pages are 1 MiB. If the amount is smaller, the kernel may have moved out pages of idle programs"
    ),
    next_step="Free memory or lower the number of connections. Turn swap off for measurements.",
    phases=None,
)
def swapped(sample: Sample, case: Case) -> Iterator[Fired]:
    """Reading a page from disk takes longer than a whole request."""
    state = machine_state(sample)
    pages = (state.swap_in_pages or 0) + (state.swap_out_pages or 0)
    if pages > _SWAPPED_PAGES:
        yield Fired(
            f"the machine swapped {number(pages)} pages",
            evidence={"swap_in_pages": state.swap_in_pages, "swap_out_pages": state.swap_out_pages},
        )
