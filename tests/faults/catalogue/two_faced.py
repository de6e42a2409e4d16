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
    two_faced("stale-in-a-crowd", "from 16 connections on each connection keeps a copy of found rows", stale_from=16),
)
