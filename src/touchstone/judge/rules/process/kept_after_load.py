"""Rule: descriptors or threads were kept after the load."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import asked_connections
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample
from touchstone.record.watch import Watch

REST_S = 1.0
FILES = 100
FILES_OF_A_CONNECTION = 2
THREADS = 512


class KeptAfterLoad(SampleRule):
    """What is kept when nobody asks any more is paid for until the process ends, and may be more after the next load.

    What grows to the end of a load is told by `descriptors-grow` and `threads-grow`; this is what has stopped to grow.
    """

    code = "kept-after-load"
    severity = Severity.NOTE
    title = "Descriptors or threads were kept after the load"
    threshold = (
        "when the load is over, its connections are closed and a second or more has passed: 100 more open descriptors "
        "than before it, and two more for each of its connections and each dependency; or 512 more threads"
    )
    threshold_reason = (
        "a pool of connections to a dependency has as many as requests were under way, in SQLite two files each, and "
        "stays open; a hundred leaves room for files that are opened when first needed. Pools of threads fill up to a "
        "bound: 200 by default in Jetty and Tomcat, 512 in Tokio. Below that nobody can tell a pool from a leak, and "
        "above it only the next load can: so it is a note"
    )
    next_step = (
        "Look at what there is most of: `ls -l /proc/PID/fd`, a dump of the threads. If it is a pool, give it a bound; "
        "if it is more again after another load, it leaks."
    )
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        watch = sample.result.watch if sample.result else None
        rested = _rested(watch) if watch else 0.0
        if watch is None or rested < REST_S:
            return
        pooled = FILES_OF_A_CONNECTION * asked_connections(sample) * len(sample.dependencies)
        for what, most in (("fds", FILES + pooled), ("threads", THREADS)):
            before, after = getattr(watch.at_start, what), getattr(watch.at_idle_end, what)
            if before is not None and after is not None and after - before > most:
                name = "open descriptors" if what == "fds" else "threads"
                yield self.finding(
                    f"{number(rested)} s after the load it had {number(after)} {name}, {number(after - before)} more "
                    "than before it",
                    sample=sample,
                    figures=["rss_after_idle"],
                    evidence={"before": before, "after": after, "allowed": most},
                )


def _rested(watch: Watch) -> float:
    """For how long it was watched when the load was over, in seconds; 0 where nobody knows, or it was gone."""
    over, end = watch.at_load_end, watch.at_idle_end
    if watch.at_start is None or over is None or end is None or over.t is None or end.t is None:
        return 0.0
    return end.t - over.t
