"""Rules on ending: processes that ended, restarted, stopped, or would not end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.stops import stops
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.sample import Sample


@on_sample(
    "ignores-sigterm",
    Severity.NOTE,
    title="The server had to be killed",
    threshold=(
        "a start of the phase `boot` or a stop of the phase `stop` ended by SIGKILL. It is suspect if, in the phase "
        "`verify`, the service had not exited ten seconds after SIGTERM while clients kept their connections; this "
        "makes no figure doubtful"
    ),
    threshold_reason=(
        "the start contract requires that a service exits on SIGTERM, within ten seconds or `stop.within_s`"
    ),
    next_step="Handle SIGTERM: stop accepting, finish the requests in progress, exit.",
    phases=("boot", "stop", "verify"),
)
def ignores_sigterm(sample: Sample, case: Case) -> Iterator[Fired]:
    """A service that ignores SIGTERM is killed.

    At each deployment it loses the requests in progress.

    A graceful shutdown that waits for clients needs a timeout, because clients keep connections open that are idle or
    in the middle of a request. Fastify 5.12 waits 72 s for a connection that stays open after its last response.
    Node.js waits forever for the rest of an incomplete request.
    """
    if sample.process.ending is not None and sample.process.ending.killed:
        yield Fired(
            "the service still ran 10 s after SIGTERM, while clients kept connections (idle, silent, or in "
            "mid-request)",
            severity=Severity.SUSPECT,
            figures=[],
            next_step=(
                "Answer with `Connection: close` once SIGTERM has come, and close what is still open after some "
                "seconds: `closeAllConnections` (Node.js), a context with a timeout (Go), "
                "`timeout_graceful_shutdown` (uvicorn), a timeout around `with_graceful_shutdown` (axum)."
            ),
        )
    runs = sample.boot.runs if sample.boot else []
    killed = sum(r.stopped == "sigkill" for r in runs)
    if killed:
        yield Fired(f"{killed} of {len(runs)} started services did not end on SIGTERM and were killed")
    for end in stops([sample]):
        if end.result.stop_s is None:
            yield Fired(f"the service still ran {end.within_s:g} s after SIGTERM and was killed")


@on_sample(
    "requests-cut-at-sigterm",
    Severity.SUSPECT,
    title="A request in flight was cut by SIGTERM",
    threshold=(
        "a GET request of the contract that takes 0.2 s or more was sent just before SIGTERM and got no complete "
        "response"
    ),
    threshold_reason=(
        "a shorter request may have been answered before the signal arrives. No request may be cut, so one is enough"
    ),
    next_step=(
        "Stop accepting, wait for requests in flight, then exit. In Go, `ListenAndServe` returns when `Shutdown` "
        "begins: wait for `Shutdown` before `main` returns. The JVM needs a shutdown hook that waits."
    ),
    phases=("verify",),
)
def requests_cut_at_sigterm(sample: Sample, case: Case) -> Iterator[Fired]:
    """After SIGTERM, a service must finish the requests in flight.

    A service that does not do so loses them at each deployment.
    """
    ending = sample.process.ending
    if ending is not None and ending.cut is not None:
        yield Fired(
            f"{ending.in_flight} was in flight at SIGTERM and got no complete response ({ending.cut})",
            figures=[],
            evidence=ending.model_dump(),
        )


@on_sample(
    "process-halted",
    Severity.INVALID,
    title="The server was stopped by a signal",
    threshold=(
        "a process of the contender was stopped by SIGSTOP, SIGTSTP, SIGTTIN or SIGTTOU. Stops by a tracer do not count"
    ),
    threshold_reason=(
        "a server without a terminal is stopped only by a signal from another program. The length of the stop is "
        "unknown"
    ),
    next_step=(
        "Find the sender of the signal: another program on the machine, or another contender. To exclude other "
        "contenders, run this contender alone."
    ),
    phases=None,
)
def process_halted(sample: Sample, case: Case) -> Iterator[Fired]:
    """While a process is stopped it does not respond, and the service looks slow.

    Any program of the same user can stop it, such as a debugger, a shell or another contender.
    """
    if any(account.halted for account in sample.process.confinement):
        yield Fired("a signal stopped a process of the server during the measurement")


@on_sample(
    "server-died",
    Severity.INVALID,
    title="The server exited before the stop signal",
    threshold="the server exited before the stop signal, or no process of its tree was left during the load",
    threshold_reason="a service that exits under load has failed",
    next_step="Read the end of the server's log. Look for memory limits, unhandled errors and signals.",
    own_failure=True,
    explains=frozenset(
        {
            "connections-broken",
            "connections-not-held",
            "connections-per-request",
            "errors-above-allowance",
            "held-connections-closed",
            "held-requests-failed",
            "nothing-answered",
            "queue-grows",
            "rate-not-reached",
            "requests-unanswered",
            "timeouts",
        }
    ),
    phases=None,
    tares_too=True,
)
def server_died(sample: Sample, case: Case) -> Iterator[Fired]:
    """After a crash, figures contain refused connections and do not describe the service."""
    watch = sample.result.watch if sample.result else None
    gone = next((p.t for p in (watch.series if watch else []) if p.processes == 0), None)
    exited = watch.exited if watch else None
    if sample.process.server_exit is None and not exited and gone is None:
        return
    how = sample.process.server_exit or (str(exited) if exited else "no process was left")
    when = f" at {seconds(gone)} of the load" if gone is not None else ""
    yield Fired(
        f"the server exited{when} before the stop signal: {how}",
        evidence={"exit": sample.process.server_exit, "watch_exited": exited, "gone_at_s": gone},
    )


_SERVER_RESTARTED_SHARE = 0.1
_SERVER_RESTARTED_LEAST_S = 0.05


@on_sample(
    "server-restarted",
    Severity.SUSPECT,
    title="Processes of the server were replaced under load",
    threshold=(
        "a process of the server's tree exited under load, after it had used more than 50 ms of CPU and more than a "
        "tenth of the tree's CPU"
    ),
    threshold_reason=(
        "a worker that serves requests has used a share of the CPU. A helper process has used little when it exits"
    ),
    next_step=(
        "Look for crashes in the server's log. If workers are replaced on purpose, replace them less often than once "
        "in a load."
    ),
)
def server_restarted(sample: Sample, case: Case) -> Iterator[Fired]:
    """A supervisor that restarts a crashed worker hides the crash. The figures contain the cost of the restart."""
    watch = sample.result.watch if sample.result else None
    points = [p for p in (watch.series if watch else []) if p.phase in ("warmup", "load")]
    for before, after in pairwise(points):
        ended, used = after.ended_cpu_s or 0.0, after.cpu_s or 0.0
        if after.processes == 0 or ended <= (before.ended_cpu_s or 0.0):
            continue
        if ended > _SERVER_RESTARTED_LEAST_S and ended > _SERVER_RESTARTED_SHARE * used:
            yield Fired(
                f"a server process that had used {seconds(ended)} of CPU time had ended by {seconds(after.t)} of the "
                "load",
                evidence={"before": before.model_dump(), "after": after.model_dump()},
            )
            return
