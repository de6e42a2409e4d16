"""Services that do not do their work, and dependencies that are not as they should be."""

from typing import Any

from tests.faults.catalogue.kinds import ECHO, HITS, POSTGRES, ROWS, SQLITE, SYNCED, service
from tests.faults.setup import Server, Setup

WORK = ("work-not-done",)
LESS = ("less-work",)
FIND: tuple[dict[str, Any], ...] = (
    {
        "id": "taken-out",
        "says": "a row that was taken out of the database is not found any more",
        "steps": [
            {"target": "/work?n={fresh}", "expect": {"body": "done {fresh}"}},
            {"target": "/find?n={fresh}", "expect": {"body": "found"}},
            {"dependency": "store", "act": "execute", "with": {"sql": "DELETE FROM items"}},
            {"target": "/find?n={fresh}", "expect": {"status": 404}},
        ],
    },
)
HEAVY: dict[str, Any] = {
    "dependencies": {
        "database": {
            "kind": "postgres",
            "env": "DATABASE_URL",
            "settings": {
                "tare": {"connections": 8, "statements": ["SELECT sum(i % 7) FROM generate_series(1, 100000) i"]}
            },
        }
    }
}

SCRIPT: dict[str, Any] = {
    "dependencies": {
        "downstream": {"kind": "echo", "env": "DOWNSTREAM_URL", "settings": {"delay_ms": 10, "server": "python"}}
    }
}


def stored(id: str, says: str, *expects: str, servers: tuple[Server, ...]) -> Setup:
    """A service that inserts a row for each request."""
    return Setup(id, says, expects, planted="dependency", servers=servers, scenario=SQLITE, load={"proofs": ROWS})


def relayed(id: str, says: str, *expects: str, servers: tuple[Server, ...], connections: int = 16) -> Setup:
    """A service that calls a downstream for each request."""
    load = {"proofs": HITS, "connections": connections}
    return Setup(id, says, expects, planted="dependency", servers=servers, scenario=ECHO, load=load)


def unproven(id: str, says: str, *, scenario: dict[str, Any], servers: tuple[Server, ...]) -> Setup:
    """Two contenders on one dependency, whose work no proof counts."""
    load = {"timeout_s": 5.0}
    return Setup(id, says, LESS, planted="dependency", servers=servers, scenario=scenario, load=load)


