"""The server settings that touchstone fixes, and the check of a scenario's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from touchstone.dependency.base import DependencyError

DATABASE = "touchstone"
"""The service's database: one that touchstone makes, and may drop, on any server."""

FIXED: dict[str, str] = {
    "max_connections": "100",
    "shared_buffers": "128MB",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    # A vacuum that happens to fall into one contender's window and not into another's is noise; each
    # contender gets a fresh database, which lives too short to need one.
    "autovacuum": "off",
    # The same for checkpoints: one is made at each reset, none is due within a load.
    "checkpoint_timeout": "1h",
    "max_wal_size": "4GB",
    # Planning is by rows and cost alone; compiling three-row statements would only add a random pause.
    "jit": "off",
    "track_activities": "on",
    "track_counts": "on",
    "log_min_messages": "warning",
    "log_min_error_statement": "panic",
}
"""Over these lie the scenario's settings, and over those a load's."""

_OWN = ("schema", "tare")


@dataclass(frozen=True)
class CeilingStatements:
    """What the database does for one request of the scenario: the statements of its ceiling's measurement.

    A statement's single row gives its columns to the later ones as `:column`.
    """

    connections: int
    statements: tuple[str, ...]


def server_settings(scenario: dict[str, Any], load: dict[str, Any]) -> dict[str, str]:
    """Everything that PostgreSQL itself is set to, by name, in its own spelling."""
    merged = FIXED | {key: _spelt(value) for key, value in (scenario | load).items() if key not in _OWN}
    for name in merged:
        if not name.replace("_", "").replace(".", "").isalnum():
            raise DependencyError(f"{name!r} is not a name of a PostgreSQL setting", fix="fix it in scenario.toml")
    return merged


def read_tare(settings: dict[str, Any]) -> CeilingStatements | None:
    """The setting `tare = {connections = 8, statements = [...]}`; None if the scenario has none."""
    given = settings.get("tare")
    if given is None:
        return None
    statements = given.get("statements") if isinstance(given, dict) else None
    if not isinstance(statements, list) or not statements or not all(isinstance(s, str) for s in statements):
        raise DependencyError(
            "setting `tare` needs `statements`, a list of SQL statements",
            fix='write tare = { connections = 8, statements = ["SELECT 1"] } in scenario.toml',
        )
    return CeilingStatements(int(given.get("connections", 8)), tuple(statements))


def quoted(value: str) -> str:
    """A value as a literal of postgresql.conf and of SQL: both double a single quote."""
    return "'" + value.replace("'", "''") + "'"


def _spelt(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
