"""Rules on growth: memory, descriptors and threads that grow under load, or stay after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from touchstone.judge.figures import MEMORY
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import number, per_request, size
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.growth import left_behind, under_load
from touchstone.judge.reading.traffic import asked_connections
from touchstone.judge.rule import Fired, on_group, on_sample
from touchstone.judge.statistics.trend import grows
from touchstone.record.sample import Sample
from touchstone.record.watch import Watch

_MEMORY_GROWS_SHARE = 0.25
_MEMORY_GROWS_LEAST = 4 << 20
_MEMORY_GROWS_MUCH = 32 << 20
_SHORTEST_S = 2.5
"""A quick run loads a native server for some 3.5 s, its warm-up included."""
_ENOUGH_S = 30.0


@on_group(
    "memory-grows",
    Severity.SUSPECT,
    title="Memory grew until the end of the load in every round",
    threshold=(
        "in every round, anonymous memory (or RSS) still grows linearly when the load ends. Over the second half of "
        "warm-up and load it grows by more than a quarter and by more than 4 MiB. It is suspect if memory grew by 32 "
        "MiB and warm-up and load together took 30 s, otherwise it is a note"
    ),
    threshold_reason=(
        "a garbage-collected heap stops growing once it has reached its size, which may take tens of seconds. A leak "
        "grows in every round"
    ),
    next_step=(
        "Run the load for minutes (`--thorough`), and watch the memory of the idle service afterwards. If it keeps "
        "growing, take a heap dump."
    ),
    # Memory grows from nothing after exec.
    phases=("load",),
)
def memory_grows(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """If memory grows as long as the load lasts, its peak depends on the load's length. It may hide a leak."""
    rates: list[float] = []
    gains: list[float] = []
    loaded_s = 0.0
    for sample in group.samples:
        series = _memory(sample)
        if not series:
            continue
        loaded_s = max(loaded_s, series[-1][0])
        middle = series[len(series) // 2][1]
        rate = grows(series, least=max(_MEMORY_GROWS_LEAST, _MEMORY_GROWS_SHARE * middle))
        if rate is None:
            return
        rates.append(rate)
        gains.append(series[-1][1] - middle)
    if rates and loaded_s >= _SHORTEST_S:
        much = loaded_s >= _ENOUGH_S and min(gains) > _MEMORY_GROWS_MUCH
        yield Fired(
            f"memory still grew by at least {size(min(rates))} per second at the end of the load in all {len(rates)} "
            "round(s)",
            severity=Severity.SUSPECT if much else Severity.NOTE,
            figures=MEMORY,
            doubt=PossibleBias(slower=None, reason="memory grows for as long as the load lasts") if much else None,
            evidence={"bytes_a_second": rates, "loaded_s": loaded_s},
        )


def _memory(sample: Sample) -> list[tuple[float, float]]:
    """Anonymous memory where each look has it, otherwise RSS: a mix of the two would show nothing."""
    rss, anon = under_load(sample, lambda point: point.rss), under_load(sample, lambda point: point.anon)
    return anon if len(anon) == len(rss) else rss


_DESCRIPTORS_GROW_ROOM = 100
_DESCRIPTORS_GROW_NEAR = 0.9


@on_sample(
    "descriptors-grow",
    Severity.SUSPECT,
    title="Open descriptors grew until the end of the load, or came near their limit",
    threshold=(
        "one of three is true. (1) Over the last two thirds of all requests (with the warm-up), the number of "
        "descriptors grows in proportion to the requests, equally in both halves, and by more than the number of new "
        "connections plus 16. (2) The number still grows linearly when the load ends, and over the second half of "
        "warm-up and load it grows by more than the load's connections plus 100. (3) In the window, a process had "
        "90 % or more of its allowed descriptors open, and more than the load's connections plus 100"
    ),
    threshold_reason=(
        "connections, pools and files are opened when the load begins and then stay open. A pool that fills late "
        "does not grow with each request. The 16 descriptors are for the runtime. Conditions 2 and 3 do not use the "
        "number of requests, so they allow 100 for a pool that fills late. At the limit every further accept and "
        "open fails. Condition 3 uses 90 % of the limit, because readings are 0.1 s apart"
    ),
    next_step=(
        "List the open descriptors after a load (`ls -l /proc/PID/fd`). The most frequent kind shows what the "
        "service does not close."
    ),
)
def descriptors_grow(sample: Sample, case: Case) -> Iterator[Fired]:
    """If each request leaks a file descriptor, the server fails when none are left."""
    watch = sample.result.watch if sample.result else None
    connections = asked_connections(sample) + _DESCRIPTORS_GROW_ROOM
    peak, limit = (watch.window.fds_peak, watch.window.fd_limit) if watch else (None, None)
    if peak is not None and limit is not None and peak >= _DESCRIPTORS_GROW_NEAR * limit and peak > connections:
        yield Fired(
            f"a process had {number(peak)} open descriptors, close to its limit of {number(limit)}",
            evidence={"peak": peak, "limit": limit, "connections": asked_connections(sample)},
        )
        return
    grown = left_behind(sample, lambda point: point.fds, room=_DESCRIPTORS_GROW_ROOM)
    if grown is not None:
        yield Fired(
            f"the number of open descriptors grew from {number(grown.first)} to {number(grown.last)}, "
            f"{per_request(grown.each)}",
            evidence=asdict(grown),
        )


REST_S = 1.0
KEPT_AFTER_LOAD_FILES = 100
_FILES_OF_A_CONNECTION = 2
KEPT_AFTER_LOAD_THREADS = 512


@on_sample(
    "kept-after-load",
    Severity.NOTE,
    title="Descriptors or threads were kept after the load",
    threshold=(
        "at least one second after the load's connections are closed, the server has more open descriptors or "
        "threads than before the load. Descriptors: by more than 100 plus two per connection and dependency. "
        "Threads: by more than 512"
    ),
    threshold_reason=(
        "a pool of connections to a dependency holds one connection per request in progress (two files each in "
        "SQLite) and stays open. The 100 are for files that are opened on first use. Thread pools fill up to a "
        "limit: 200 by default in Jetty and Tomcat, 512 in Tokio. Only the next load can show whether it is a pool "
        "or a leak, so the finding is a note"
    ),
    next_step=(
        "Look at the most frequent kind: `ls -l /proc/PID/fd` for descriptors, a thread dump for threads. If it is a "
        "pool, limit its size. If another load adds more, it is a leak."
    ),
    phases=("load",),
)
def kept_after_load(sample: Sample, case: Case) -> Iterator[Fired]:
    """Descriptors or threads that stay after a load use memory.

    The next load may add more.

    `descriptors-grow` and `threads-grow` report growth that still continues when the load ends. This rule reports
    growth that has stopped.
    """
    watch = sample.result.watch if sample.result else None
    rested = _rested(watch) if watch else 0.0
    if watch is None or rested < REST_S:
        return
    pooled = _FILES_OF_A_CONNECTION * asked_connections(sample) * len(sample.dependencies)
    for what, most in (("fds", KEPT_AFTER_LOAD_FILES + pooled), ("threads", KEPT_AFTER_LOAD_THREADS)):
        before, after = getattr(watch.at_start, what), getattr(watch.at_idle_end, what)
        if before is not None and after is not None and after - before > most:
            name = "open descriptors" if what == "fds" else "threads"
            yield Fired(
                f"{number(rested)} s after the load, the service had {number(after)} {name}, "
                f"{number(after - before)} more than before the load",
                figures=["rss_after_idle"],
                evidence={"before": before, "after": after, "allowed": most},
            )


def _rested(watch: Watch) -> float:
    """For how long it was watched when the load was over, in seconds. 0 where nobody knows, or it was gone."""
    over, end = watch.at_load_end, watch.at_idle_end
    if watch.at_start is None or over is None or end is None or over.t is None or end.t is None:
        return 0.0
    return end.t - over.t


_THREADS_GROW_ROOM = 32


@on_sample(
    "threads-grow",
    Severity.SUSPECT,
    title="The number of threads grew until the end of the load",
    threshold=(
        "one of two is true. (1) Over the last two thirds of all requests (with the warm-up), the number of threads "
        "and zombies grows in proportion to the requests, equally in both halves, and by more than the number of new "
        "connections plus 16. (2) The number still grows linearly when the load ends, and over the second half of "
        "warm-up and load it grows by more than the load's connections plus 32"
    ),
    threshold_reason=(
        "one thread per connection is a valid design, and a runtime has a few helper threads. More threads are a leak"
    ),
    next_step=(
        "Take a thread dump after a load. It shows which threads do not end or are blocked. If `ps` shows defunct "
        "processes, call `wait` for the child processes."
    ),
    # Pools fill up after exec.
    phases=("load",),
)
def threads_grow(sample: Sample, case: Case) -> Iterator[Fired]:
    """If each request leaves a thread behind, the number of threads grows without limit.

    Zombies count as well: ended processes whose parent has not called `wait`. The kernel limits the total number of
    threads and processes.
    """
    grown = left_behind(sample, lambda point: point.threads, room=_THREADS_GROW_ROOM)
    if grown is not None:
        yield Fired(
            f"the number of threads grew from {number(grown.first)} to {number(grown.last)}, {per_request(grown.each)}",
            evidence=asdict(grown),
        )
