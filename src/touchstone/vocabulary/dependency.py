"""The kinds of dependency, each declared once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DependencyKind:
    """Something that a service talks to: all that any room but its own knows of it."""

    name: str
    place: str
    """Its class: a module, a colon, a name. Imported when first used."""
    own_processes: bool = True
    """False if it lives in the contender's own process, and so needs no CPUs."""
    downstream: bool = False
    """True if it is another service that the contender calls."""
    clients: str = "connections"
    """What a client holds of it."""


_ALL = [
    DependencyKind("sqlite", "touchstone.dependency.sqlite:SqliteFile", own_processes=False),
    DependencyKind("postgres", "touchstone.dependency.postgres:Postgres", clients="sessions"),
    DependencyKind("kafka", "touchstone.dependency.kafka:Kafka"),
    DependencyKind("echo", "touchstone.dependency.echo:Echo", downstream=True),
]

DEPENDENCIES: dict[str, DependencyKind] = {kind.name: kind for kind in _ALL}
"""All kinds by name."""
