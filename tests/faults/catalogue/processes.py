"""Servers that die, leak, or are not the process that they seem to be."""

from tests.faults.setup import Setup, knobs

PROCESSES: tuple[Setup, ...] = (
    Setup("exits", "exits after 2,000 requests", ("server-died",), servers=knobs(die_after=2000)),
    Setup(
        "crashes",
        "ends by SIGSEGV after 2,000 requests",
        ("server-died",),
        servers=knobs(die_after=2000, die_signal=11),
    ),
    Setup(
        "respawned",
        "each worker crashes now and then, and a supervisor replaces it",
        ("server-restarted", "connections-broken"),
        servers=knobs(workers=2, respawn=1, child_dies_after=3000, work_us=20),
        seconds=2.0,
    ),
    Setup(
        "supervisor-gives-up",
        "a worker dies, and its supervisor ends",
        ("server-died",),
        servers=knobs(workers=1, child_dies_after=2000),
    ),
    Setup("refuses-to-start", "exits at once: it has no database", ("phase-failed",), servers=knobs(refuse_start=1)),
    Setup(
        "starts-by-luck",
        "every second start fails",
        ("boots-failed",),
        servers=knobs(fail_start_every=3),
        phases=("boot",),
        rounds=2,
    ),
    Setup(
        "ignores-term", "does not end on SIGTERM", ("ignores-sigterm",), servers=knobs(ignore_term=1), phases=("boot",)
    ),
    Setup(
        "leaks-descriptors",
        "leaves a descriptor open for every tenth request",
        ("descriptors-grow",),
        servers=knobs(leak_fd_every=10, work_us=100),
        seconds=3.0,
    ),
    Setup(
        "fills-its-files",
        "opens 95 % of the files that it may have with its first request, and no more after that",
        ("descriptors-grow",),
        servers=knobs(fill_files=95),
        seconds=1.5,
    ),
    Setup(
        "forks-that-share",
        "64 processes that share 20 MB: the sum of their RSS is a multiple of what they hold",
        ("pages-shared",),
        servers=knobs(workers=64, memory_bytes=20 << 20),
        seconds=2.0,
    ),
    Setup(
        "leaks-threads",
        "leaves a thread behind for every 50th request",
        ("threads-grow",),
        servers=knobs(leak_thread_every=50, work_us=100),
        seconds=3.0,
    ),
    Setup(
        "leaks-threads-in-turns",
        "three contenders in turn; one leaves a thread behind for every 200th request",
        ("threads-grow",),
        servers=knobs(work_us=60) * 2 + knobs(work_us=60, leak_thread_every=200),
    ),
    Setup(
        "leaks-memory",
        "leaves 4 KB behind for each request, for half a minute",
        ("memory-grows",),
        servers=knobs(leak_bytes=4096),
        load={"loop": "open", "rate": 1500.0},
        seconds=31.0,
    ),
    Setup(
        "leaks-memory-shortly",
        "leaves 16 KB behind for each request; seconds show no more than a note's worth",
        ("memory-grows",),
        servers=knobs(leak_bytes=16384),
        load={"loop": "open", "rate": 1500.0},
        seconds=6.0,
        least={"memory-grows": "note"},
    ),
    Setup(
        "launcher",
        "the started process does not listen; a daemon that was there before serves",
        ("foreign-listener", "wrong-process-watched"),
        needs_quiet=True,
        servers=knobs(never_listen=1),
        machine="second-server",
        seconds=4.0,
    ),
    Setup(
        "second-listener",
        "somebody else's process listens on the same port and takes its share",
        ("foreign-listener",),
        servers=knobs(reuse_port=1),
        machine="second-server",
    ),
    Setup(
        "foreign-boot",
        "a start is answered by a process that was not started for it",
        ("foreign-listener",),
        servers=knobs(never_listen=1),
        phases=("boot",),
        machine="second-server",
    ),
)
