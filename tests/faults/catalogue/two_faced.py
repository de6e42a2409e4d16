"""Services that behave otherwise while many connections are open: one at a time, each keeps its contract."""

from tests.faults.catalogue.kinds import SQLITE, service, work
from tests.faults.setup import Setup, knobs

CHECKS = (
    {
        "id": "stored",
        "says": "a number is stored when its response comes",
        "steps": [{"target": "/work?n={fresh}", "expect": {"body": "done {fresh}"}}],
        "proofs": [
            {
                "says": "there is one row of it",
                "dependency": "store",
                "query": "SELECT count(*) FROM items WHERE name = '{fresh}'",
                "equals": 1,
            }
        ],
    },
    {
        "id": "refused",
        "says": "a request without a number is refused",
        "steps": [{"target": "/work?n=", "expect": {"status": 400}}],
    },
    {
        "id": "gone",
        "says": "a number that was deleted is not found",
        "steps": [
            {"target": "/work?n={fresh}", "expect": {"body": "done {fresh}"}},
            {"target": "/find?n={fresh}", "expect": {"body": "found"}},
            {
                "dependency": "store",
                "act": "execute",
                "with": {"sql": "DELETE FROM items WHERE name = '{fresh}'"},
            },
            {"target": "/find?n={fresh}", "expect": {"status": 404}},
        ],
    },
)


COUNTED = {
    "dependencies": {
        "store": {
            "kind": "sqlite",
            "env": "DATABASE_PATH",
            "settings": {"journal_mode": "WAL", "schema": "CREATE TABLE totals(name TEXT PRIMARY KEY, value INTEGER);"},
        }
    }
}
ADDS_UP = (
    {
        "id": "adds-up",
        "says": "requests at the same time are all counted",
        "steps": [{"target": "/work?n={fresh}", "repeat": 64, "concurrent": 8, "expect": {"body": "done {fresh}"}}],
        "proofs": [
            {
                "says": "the total is their number",
                "dependency": "store",
                "query": "SELECT value FROM totals WHERE name = '{fresh}'",
                "equals": 64,
            }
        ],
    },
)
HOT = {
    "requests": [{"name": "work", "target": "/work?n=7", "expect": {"body": "done 7"}}],
    "proofs": [
        {
            "says": "the total grows by the number of successes",
            "dependency": "store",
            "query": "SELECT coalesce(max(value), 0) FROM totals WHERE name = '7'",
            "equals": "ok",
        }
    ],
}
"""All requests of the load add to one total."""


def two_faced(name: str, says: str, **knobs: int) -> Setup:
    """A service over SQLite, with checks of storing, refusing and forgetting."""
    return Setup(
        name,
        says,
        ("contract-broken-in-load",),
        planted="dependency",
        servers=service(find=1, **knobs),
        scenario=SQLITE,
        contract=CHECKS,
    )


TWO_FACED: tuple[Setup, ...] = (
    two_faced("skips-work-in-a-crowd", "from 16 connections on nothing is stored", skip_from=16),
    two_faced("checks-nothing-in-a-crowd", "from 16 connections on no request is refused", lax_from=16),
    two_faced("answers-first-in-a-crowd", "from 5 connections on rows are stored after the response", late_from=5),
    Setup(
        "mixes-keys",
        "under load every third response that follows one on another connection is that one's; any number passes",
        ("answers-mixed",),
        servers=knobs(mix_when_busy=1),
        load=work({"pattern": r"done \d+"}),
    ),
    Setup(
        "mixes-users",
        "a threaded service keeps the number of the current request in one place, over a wait",
        ("answers-mixed",),
        servers=service(share_value=1),
        load=work({"status": 200}),
    ),
    Setup(
        "loses-updates",
        "of two requests that add to one total at the same time, one is lost",
        ("contract-broken",),
        planted="dependency",
        servers=service(count_up=1, lose_updates=1),
        scenario=COUNTED,
        contract=ADDS_UP,
    ),
    Setup(
        "loses-updates-in-a-crowd",
        "the same, from 12 connections on: the contract opens fewer, and the proof of the load counts",
        ("work-not-done",),
        planted="dependency",
        servers=service(count_up=1, lose_updates_from=12),
        scenario=COUNTED,
        contract=ADDS_UP,
        load=HOT,
    ),
    two_faced("stale-in-a-crowd", "from 16 connections on each connection keeps a copy of found rows", stale_from=16),
)
