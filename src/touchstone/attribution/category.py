"""The categories that a person thinks in when asking where the CPU of a request goes."""

from __future__ import annotations

from enum import StrEnum


class Category(StrEnum):
    """What time is spent for. In the order in which reports show them: from the machine up to the application."""

    KERNEL_NETWORK = "kernel: network"
    KERNEL_SCHEDULING = "kernel: sleeping and waking"
    KERNEL_OTHER = "kernel: other"
    SCHEDULER = "runtime: scheduler"
    GC = "garbage collector"
    JIT = "JIT compiler"
    ALLOCATOR = "allocator"
    HTTP = "HTTP"
    ROUTING = "routing"
    SERIALISATION = "serialisation"
    DRIVER = "database driver"
    DATABASE = "database, embedded"
    TLS = "TLS"
    LIBRARY = "runtime and libraries"
    APPLICATION = "application"
    UNSEEN = "not seen by the profiler"
    UNMATCHED = "unmatched"


OF_THE_CALLER = "of the caller"
"""What a row says of functions that everybody calls, such as copying memory: their time is the caller's."""

ON_BEHALF = frozenset(
    {
        Category.KERNEL_NETWORK,
        Category.KERNEL_SCHEDULING,
        Category.KERNEL_OTHER,
        Category.SCHEDULER,
        Category.GC,
        Category.ALLOCATOR,
        Category.LIBRARY,
        Category.UNSEEN,
    }
)
"""What works on behalf of others: a function's own time has that of these, below it, with it."""