DEPENDENCIES: tuple[Setup, ...] = (
    unproven(
        "skips-calls",
        "two contenders; one calls the downstream for four requests in five",
        scenario=ECHO,
        servers=(*service(), *service(skip_every=5)),
    ),
    unproven(
        "skips-few-calls",
        "two contenders; one leaves out one call in fifty",
        scenario=ECHO,
        servers=(*service(), *service(skip_every=50)),
    ),
    unproven(
        "skips-rows",
        "two contenders; one leaves out one row in twenty, and nothing proves the rows",
        scenario=SQLITE,
        servers=(*service(), *service(skip_every=20)),
    ),
    unproven(
        "skips-queries",
        "two contenders; one queries the database for three requests in four",
        scenario=POSTGRES,
        servers=(*service(), *service(skip_every=4)),
    ),
    unproven(
        "keeps-answers",
        "two contenders; one queries the database once and answers from memory",
        scenario=POSTGRES,
        servers=(*service(), *service(remember=1)),
    ),
    Setup(
        "keeps-rows",
        "rows that were found once are answered from memory, though they are no longer there",
        ("contract-broken",),
        planted="dependency",
        servers=service(find=1, keep_found=1),
        scenario=SQLITE,
        contract=FIND,
    ),
    Setup(
        "keeps-rows-under-load",
        "the same, but only once 200 requests have been answered",
        ("contract-broken-after-load",),
        planted="dependency",
        servers=service(find=1, keep_found=200),
        scenario=SQLITE,
        contract=FIND,
    ),
    Setup(
        "sync-off",
        "every connection turns off that writes are synced, which the scenario asks for",
        ("writes-not-synced",),
        planted="dependency",
        servers=service(sync_off=1),
        scenario=SYNCED,
    ),
    Setup(
        "unequal-sync",
        "two contenders; one turns off that writes are synced, and the scenario says nothing of it",
        ("writes-not-synced",),
        planted="dependency",
        servers=(*service(), *service(sync_off=1)),
        scenario=SQLITE,
    ),
    Setup(
        "own-index",
        "two contenders; one adds an index to the table that the scenario gives both",
        ("tables-unequal",),
        planted="dependency",
        servers=(*service(), *service(own_index=1)),
        scenario=SQLITE,
    ),
    stored("loses-rows", "every 50th row is never written", *WORK, servers=service(lose_every=50)),
    stored("loses-few-rows", "one row in 1,000 is never written", *WORK, servers=service(lose_every=1000)),
    stored("writes-twice", "every 50th row is written two times", *WORK, servers=service(double_every=50)),
    stored(
        "writes-later",
        "rows are written half a second after their answers",
        "answered-before-work",
        servers=service(write_later_ms=500),
    ),
    stored(
        "answers-first",
        "each row is written by a thread of its own, two milliseconds after the response",
        "answered-before-work",
        servers=service(answer_first=1),
    ),
    stored("never-writes", "rows are kept in memory and not written", *WORK, servers=service(keep_in_memory=1)),
    stored(
        "other-journal",
        "the service changes the journal mode that the scenario fixes",
        "dependency-settings-not-as-asked",
        servers=service(journal_delete=1),
    ),
    stored(
        "unequal-journal",
        "two contenders; one changes its journal mode",
        "dependency-settings-unequal",
        servers=(*service(), *service(journal_delete=1)),
    ),
    Setup(
        "state-left",
        "two rounds in whole windows, which share a folder; the service leaves a file of an earlier database behind",
        ("leftovers",),
        planted="dependency",
        servers=service(stray_file=1),
        scenario=SQLITE,
        load={"proofs": ROWS, "whole_windows": True},
        rounds=2,
    ),
    relayed(
        "does-not-wait",
        "calls the downstream and answers before it has",
        "below-downstream-delay",
        servers=service(do_not_wait=1),
        connections=1,
    ),
    relayed("remembers", "calls the downstream once and answers from memory", *WORK, servers=service(remember=1)),
    relayed("calls-twice", "calls the downstream two times for each request", *WORK, servers=service(call_twice=1)),
    Setup(
        "slow-downstream",
        "the downstream is a script with a thread for each request, and is what limits the service",
        ("dependency-saturated",),
        planted="dependency",
        needs_quiet=True,
        servers=service(),
        scenario=SCRIPT,
        load={"connections": 64, "timeout_s": 10.0},
    ),
    Setup(
        "narrow-downstream",
        "the same downstream, used for more than a quarter and less than all of its capacity",
        ("downstream-headroom",),
        planted="dependency",
        needs_quiet=True,
        servers=service(),
        scenario=SCRIPT,
        load={"connections": 8, "timeout_s": 10.0, "proofs": HITS},
        least={"downstream-headroom": "note"},
    ),
    Setup(
        "busy-database",
        "each request is a query that fills the database's CPU",
        ("dependency-saturated",),
        planted="dependency",
        needs_quiet=True,
        servers=service(heavy=1),
        scenario=HEAVY,
        load={"timeout_s": 10.0},
    ),
    Setup(
        "forgetful-commits",
        "each session turns off that commits wait for the disk, which the scenario asks for",
        ("commits-not-durable",),
        planted="dependency",
        servers=service(store=1, forget=1),
        scenario=POSTGRES,
        load={"timeout_s": 10.0},
    ),
    Setup(
        "one-forgets",
        "two contenders at one server; the sessions of one turn off that commits wait for the disk",
        ("commits-not-durable",),
        planted="dependency",
        servers=(*service(store=1), *service(store=1, forget=1)),
        scenario=POSTGRES,
        load={"timeout_s": 10.0},
    ),
    Setup(
        "one-isolates",
        "two contenders at one server; the transactions of one are serializable",
        ("dependency-settings-unequal",),
        planted="dependency",
        servers=(*service(store=1), *service(store=1, isolate=1)),
        scenario=POSTGRES,
        load={"timeout_s": 10.0},
    ),
    Setup(
        "one-session",
        "the pool is stated to have four sessions, and the service makes do with one",
        ("pool-not-filled",),
        planted="dependency",
        servers=service(one_session=1),
        scenario=POSTGRES | {"settings": {"DATABASE_POOL": 4}},
        load={"connections": 24, "timeout_s": 10.0},
    ),
    Setup(
        "downstream-dies",
        "the downstream is killed in the middle of the load",
        ("dependency-died|phase-failed",),
        planted="dependency",
        servers=service(),
        scenario=ECHO,
        machine="downstream-killed",
        load={"connections": 4, "timeout_s": 2.0},
    ),
    Setup(
        "leaks-sessions",
        "opens a database session for each request and keeps it",
        ("sessions-exceed-pool",),
        planted="dependency",
        servers=service(sessions_leak=1),
        scenario=POSTGRES,
    ),
)
