"""The tables of the field guide: what each column reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.field_guide import cells
from benchmarks.field_guide.cells import Reader


@dataclass(frozen=True)
class Column:
    """A column: how a server's cell is read, and how far a guess may be off."""

    title: str
    read: Reader
    share: float = 0.1
    """The share of the larger value by which a number may differ from the guess."""
    least: float = 0.0
    """The difference that is allowed in any case."""
    phase: str = ""
    """The phase whose samples it reads, where the judge may have refused them."""


@dataclass(frozen=True)
class Table:
    """Columns that one command measures."""

    title: str
    about: str
    command: str
    columns: Sequence[Column]


_seconds = partial(Column, share=0.2, least=1.5)
_factor = partial(Column, share=0.5)

_QUIET = Table(
    "Quiet connections",
    "After how long the server closes a connection, and with which status if it sends one. *Idle*: after "
    "one response. *Silent*: nothing was ever sent. *Half a head*: half of a request's head was sent. "
    "From the first to the last of three connections.",
    "--phase bounds",
    [
        _seconds("idle", partial(cells.quiet, kind="idle", key="idle_s")),
        _seconds("silent", partial(cells.quiet, kind="silent", key="silent_s")),
        _seconds("half a head", partial(cells.quiet, kind="half_sent", key="half_s")),
        Column("responses on one connection", cells.responses, share=0.0),
        Column("HTTP/2 without TLS", cells.h2c),
    ],
)
_HEADS = Table(
    "The largest head",
    "The most that is accepted, and how more is refused: by a status, or by closing the connection.",
    "--phase bounds",
    [
        Column(
            "one field",
            partial(cells.head, kind="field", key="field_bytes", status_key="field_status", unit=" B"),
        ),
        Column("fields", partial(cells.head, kind="fields", key="fields", status_key="fields_status", unit="")),
        Column(
            "target",
            partial(cells.head, kind="target", key="target_bytes", status_key="target_status", unit=" B"),
        ),
    ],
)
_STOPS = Table(
    "SIGTERM",
    "Seconds from SIGTERM to the end of the process, with the stop that the server's documentation shows:"
    " with idle connections; with two silent ones and one that has sent half of a head; with eight "
    "requests of a second under way. *Lost* are requests of a steady load that were accepted and got no "
    "response. Two stops each.",
    "--phase stop --rounds 2",
    [
        _seconds("idle connections", partial(cells.stop_time, case="idle", key="stop_idle_s")),
        _seconds("silent and half-sent", partial(cells.stop_time, case="stuck", key="stop_stuck_s")),
        Column("requests under way", cells.stop_slow),
        Column("lost under load", cells.stop_lost, share=0.9),
    ],
)


def _cost(null_server: Mapping[int | None, float]) -> Table:
    return Table(
        "Cost",
        "Medians of two or three rounds with the smallest and the largest, on a **busy machine**: rates and "
        "times are not shown for that reason. Memory of one idle connection is the slope from 0 to 1,000 "
        "connections; kernel memory is counted for the whole machine, so other programs disturb it. *CPU to "
        "first response* is the CPU time from exec on. CPU per request is that over the CPU of a server that "
        "does nothing, with 100 connections.",
        "--quick --rounds 3 --phase boot --phase load --load hundred --phase hold",
        [
            _factor(
                "RSS of a connection",
                partial(cells.figure, name="hold_rss_per_connection", key="idle_bytes", scale=1, unit="B"),
                least=100,
                phase="hold",
            ),
            _factor(
                "kernel",
                partial(cells.figure, name="hold_kernel_per_connection", key="", scale=1, unit="B"),
                phase="hold",
            ),
            Column(
                "CPU to first response",
                partial(cells.figure, name="boot_cpu", key="", scale=1000, unit="ms"),
            ),
            _factor("CPU per request", partial(cells.cpu_ratio, null_server=null_server), share=0.33, phase="load"),
        ],
    )


_HEAP = Table(
    "Heap",
    "The largest heap that the runtime allows itself under a memory limit, as it says when it is asked. "
    "Other servers of the same runtime have the same.",
    "--quick --rounds 1 --phase load --load half,more",
    [
        Column("under 128 MiB", partial(cells.heap, load="half", key="heap_128_mib"), share=0.05),
        Column("under 256 MiB", partial(cells.heap, load="more", key="heap_256_mib"), share=0.05),
    ],
)
_CONFORMANCE = Table(
    "Conformance",
    "Requirements of RFC 9110 and 9112 (MUST) that are broken, and by what a breach does to others: "
    "accepted what must be refused / refused what must work / refused without the right status / anything"
    " else.",
    "--phase probe",
    [Column("MUST broken", cells.conformance, share=0.25, least=2)],
)


def tables(null_server: Mapping[int | None, float]) -> list[Table]:
    """All tables of the page. `null_server` holds its CPU per request by round."""
    return [_QUIET, _HEADS, _STOPS, _cost(null_server), _HEAP, _CONFORMANCE]
