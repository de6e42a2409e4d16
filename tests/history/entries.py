"""A history of twelve commits, made up: one commit makes requests dearer, and one day the kernel is another."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from touchstone.history.entry import HistoryEntry

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)
MACHINE = {"CPU": "2 of A CPU", "kernel": "6.1.0", "tool python3": "3.11.2"}


def history(
    *, dearer_from: int | None = None, by: float = 0.05, kernel_from: int | None = None, commits: int = 12
) -> list[HistoryEntry]:
    """Entries of one figure; commits are counted from 0. A new kernel moves the absolute value and not the ratio."""
    noise = random.Random(4)
    entries = []
    for number in range(commits):
        ratio = (1 + by if dearer_from is not None and number >= dearer_from else 1.0) * noise.gauss(1, 0.004)
        new_kernel = kernel_from is not None and number >= kernel_from
        day = noise.gauss(1, 0.03) * (1.4 if new_kernel else 1.0)
        entries.append(
            HistoryEntry(
                run=f"run-{number:02}",
                commit=f"{number:040x}",
                committed_at=BEGIN + timedelta(days=number),
                subject=f"Version {number}",
                measured_at=BEGIN + timedelta(days=number, hours=1),
                scenario="demo",
                scenario_version=1,
                contender="sound/plain",
                load="ping",
                figure="cpu_per_request",
                value=50e-6 * ratio * day,
                low=49e-6 * ratio * day,
                high=51e-6 * ratio * day,
                reference="sound/plain at 0000000000",
                ratio=ratio,
                ratio_low=ratio - 0.01,
                ratio_high=ratio + 0.01,
                to_tare=2.5 * ratio,
                machine=MACHINE | ({"kernel": "6.6.2"} if new_kernel else {}),
            )
        )
    return entries
