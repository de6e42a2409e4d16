"""Starting processes on some CPUs alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def on_cpus(cpus: tuple[int, ...]) -> Iterator[None]:
    """Start processes within this block on `cpus`: affinity is inherited, so no child escapes it."""
    if not cpus:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
