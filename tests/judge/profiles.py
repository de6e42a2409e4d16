"""Runs with profiles whose parts are known, for tests of what is said about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from touchstone.phase.profile.figures import profile_figures
from touchstone.phase.profile.profiler import folded
from touchstone.record.evidence.profile import ProfileEvidence, ProfilePass, RequestCounts
from touchstone.record.run import Run
from touchstone.record.sample import Sample

from .sound import START, sound_run

US = 1e-6
REQUESTS = 10_000
HANDLER = ["app", "runtime.goexit.abi0", "net/http.(*conn).serve", "main.handler"]
WRITE = [
    "app",
    "runtime.goexit.abi0",
    "net/http.(*conn).serve",
    "syscall.write",
    "do_syscall_64_[k]",
    "tcp_sendmsg_[k]",
]
QUERY = [*HANDLER, "database/sql.(*DB).Query", "modernc.org/sqlite/lib._sqlite3VdbeExec"]
SPIN = [*HANDLER, "main.spin"]

Stacks = Sequence[tuple[list[str], float]]
"""Stacks with their microseconds per request."""

BASE: Stacks = [(WRITE, 12.0), (QUERY, 8.0), (HANDLER, 2.0)]


def evidence(
    stacks: Stacks, *, plain: float | None = None, copy: float | None = None, calls: Mapping[str, float] | None = None
) -> ProfileEvidence:
    """A profile with these stacks. `plain` and `copy` are microseconds per request without a profiler."""
    total = sum(us for _, us in stacks)

    def one(us: float) -> ProfilePass:
        return ProfilePass(seconds=5.0, requests=REQUESTS, cpu_s=us * US * REQUESTS)

    return ProfileEvidence(
        rate=2000.0,
        plain=one(total if plain is None else plain),
        copy_plain=None if copy is None else one(copy),
        profiled=one(total),
        profiler="perf 6.1, cpu-clock",
        interval_s=1 / 997,
        stacks=folded([(frames, round(us * 100)) for frames, us in stacks]),
        tables=["go"],
        application=["main."],
        syscalls=RequestCounts(
            requests=600,
            rate=200.0,
            counts={name: round(times * 600) for name, times in (calls or {"read": 1.0, "write": 1.0}).items()},
        ),
        process=RequestCounts(requests=REQUESTS, rate=2000.0, counts={"voluntary_switches": REQUESTS}),
    )


def sample(contender: str, round_number: int, profile: ProfileEvidence) -> Sample:
    """A sample of the phase with the figures that follow from its evidence."""
    figures, missing = profile_figures(profile)
    return Sample(
        id=f"profile-{contender.replace('/', '.')}-{round_number}",
        phase="profile",
        scenario="users",
        contender=contender,
        load="lookup",
        round=round_number,
        started_at=START,
        evidence=profile,
        figures=figures,
        not_measured=missing,
    )


def profile_run(by_contender: Mapping[str, Sequence[ProfileEvidence]]) -> Run:
    """A run of this phase alone: a profile of each contender for each round."""
    run = sound_run()
    run.plan.phases = ["profile"]
    run.samples = [
        sample(name, number, one) for name, all_ in by_contender.items() for number, one in enumerate(all_, start=1)
    ]
    return run
