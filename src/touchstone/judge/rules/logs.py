"""Rules on logs: what contenders write to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.unequal_pair import unequal_pairs
from touchstone.judge.rule import Fired, on_run

_EACH_BYTES = 8
_TIMES = 10
_START_BYTES = 32 << 10
"""What a framework may write at its start and its end."""
_COST = "what a line costs depends on who writes it"


@on_run(
    "logs-each-request",
    Severity.NOTE,
    title="The service logs each request",
    threshold=(
        f"{_EACH_BYTES} bytes and more of log per response, beyond 32 KiB, on standard output and error or appended to "
        "files that are open for nothing else; whether contenders differ in it is for `logs-unequal`"
    ),
    threshold_reason="a line of an access log has some 80 bytes: 8 are a line for every tenth response",
    next_step="Leave the log on if the service is deployed with it; otherwise switch it off and measure again.",
)
def logs_each_request(case: Case) -> Iterator[Fired]:
    """An access log is part of the cost of a request, and often a large part.

    A rate does not show it, so a reader who deploys the service without the log should know that it was on.
    """
    for contender, each in _written(case).items():
        if each >= _EACH_BYTES:
            yield Fired(
                f"it wrote {number(each)} bytes of log per response",
                contender=contender,
                figures=[*SPEED, *CPU],
                evidence={"bytes_per_response": each},
            )


@on_run(
    "logs-unequal",
    Severity.SUSPECT,
    title="One contender logs its requests and another does not",
    threshold=(
        "bytes per response written to standard output and error, or appended to files that are open for nothing "
        "else, over all loads of a process and beyond 32 KiB: 8 or more, and ten times as many as another "
        "contender; if most contenders agree, only those that differ are named"
    ),
    threshold_reason=(
        "a line of an access log has some 80 bytes, so 8 bytes are a line for every tenth response. Frameworks "
        "write a few KiB when they start. A contender that logs might be faster without its log by any factor, and "
        "no slower"
    ),
    next_step="Switch the access log off for all contenders, or on for all, as in production.",
)
def logs_unequal(case: Case) -> Iterator[Fired]:
    """A log line for each request is formatted and written on the CPU that serves it.

    Whether a framework writes one by default is chance, not a difference in speed.
    """
    written = _written(case)
    for pair in unequal_pairs(written, lambda small, large: large >= max(_EACH_BYTES, _TIMES * small)):
        quiet_is_odd = pair.odd == pair.low
        yield Fired(
            f"{pair.high} wrote {number(written[pair.high])} bytes of log per response, "
            f"{pair.low} {number(written[pair.low])}",
            contender=pair.low if quiet_is_odd else pair.high,
            figures=[*SPEED, *CPU],
            doubt=PossibleBias(slower=None, reason=_COST) if quiet_is_odd else PossibleBias(faster=None, reason=_COST),
            evidence={"bytes_per_response": written},
        )


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
        sizes[log] = max(0, sample.process.log_bytes + sample.process.log_file_bytes - _START_BYTES)
        answered += max(sample.result.totals.completed, sample.result.counts.completed)
    return sum(sizes.values()) / answered if answered else None
