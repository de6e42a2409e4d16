"""The kinds of dependency: the only list of them."""

from __future__ import annotations

from importlib import import_module

from touchstone.dependency.base import Dependency

_KINDS = {
    "sqlite": ("touchstone.dependency.sqlite", "SqliteFile"),
    "postgres": ("touchstone.dependency.postgres", "Postgres"),
    "kafka": ("touchstone.dependency.kafka", "Kafka"),
    "echo": ("touchstone.dependency.echo", "Echo"),
}


def dependency_class(kind: str) -> type[Dependency]:
    """The class of a kind; imported when first used, so that a client library is not needed by those who lack it."""
    module, name = _KINDS[kind]
    found: type[Dependency] = getattr(import_module(module), name)
    return found
