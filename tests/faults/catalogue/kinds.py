"""Scenario tables, loads and servers that several entries share."""

from typing import Any

from tests.faults.setup import Server

SQLITE: dict[str, Any] = {
    "dependencies": {
        "store": {
            "kind": "sqlite",
            "env": "DATABASE_PATH",
            "settings": {"journal_mode": "WAL", "schema": "CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT);"},
        }
    }
}
SYNCED: dict[str, Any] = {
    "dependencies": {
        "store": SQLITE["dependencies"]["store"]
        | {"settings": SQLITE["dependencies"]["store"]["settings"] | {"synchronous": "NORMAL"}}
    }
}
ECHO: dict[str, Any] = {
    "dependencies": {"downstream": {"kind": "echo", "env": "DOWNSTREAM_URL", "settings": {"delay_ms": 10}}}
}
KNOWN_ROW = "CREATE TABLE known(id int PRIMARY KEY, name text); INSERT INTO known VALUES (1, 'one')"
POSTGRES: dict[str, Any] = {
    "settings": {"DATABASE_POOL": 16},
    "dependencies": {"database": {"kind": "postgres", "env": "DATABASE_URL", "settings": {"schema": KNOWN_ROW}}},
}
ROWS = [
    {"says": "as many rows as successes", "dependency": "store", "query": "SELECT count(*) FROM items", "equals": "ok"}
]
HITS = [
    {"says": "a downstream call for each success", "dependency": "downstream", "query": "hits:/echo", "equals": "ok"}
]


COMPILE = [["/bin/sh", "-c", "cc -O1 -o program *.c -lpthread -lm"]]
"""The build of the C server from its sources."""


def service(**knobs: int) -> tuple[Server, ...]:
    """One Python service with these knobs."""
    return (Server(knobs, program="service"),)


def work(expect: dict[str, Any], **load: Any) -> dict[str, Any]:
    """The usual request with another expectation, and further keys of the load."""
    return {"requests": [{"name": "work", "target": "/work?n={counter}", "expect": expect}], **load}


PACKED: tuple[dict[str, Any], ...] = (
    {
        "id": "packed",
        "says": "an answer is compressed, and right when it is unpacked",
        "steps": [
            {
                "target": "/work?n={fresh}",
                "expect": {
                    "body": "done {fresh}",
                    "encoding": "decoded",
                    "headers": {"content-encoding": "gzip"},
                },
            }
        ],
    },
)
PACKED_WORK = work({"pattern": r"\x1f\x8b(.|\n)*done [0-9]+(.|\n)*", "encoding": "bytes"})
"""The answers of the C server in gzip, which it packs without making them smaller."""

FILLED = {"pattern": r"done \d+\.*"}
"""A right body with a tail of dots."""
BIG = work(FILLED, connections=4)
