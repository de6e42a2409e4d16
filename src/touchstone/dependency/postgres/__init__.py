"""PostgreSQL as a dependency: found or fetched, started as an unprivileged user, reset, questioned, stopped."""

from touchstone.dependency.postgres.dependency import Postgres

__all__ = ["Postgres"]
