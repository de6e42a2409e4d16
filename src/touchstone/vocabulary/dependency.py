"""The kinds of dependency, each declared once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WorkCounter:
    """A dependency's own count of the work that a service had done."""

    counters: tuple[str, ...]
    """Names as `observe` gives them; together they are the work."""
    what: str
    """The counted things, in the plural."""
    late: bool = False
    """True if the dependency counts up to a second late."""
    one_is_enough: bool = False
    """True if the same work may be counted once or often, as a plan for a query has it: who has one for each response
    has done it."""
    same_with: tuple[str, ...] = ()
    """Other work by its `what`, without which this is not counted: less of it alone is another way of doing that."""
    with_less: tuple[str, ...] = ()
    """Other work by its `what`, of which there must be less as well, however much of it is enough: less of this alone
    is another plan for the same work."""


RELAYED = ("stall", "slow", "refuse", "reset", "slow-drip", "full")
"""What a relay in front of a dependency does to its connections."""


@dataclass(frozen=True)
class DependencyKind:
    """Something that a service talks to: all that any room but its own knows of it."""

    name: str
    place: str
    """Its class: a module, a colon, a name. Imported when first used."""
    address: tuple[str, ...]
    """The parts of its address, of which a scenario's `variables` are made; a service gets the first by `env`."""
    own_processes: bool = True
    """False if it lives in the contender's own process, and so needs no CPUs."""
    downstream: bool = False
    """True if it is another service that the contender calls."""
    clients: str = "connections"
    """What a client holds of it."""
    work: tuple[WorkCounter, ...] = ()
    """Counters of the work that a response needs."""
    relayed: bool = True
    """Whether services reach it over TCP, so that a relay can stand between."""
    own_faults: tuple[str, ...] = ()
    """Faults that it is given itself while a load runs, without a relay."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Everything that `disturb` can do to it."""
        return (*(RELAYED if self.relayed else ()), *self.own_faults)


_ALL = [
    DependencyKind(
        "sqlite",
        "touchstone.dependency.sqlite:SqliteFile",
        address=("path",),
        own_processes=False,
        work=(WorkCounter(("rows",), "rows kept"),),
        relayed=False,
        own_faults=("stall",),
    ),
    DependencyKind(
        "postgres",
        "touchstone.dependency.postgres:Postgres",
        address=(
            *("url", "postgresql_url", "psycopg_url", "asyncpg_url", "jdbc_url", "r2dbc_url", "dsn", "ado"),
            *("host", "port", "database", "user", "password", "sslmode"),
        ),
        clients="sessions",
        work=(
            WorkCounter(
                ("database_tup_inserted", "database_tup_updated", "database_tup_deleted"), "rows changed", late=True
            ),
            WorkCounter(("tables_seq_tup_read", "tables_idx_tup_read"), "rows read", late=True, one_is_enough=True),
            WorkCounter(("tables_seq_scan", "tables_idx_scan"), "scans of tables", late=True, with_less=("rows read",)),
            WorkCounter(
                ("database_xact_commit", "database_xact_rollback"),
                "transactions",
                late=True,
                same_with=("rows changed", "rows read"),
            ),
        ),
    ),
    DependencyKind("kafka", "touchstone.dependency.kafka:Kafka", address=("bootstrap", "url", "host", "port")),
    DependencyKind(
        "echo",
        "touchstone.dependency.echo:Echo",
        address=("url", "host", "port"),
        downstream=True,
        work=(WorkCounter(("hits",), "calls"),),
        own_faults=("error",),
    ),
    DependencyKind("process", "touchstone.dependency.process:Program", address=("address", "url", "host", "port")),
]

DEPENDENCIES: dict[str, DependencyKind] = {kind.name: kind for kind in _ALL}
"""All kinds by name."""
