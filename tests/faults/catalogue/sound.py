"""Sound set-ups, some of them odd: nothing but notes may fire."""

from tests.faults.catalogue.dependencies import FIND
from tests.faults.catalogue.drains import PING, TOPIC
from tests.faults.catalogue.kinds import (
    BIG,
    COMPILE,
    ECHO,
    FILLED,
    HITS,
    PACKED,
    PACKED_WORK,
    POSTGRES,
    ROWS,
    SQLITE,
    SYNCED,
    service,
    work,
)
from tests.faults.catalogue.times import PEAK, UNACKNOWLEDGED
from tests.faults.catalogue.tricks import HOLD
from tests.faults.catalogue.two_faced import ADDS_UP, CHECKS, COUNTED, HOT
from tests.faults.setup import Server, Setup, knobs

MIB = 1 << 20
LIMITED = work({"status": [200, 429], "pattern": r"done \d+|no"})


def sound(id: str, says: str, **rest: object) -> Setup:
    """Three rounds, as a quick run has them."""
    return Setup(id, says, rounds=3, **rest)  # type: ignore[arg-type]


SOUND: tuple[Setup, ...] = (
    sound("plain", "a server without anything odd", phases=("boot", "load")),
    sound(
        "checked-in-a-crowd",
        "a service over SQLite whose contract stores, deletes and refuses while it is loaded",
        servers=service(find=1),
        scenario=SQLITE,
        contract=CHECKS,
        never=("contract-broken-in-load", "contract-broken-after-load"),
    ),
    sound(
        "adds-up-in-a-crowd",
        "a service over SQLite whose requests all add to one total",
        servers=service(count_up=1),
        scenario=COUNTED,
        contract=ADDS_UP,
        load=HOT,
        never=("contract-broken-in-load", "contract-broken-after-load", "work-not-done"),
    ),
    sound("null-server", "the engine's own null server: as fast as the tare", servers=(Server(program="null"),)),
    sound("variable-bodies", "bodies whose length depends on the request", servers=knobs(vary=1), load=work(FILLED)),
    sound(
        "two-variable", "two contenders whose bodies vary in length alike", servers=knobs(vary=1) * 2, load=work(FILLED)
    ),
    sound("big-bodies", "bodies of 40 KB", servers=knobs(body_bytes=40_000, work_us=100), load=BIG),
    sound("early-hints", "an interim response 103 before each answer", servers=knobs(hints=1)),
    sound(
        "any-number-passes",
        "the load's expectation does not depend on its key, and each response is right",
        load=work({"pattern": r"done \d+"}),
        never=("answers-mixed",),
    ),
    sound("chunked", "bodies in chunks of seven bytes", servers=knobs(chunked=1)),
    sound(
        "one-at-a-time", "a single-threaded service that is busy 0.3 ms for each request", servers=knobs(work_us=300)
    ),
    sound(
        "slow-after-rest",
        "a server whose first answer on a connection that has rested takes 40 ms",
        servers=knobs(work_us=60, slow_ms=40, slow_after_ms=100),
    ),
    sound(
        "syncs-on-its-turn",
        "two contenders that sync every 100th request to disk, before they respond",
        servers=knobs(sync_every=100) * 2,
        never=("works-while-off",),
    ),
    sound("sleeper", "a service that answers after 20 ms and is idle meanwhile", servers=knobs(delay_ms=20)),
    sound(
        "two-writes-undelayed",
        "head and body in two writes, which TCP_NODELAY sends at once",
        servers=knobs(two_writes=1, work_us=60),
        never=(UNACKNOWLEDGED,),
    ),
    sound(
        "two-writes-apart",
        "a server that sends the head at once, and works for 40 ms before it sends the body",
        servers=knobs(two_writes=1, apart_ms=40),
        never=(UNACKNOWLEDGED,),
    ),
    sound(
        "sleeps-as-long-as-an-acknowledgement",
        "a service that answers after 40 ms, as a downstream of 40 ms makes it",
        servers=knobs(delay_ms=40),
        never=(UNACKNOWLEDGED,),
    ),
    sound(
        "collector",
        "a server that pauses 120 ms every 4 s, half of which it is loaded, as a collector does",
        servers=knobs(work_us=60, stall_ms=120, stall_every_ms=4000),
        seconds=8.0,
        profile="normal",
    ),
    sound(
        "short-pauses",
        "a server that pauses 30 ms every 300 ms",
        servers=knobs(work_us=60, stall_ms=30, stall_every_ms=300),
    ),
    sound(
        "steady",
        "a server under a window that is long enough to see a steady state",
        servers=knobs(work_us=60),
        seconds=8.0,
        profile="normal",
    ),
    sound(
        "warms-up-before",
        "a server that is slow for its first second, within the warm-up",
        servers=knobs(work_us=60, extra_us=200, extra_to_ms=1000),
        seconds=6.0,
        profile="normal",
        warmup=2.0,
    ),
    sound("slow-start", "a server that needs 2 s to start", servers=knobs(start_ms=2000), phases=("boot", "load")),
    sound(
        "limiter",
        "a server that answers half of the requests with 429, which the load allows",
        servers=knobs(status_every=2, status=429),
        load=LIMITED,
    ),
    sound(
        "two-limiters",
        "two contenders that both answer half of the requests with 429",
        servers=knobs(status_every=2, status=429) * 2,
        load=LIMITED,
    ),
    sound(
        "errors-stated",
        "404 is what the load expects",
        load={"requests": [{"target": "/nowhere?n={counter}", "expect": {"status": 404, "body": "not found"}}]},
    ),
    sound("no-keep-alive", "the load wants a connection for each request", load={"keepalive": False}),
    sound(
        "closes-seldom",
        "a server that closes each connection after some hundred answers, as its settings say",
        servers=knobs(say_close_every=400),
    ),
    sound(
        "closes-idle",
        "three slow servers, one of which closes connections that rest for 300 ms",
        servers=knobs(work_us=400) * 2 + knobs(work_us=400, close_idle_ms=300),
    ),
    sound("workers", "a server that forks two workers, and answers from both", servers=knobs(workers=2)),
    sound(
        "helpers",
        "a server that starts a short helper process for every 2,000th request",
        servers=knobs(helper_every=2000),
    ),
    sound("large-and-stable", "a server that holds 400 MB from its start on", servers=knobs(memory_bytes=400 * MIB)),
    sound(
        "fills-its-cache",
        "memory grows by 40 MB at first and then stays",
        servers=knobs(leak_bytes=8192, leak_most=40 * MIB, work_us=60),
        seconds=6.0,
        profile="normal",
    ),
    sound("many-threads", "a server with 300 idle threads", servers=knobs(idle_threads=300)),
    sound("many-connections", "1,000 connections", load={"connections": 1000}, servers=knobs(work_us=30)),
    sound("one-connection", "one connection", servers=knobs(work_us=300), load={"connections": 1}),
    sound("open-loop", "an open loop far below what the server can", load={"loop": "open", "rate": 500.0}),
    sound(
        "poisson",
        "an open loop with random arrivals",
        load={"loop": "open", "rate": 400.0, "arrivals": "poisson"},
    ),
    sound("pipelined", "eight requests under way on each connection", servers=knobs(work_us=30), load={"pipeline": 8}),
    sound(
        "two-speeds",
        "two contenders, one of a third of the other's speed",
        servers=(*knobs(work_us=30), *knobs(work_us=120)),
    ),
    sound("not-modified", "304 for each request", servers=knobs(status_from=1, status=304), load=work({"status": 304})),
    sound("no-content", "204 for each request", servers=knobs(status_from=1, status=204), load=work({"status": 204})),
    sound(
        "heads",
        "HEAD, whose answers say a length and have no body",
        load={"requests": [{"name": "work", "method": "HEAD", "target": "/work?n={counter}"}]},
    ),
    sound("packed", "compressed answers", servers=knobs(gzip=1), contract=PACKED, load=PACKED_WORK),
    sound(
        "mixed-load",
        "a mix of lookups, misses and pings",
        load={
            "requests": [
                {"name": "work", "weight": 8, "target": "/work?n={counter}", "expect": {"body": "done {counter}"}},
                {"name": "miss", "weight": 1, "target": "/absent", "expect": {"status": 404}},
                {"name": "ping", "weight": 1, "target": "/ping", "expect": {"body": "pong"}},
            ]
        },
    ),
    sound("daemon", "the server becomes a daemon in a session of its own", servers=knobs(daemonise=1)),
    sound("slow-to-accept", "a server that needs 5 ms to take a connection", servers=knobs(accept_ms=5)),
    sound("many-fields", "answers with 2 KB of header fields", servers=knobs(header_bytes=2048)),
    sound("mapped-memory", "64 MB of shared memory that is mapped", servers=knobs(shared_bytes=64 * MIB)),
    sound("logs-each", "a line of log for each request", servers=knobs(log_each=1)),
    sound(
        "writes-and-wakes",
        "two contenders; one answers by write(2), and its threads wake each other for each request",
        servers=(*knobs(), *knobs(by_write=1, wakes_each=1)),
        never=("writes-unequal",),
    ),
    sound(
        "compiles",
        "a build that compiles",
        servers=(Server(program="sources", build=COMPILE),),
        phases=("boot", "load"),
    ),
    sound(
        "peaks",
        "a start under load that reaches its peak in its third second",
        servers=knobs(work_us=60, extra_us=200, extra_to_ms=3000),
        scenario=PEAK,
        phases=("peak",),
    ),
    sound("holds", "400 connections are held, and used", scenario=HOLD, phases=("hold",)),
    sound(
        "floor",
        "a search for the smallest memory limit",
        servers=knobs(memory_bytes=20 * MIB),
        scenario={"floor": {"load": "work", "share_of_unlimited": 0.2, "from_mb": 8, "to_mb": 40}},
        phases=("floor",),
    ),
    sound(
        "stores",
        "a threaded service that inserts a row for each request",
        servers=service(),
        scenario=SQLITE,
        load={"proofs": ROWS},
    ),
    sound(
        "stores-synced",
        "two services that insert a row for each request, and sync as the scenario asks",
        servers=service(find=1) * 2,
        scenario=SYNCED,
        contract=FIND,
    ),
    sound(
        "two-query",
        "two services with a database session for each connection; nothing proves the work",
        servers=service() * 2,
        scenario=POSTGRES,
        load={"timeout_s": 5.0},
    ),
    sound(
        "relays",
        "a service that calls a downstream of 10 ms for each request",
        servers=service(),
        scenario=ECHO,
        load={"proofs": HITS},
    ),
    sound(
        "drains",
        "a consumer that works through a topic, partition by partition",
        servers=(Server(program="consumer"),),
        scenario=TOPIC,
        load=PING,
        phases=("drain",),
    ),
    sound(
        "commits",
        "a service whose commits wait for the disk, over sixteen sessions",
        servers=service(store=1),
        scenario=POSTGRES,
        load={"timeout_s": 10.0},
    ),
    sound(
        "queries",
        "a service with a database session for each of its connections",
        servers=service(),
        scenario=POSTGRES,
        load={"timeout_s": 5.0},
    ),
)
