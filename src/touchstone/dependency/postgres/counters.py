"""PostgreSQL's own counters, and the rate at which its disk makes data durable."""

from __future__ import annotations

import os
import re
import time
from decimal import Decimal
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

_CLIENTS = "backend_type = 'client backend' AND application_name <> 'touchstone-lab'"
_BLOCK = 8192
_FSYNC_S = 0.5
_INDEX = re.compile(r'CREATE (UNIQUE )?INDEX (?:"(?:[^"]|"")*"|\S+) ON (?:ONLY )?(?:"(?:[^"]|"")*"|[^"\s])+ ')
"""An index's definition up to its method: its own name, and the name of its table."""


def client_sessions(connection: psycopg.Connection[tuple[object, ...]], database: str) -> int:
    """Client backends in the service's database now, touchstone's own left out."""
    row = connection.execute(
        f"SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND {_CLIENTS}", (database,)
    ).fetchone()
    return int(str(row[0])) if row else 0


def log_positions(connection: psycopg.Connection[tuple[object, ...]]) -> tuple[int, int]:
    """How much of the write-ahead log was written and synced, in bytes."""
    row = connection.execute(
        "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint, (pg_current_wal_flush_lsn() - '0/0')::bigint"
    ).fetchone()
    written, flushed = row or (0, 0)
    return int(str(written)), int(str(flushed))


def counters(connection: psycopg.Connection[tuple[object, ...]], database: str) -> dict[str, float]:
    """`pg_stat_database` and `pg_stat_wal` by column, clients by state, and the exact position in the log.

    `sessions_opened` counts every session that there ever was, `clients_now` those that are connected: a service that
    opens one for each request has few at a time.

    Backends hand in their counts at most once a second, and idle ones up to ten seconds late: the write-ahead log's
    position (`wal_position_bytes`) is exact at once, the counts are so when the service has ended.
    """
    found: dict[str, float] = {}
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute("SELECT * FROM pg_stat_database WHERE datname = %s", (database,))
        found |= _numbers("database", cursor.fetchone())
        if "database_sessions" in found:
            found["sessions_opened"] = found.pop("database_sessions")
        if connection.info.server_version >= 140000:
            cursor.execute("SELECT * FROM pg_stat_wal")
            found |= _numbers("wal", cursor.fetchone())
        cursor.execute(
            f"SELECT count(*) AS now, count(*) FILTER (WHERE state = 'active') AS active,"
            f" count(*) FILTER (WHERE state LIKE 'idle in transaction%%') AS in_transaction"
            f" FROM pg_stat_activity WHERE datname = %s AND {_CLIENTS}",
            (database,),
        )
        found |= _numbers("clients", cursor.fetchone())
        cursor.execute("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS position_bytes")
        found |= _numbers("wal", cursor.fetchone())
    return found


def table_counters(connection: psycopg.Connection[tuple[object, ...]]) -> dict[str, float]:
    """Scans and rows read of the service's own tables, in this connection's database.

    `pg_stat_database` counts rows of the catalogues as well, which each new session reads, touchstone's too.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(
            "SELECT coalesce(sum(seq_scan), 0) AS seq_scan, coalesce(sum(idx_scan), 0) AS idx_scan,"
            " coalesce(sum(seq_tup_read), 0) AS seq_tup_read,"
            " (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes) AS idx_tup_read"
            " FROM pg_stat_user_tables"
        )
        return _numbers("tables", cursor.fetchone())


def rows_by_table(connection: psycopg.Connection[tuple[object, ...]]) -> dict[str, int]:
    """How many rows each table of the schema `public` holds, by counting them."""
    tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    counted = {}
    for (table,) in tables:
        query = sql.SQL("SELECT count(*) FROM public.{}").format(sql.Identifier(str(table)))
        row = connection.execute(query).fetchone()
        counted[str(table)] = int(str(row[0])) if row else 0
    return counted


def structure(connection: psycopg.Connection[tuple[object, ...]]) -> dict[str, list[str]]:
    """By table: its indexes and triggers without their names, that it is not logged, and its storage parameters."""
    found: dict[str, list[str]] = {}
    rows = connection.execute(
        "WITH own AS (SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'p', 'm') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema')"
        " SELECT relname, NULL FROM own"
        " UNION ALL SELECT relname, 'not logged' FROM own WHERE relpersistence = 'u'"
        " UNION ALL SELECT relname, unnest(reloptions) FROM own"
        " UNION ALL SELECT relname, 'trigger' FROM own JOIN pg_trigger t ON t.tgrelid = own.oid WHERE NOT tgisinternal"
        " AND tgname <> 'touchstone_lab'"
        " UNION ALL SELECT relname, pg_get_indexdef(i.indexrelid) FROM own JOIN pg_index i ON i.indrelid = own.oid"
    )
    for table, part in rows:
        parts = found.setdefault(str(table), [])
        if part is not None:
            parts.append(_INDEX.sub(lambda match: f"{match[1] or ''}index ", str(part)).lower())
    return {table: sorted(parts) for table, parts in found.items()}


def fsync_rate(folder: Path) -> float:
    """Durable writes a second on the disk of `folder`: 8 KB overwritten and fdatasync'ed in turn, as a commit does."""
    path = folder / "fsync-probe"
    block = b"\0" * _BLOCK
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.pwrite(handle, block, 0)
        os.fsync(handle)
        count, begin = 0, time.monotonic()
        while (passed := time.monotonic() - begin) < _FSYNC_S:
            os.pwrite(handle, block, 0)
            os.fdatasync(handle)
            count += 1
        return count / passed
    finally:
        os.close(handle)
        path.unlink()


def _numbers(prefix: str, row: dict[str, object] | None) -> dict[str, float]:
    names = (row or {}).items()
    return {
        f"{prefix}_{name.removeprefix(f'{prefix}_')}": float(value)
        for name, value in names
        if isinstance(value, int | float | Decimal) and not name.endswith(("id", "datname"))
    }
