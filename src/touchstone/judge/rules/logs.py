"""Rules on logs: what contenders write to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.unequal_pair import UnequalPair, unequal_pairs
from touchstone.judge.reading.written import START_BYTES, written_elsewhere
from touchstone.judge.rule import Fired, on_run

_EACH_BYTES = 8
_TIMES = 10
_COST = "what a line costs depends on who writes it"


class _About(TypedDict):
    """Whom a finding is about, and the figures in doubt."""

    contender: str
    figures: list[str]
    doubt: PossibleBias


@on_run(
    "logs-each-request",
    Severity.NOTE,
    title="The service logs each request",
    threshold=(
        f"the service writes {_EACH_BYTES} bytes or more of log per response, not counting the first 32 KiB. Logs are "
        "standard output, standard error, and files that are open for appending only. `logs-unequal` reports "
        "differences between contenders"
    ),
    threshold_reason="a line of an access log has about 80 bytes, so 8 bytes are a line for every tenth response",
    next_step="If the service is deployed with this log, leave it on. Otherwise switch it off and measure again.",
)
def logs_each_request(case: Case) -> Iterator[Fired]:
    """An access log is often a large part of the cost of a request.

    A reader who deploys the service without this log should know that it was on.
    """
    for contender, each in _written(case).items():
        if each >= _EACH_BYTES:
            yield Fired(
                f"the contender wrote {number(each)} bytes of log per response",
                contender=contender,
                figures=[*SPEED, *CPU],
                evidence={"bytes_per_response": each},
            )


@on_run(
    "logs-unequal",
    Severity.SUSPECT,
    title="One contender logs its requests and another does not",
    threshold=(
        "a contender logs 8 bytes or more per response, and at least ten times as many as another contender. All "
        "loads of a process count, without the first 32 KiB. Logs are standard output, standard error, and files "
        "that are open for appending only. If most contenders agree, only those that differ are named"
    ),
    threshold_reason=(
        "a line of an access log has about 80 bytes, so 8 bytes are a line for every tenth response. Frameworks "
        "write a few KiB when they start. A contender that logs would be at least as fast without its log"
    ),
    next_step="Switch the access log off for all contenders, or on for all, as in production.",
)
def logs_unequal(case: Case) -> Iterator[Fired]:
    """Writing an access log takes CPU time from the requests.

    Some frameworks write one by default and others do not. That is not a difference in speed.
    """
    written = _written(case)
    for pair in unequal_pairs(written, lambda small, large: large >= max(_EACH_BYTES, _TIMES * small)):
        yield Fired(
            f"{pair.high} wrote {number(written[pair.high])} bytes of log per response, "
            f"{pair.low} {number(written[pair.low])}",
            **_about(pair),
            evidence={"bytes_per_response": written},
        )


@on_run(
    "writes-unequal",
    Severity.SUSPECT,
    title="One contender writes data besides its responses, and another does not",
    threshold=(
        "a contender writes 8 bytes or more per response, and ten times as many as another contender. Writes to "
        "clients, to dependencies and to the logs of `logs-unequal` do not count. The rule compares the largest of "
        "five counts. (1) System calls that write (not used with dependencies or TLS). (2) Changed pages of files "
        "(not used with dependencies or TLS). (3) Pages of files that are mapped for writing. (4) Bytes that other "
        "processes read from the service's pipes, if these processes cannot send anything back. (5) Packets to other "
        "addresses, minus those in the null server's slices, if there are more than chance explains (rank test, p < "
        "0.001; with dependencies only datagrams). If most contenders agree, only those that differ are named"
    ),
    threshold_reason=(
        "a line of a log has about 80 bytes, so 8 bytes are a line for every tenth response. Writes that only wake "
        "threads are subtracted (8 bytes each), and the first 32 KiB do not count. Changed pages count from 1 MiB on"
    ),
    next_step=(
        "List the contender's writes (`strace -f -e trace=write,sendto,sendmsg -p PID`): a log to a socket, a program "
        "or a mapped file, metrics, traces. Switch them off for all contenders, or on for all, as in production."
    ),
)
def writes_unequal(case: Case) -> Iterator[Fired]:
    """Writing a log costs CPU.

    This is also true of logs over UDP, through a pipe to another program, or to a mapped file.

    Datagrams to sockets of the same machine (`/dev/log`) and writes by io_uring do not count, because no counter shows
    them.
    """
    ways = written_elsewhere(case)
    written = {name: max(found.values()) for name, found in ways.items()}
    for pair in unequal_pairs(written, lambda small, large: large >= max(_EACH_BYTES, _TIMES * small)):
        most = max(ways[pair.high], key=lambda way: ways[pair.high][way])
        yield Fired(
            f"{pair.high} wrote {number(written[pair.high])} bytes per response {_WAYS[most]}, {pair.low} "
            f"{number(written[pair.low])}",
            **_about(pair),
            evidence={"bytes_per_response": ways},
        )


_WAYS = {
    "calls": "to files, pipes or other programs",
    "dirtied": "to files",
    "mapped": "to mapped files",
    "piped": "through pipes to another program",
    "network": "over the network to programs other than its clients",
}


def _about(pair: UnequalPair) -> _About:
    """The contender that a finding on a pair accuses, and the possible bias."""
    quiet_is_odd = pair.odd == pair.low
    return {
        "contender": pair.low if quiet_is_odd else pair.high,
        "figures": [*SPEED, *CPU],
        "doubt": PossibleBias(slower=None, reason=_COST) if quiet_is_odd else PossibleBias(faster=None, reason=_COST),
    }


def _written(case: Case) -> dict[str, float]:
    """Bytes of log per response, by contender; without those of which it is not known."""
    groups: dict[str, list[SampleGroup]] = {}
    for group in case.groups_of("load"):
        groups.setdefault(group.contender, []).append(group)
    return {name: each for name, own in groups.items() if (each := _bytes_per_response(own)) is not None}


def _bytes_per_response(groups: Sequence[SampleGroup]) -> float | None:
    """Bytes of log per response over all processes of a contender. None where nothing was answered or nobody looked.

    A process that served several loads has one log, of which each of their samples shows the whole.
    """
    sizes: dict[str, int] = {}
    answered = 0
    for sample in (sample for group in groups for sample in group.samples):
        log = sample.process.log
        if sample.result is None or sample.process.log_bytes is None or log is None:
            continue
        sizes[log] = max(0, sample.process.log_bytes + sample.process.log_file_bytes - START_BYTES)
        answered += max(sample.result.totals.completed, sample.result.counts.completed)
    return sum(sizes.values()) / answered if answered else None
