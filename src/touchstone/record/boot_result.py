"""What the engine says of a boot job: docs/engine-protocol.md is the reference. Seconds, bytes, counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from touchstone.record.base import EngineRecord
from touchstone.record.secret import shown_job
from touchstone.record.watch import ProcessTree, Snapshot

START_FIGURES: Mapping[str, str] = {
    "boot_first_response": "first_response_s",
    "boot_runtime": "program_s",
    "boot_port_open": "port_open_s",
    "boot_cpu": "cpu_s",
    "boot_rss": "held",
    "boot_pss": "pss",
    "boot_anon": "anon",
}
"""The figures of starts, by the field of a `BootRun` that holds them."""


class BootRun(ProcessTree):
    """One start: from exec to the first valid response."""

    first_response_s: float | None = None
    program_s: float | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """The container runtime's share: time until the program was executed."""
    port_open_s: float | None = None
    vm_peak: int | None = None
    vm_hwm: int | None = None
    major_faults: int | None = None
    """Page faults that needed I/O up to then."""
    cpu_s: float | None = None
    polls: int | None = None
    """Connections tried."""
    wrong_responses: int | None = None
    """Before the first correct one."""
    port_closed_s: float | None = None
    """When a connection was refused for the last time."""
    settled: Snapshot | None = None
    """After `settle_s`, where that was asked for."""
    answered_by_ours: bool | None = None
    stopped: str | None = None
    stop_s: float | None = None
    """From the first signal until nothing was left."""
    exit_code: int | None = None
    exit_signal: int | None = None
    failure: str | None = None
    evidence: str | None = None
    log_tail: str | None = None
    """The end of the server's log, after a failure."""
    cold_cache: bool = False
    warm_reason: str | None = None
    """Why the page cache could not be dropped, if that was asked for."""


class BootResult(EngineRecord):
    """The whole result of `touchstone-engine boot`."""

    schema_: str = Field(default="touchstone.boot/1", alias="schema")
    job: Annotated[dict[str, Any], AfterValidator(shown_job)] = {}
    interrupted: bool = False
    runs: list[BootRun] = []
