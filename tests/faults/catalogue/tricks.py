"""Servers that look better than they are: they leave the place they were given, hide what they use, or answer early."""

from typing import Any

from tests.faults.catalogue.kinds import COMPILE, service, work
from tests.faults.setup import Server, Setup, knobs

MIB = 1 << 20
NARROW: dict[str, Any] = {"floor": {"load": "work", "share_of_unlimited": 0.1, "from_mb": 8, "to_mb": 9}}
HOLD: dict[str, Any] = {
    "hold": {
        "request": {"target": "/work?n=1", "expect": {"body": "done 1"}},
        "levels": [0, 100, 400],
        "modes": ["idle", "traffic"],
    }
}

OLD = [["/bin/sh", "-c", f"{COMPILE[0][2]} && touch -d 2020-01-01 program"]]
"""The server, with the time of one that was compiled long ago."""

TRICKS: tuple[Setup, ...] = (
    Setup(
        "spins-while-off",
        "two contenders; one asks the kernel for events without waiting, also while the other has the machine",
        ("works-while-off",),
        servers=(*knobs(), *knobs(spin=1)),
        needs_quiet=True,
    ),
    Setup(
        "works-at-its-end",
        "two contenders; one puts half of each request's work off until its stop signal",
        ("works-while-off",),
        servers=(*knobs(work_us=60), *knobs(work_us=30, put_off_us=30)),
    ),
    Setup(
        "syncs-while-off",
        "two contenders; both sync every 100th request to disk, one only while it has no load",
        ("works-while-off",),
        servers=(*knobs(sync_every=100), *knobs(sync_every=100, sync_late=1)),
    ),
    Setup(
        "first-after-rest",
        "two contenders; the first response of one on each connection that has rested takes 40 ms",
        ("slow-after-rest",),
        servers=(*knobs(work_us=60), *knobs(work_us=60, slow_ms=40, slow_after_ms=100)),
        least={"slow-after-rest": "note"},
    ),
    Setup(
        "beside-a-spinner",
        "two contenders; the other one never sleeps",
        ("neighbour-works",),
        servers=(*knobs(spin=1), *knobs()),
        needs_quiet=True,
    ),
    Setup(
        "passes-on",
        "two contenders; one passes its requests on to the other one",
        ("work-given-away",),
        servers=(*service(), *service(pass_on=1)),
        needs_quiet=True,
    ),
    Setup(
        "halted-by-its-neighbour",
        "two contenders; the other one stops this one for 100 ms twice per second",
        ("process-halted",),
        servers=(*knobs(work_us=60, halt_ms=100), *knobs(work_us=60)),
    ),
    Setup(
        "compiled-long-ago",
        "what the build leaves is years older than the build",
        ("artifact-older",),
        servers=(Server(program="sources", build=OLD),),
    ),
    Setup("all-cpus", "the server lets itself run on every CPU", ("cpus-not-kept",), servers=knobs(all_cpus=1)),
    Setup(
        "all-cpus-for-a-while",
        "a thread of the server spins on every CPU for 0.5 s, and has ended when the load does",
        ("cpus-not-kept",),
        servers=knobs(stray_ms=500),
    ),
    Setup(
        "raises-priority",
        "the server gives itself a nice value of -5",
        ("priority-raised",),
        servers=knobs(raise_priority=5),
    ),
    Setup(
        "escapes",
        "a daemon of the server's leaves session and cgroup, and does the work there",
        ("process-escaped", "wrong-process-watched|foreign-listener"),
        servers=knobs(escape=1),
    ),
    Setup(
        "leaves-its-limit",
        "the server moves out of its cgroup, and no limit holds it",
        ("process-escaped",),
        servers=knobs(leave_cgroup=1, memory_bytes=60 * MIB),
        scenario=NARROW,
        phases=("floor",),
    ),
    Setup(
        "lifts-its-limit",
        "the server lifts the memory limit of its cgroup",
        ("limit-lifted",),
        servers=knobs(lift_limit=1, memory_bytes=60 * MIB),
        scenario=NARROW,
        phases=("floor",),
    ),
    Setup(
        "writes-its-weight",
        "the server gives its cgroup a larger CPU weight",
        ("limit-lifted",),
        servers=knobs(write_weight=1),
    ),
    Setup(
        "renices-the-engine",
        "the server gives the lab's engines a higher nice value",
        ("limit-lifted",),
        servers=knobs(renice_engine=1),
    ),
    Setup(
        "hides-memory",
        "64 MB are in a file in memory that the server does not map",
        ("memory-outside-rss",),
        servers=knobs(hidden_bytes=64 * MIB),
    ),
    Setup(
        "keeps-memory-in-pipes",
        "64 MB wait in pipes that nobody reads",
        ("memory-outside-rss",),
        servers=knobs(piped_bytes=64 * MIB),
    ),
    Setup(
        "keeps-connections-in-pipes",
        "64 KiB of each held connection wait in a pipe",
        ("memory-outside-rss",),
        servers=knobs(piped_each=1),
        scenario=HOLD,
        phases=("hold",),
    ),
    Setup(
        "hides-memory-while-held",
        "64 MB are in a file in memory while connections are held",
        ("memory-outside-rss",),
        servers=knobs(hidden_bytes=64 * MIB),
        scenario=HOLD,
        phases=("hold",),
    ),
    Setup(
        "stub-at-start",
        "answers its ready request at once, and all else with 503 for a second",
        ("ready-too-early",),
        servers=knobs(stub_ms=1000),
        phases=("boot", "load"),
    ),
    Setup(
        "starts-with-its-first-request",
        "answers its ready request at once, and makes all else ready with the first request, which takes 1 s",
        ("ready-too-early",),
        servers=knobs(first_ms=1000),
        phases=("boot", "load"),
        least={"ready-too-early": "suspect"},
    ),
    Setup(
        "drops-idle",
        "connections that are idle for a second are closed",
        ("held-connections-closed",),
        servers=knobs(close_idle_ms=1000),
        scenario=HOLD,
        phases=("hold",),
    ),
    Setup(
        "wrong-when-many",
        "all but the first 300 connections get wrong answers",
        ("held-requests-failed",),
        servers=knobs(wrong_beyond=300),
        scenario=HOLD,
        phases=("hold",),
    ),
    Setup(
        "few-connections",
        "holds 200 connections and resets all further ones",
        ("held-requests-failed",),
        servers=knobs(most_connections=200),
        scenario=HOLD,
        phases=("hold",),
    ),
    Setup(
        "dies-while-held",
        "exits after 250 requests, while connections are held",
        ("server-died|phase-failed",),
        servers=knobs(die_after=250),
        scenario=HOLD,
        phases=("hold",),
    ),
    Setup(
        "keeps-a-file",
        "each start changes a file that the next one finds",
        ("leftovers",),
        servers=knobs(change_file=1),
        rounds=2,
    ),
    Setup(
        "leaves-a-file",
        "each start leaves a new file for the next one",
        ("leftovers",),
        servers=knobs(leave_file=1),
        rounds=2,
        least={"leftovers": "note"},
    ),
    Setup(
        "changes-itself",
        "each start puts another program in the place of its own",
        ("artifact-changed",),
        servers=knobs(change_self=1),
        rounds=2,
    ),
    Setup(
        "copies-its-build",
        "the build copies a program that was finished before",
        ("prebuilt-artifact",),
        planted="manifest",
        servers=(Server(build=[["/bin/sh", "-c", "cp program ready && mv ready program"]]),),
        phases=("boot",),
    ),
    Setup(
        "needs-more-than-it-says",
        "an empty root lacks a file that the server needs, and that it does not name",
        ("phase-failed",),
        planted="manifest",
        phases=("footprint",),
    ),
    Setup(
        "well-at-first",
        "the first 1,000 answers are right, all further ones are 200 with nothing in them",
        ("wrong-bodies", "errors-above-allowance"),
        servers=knobs(blank_from=1000),
    ),
    Setup(
        "swaps-answers",
        "each connection gets the answer to somebody else's request",
        ("wrong-bodies", "errors-above-allowance"),
        servers=knobs(swap_answers=1),
    ),
    Setup(
        "one-in-a-thousand",
        "one answer in 1,000 is an error page with status 200",
        ("wrong-bodies", "errors-above-allowance"),
        servers=knobs(error_page_every=1000),
    ),
    Setup(
        "http-1-0", "answers as HTTP/1.0, without keep-alive", ("connections-per-request",), servers=knobs(http_1_0=1)
    ),
    Setup(
        "unchecked-bodies",
        "the load does not say what a right body is, and half of them are error pages",
        ("bodies-unchecked",),
        planted="manifest",
        servers=knobs(error_page_every=2),
        load=work({"status": 200}),
    ),
    Setup(
        "pattern-for-anything",
        "the load's pattern matches every body, and half of them are error pages",
        ("bodies-unchecked",),
        planted="manifest",
        servers=knobs(error_page_every=2),
        load=work({"pattern": "(?s).*"}),
    ),
    Setup(
        "unequal-threads",
        "two contenders; the manifest of one gives it eight workers, the other's one",
        ("settings-unequal",),
        planted="manifest",
        servers=(Server(env={"WORKER_THREADS": "1"}), Server(env={"WORKER_THREADS": "8"})),
    ),
    Setup(
        "unequal-logs",
        "two contenders; one logs only errors, the other each request, as their log levels say",
        ("settings-unequal", "logs-unequal"),
        planted="manifest",
        servers=(Server(env={"LOG_LEVEL": "error"}), Server({"log_each": 1}, env={"LOG_LEVEL": "info"})),
    ),
    Setup(
        "logs-as-it-comes",
        "two contenders; one logs each request, which no setting says",
        ("logs-unequal",),
        servers=(*knobs(), *knobs(log_each=1)),
    ),
    Setup(
        "logs-to-a-file",
        "two contenders; one has an access log of its own, and writes nothing to standard output",
        ("logs-unequal",),
        servers=(*knobs(), *knobs(log_file_each=1)),
    ),
    *(
        Setup(
            f"logs-{name}",
            f"two contenders; one logs each request {says}",
            ("writes-unequal",),
            servers=(*knobs(), *knobs(log_by=way)),
        )
        for way, (name, says) in enumerate(
            (
                ("by-datagrams", "to a collector over UDP"),
                ("through-a-pipe", "through a pipe to another program"),
                ("to-a-mapped-file", "to a file that it has mapped"),
                ("over-a-connection", "to a collector over TCP"),
            ),
            start=1,
        )
    ),
)
