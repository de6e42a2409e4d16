"""The dependency `postgres`: one server a run, a fresh database for each contender."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import psycopg
from psycopg import sql

from touchstone.dependency.base import (
    ClientState,
    Dependency,
    DependencyContext,
    DependencyError,
    UnknownActError,
    WorkProgress,
)
from touchstone.dependency.postgres import ceiling_rate
from touchstone.dependency.postgres.binaries import missing
from touchstone.dependency.postgres.cluster import Cluster
from touchstone.dependency.postgres.counters import (
    client_sessions,
    counters,
    fsync_rate,
    log_positions,
    rows_by_table,
    structure,
    table_counters,
)
from touchstone.dependency.postgres.outside import OutsideServer
from touchstone.dependency.postgres.overhearing import CHANGEABLE, overheard
from touchstone.dependency.postgres.settings import DATABASE, read_tare, server_settings
from touchstone.dependency.postgres.waits import sampled
from touchstone.failure import TouchstoneError
from touchstone.record.sample import DependencyState

_TARE_DATABASE = "touchstone_tare"
_GRACE_S = 2.0
"""How long the sessions of a contender that has just ended may take to go."""
_PER_SESSION = ("synchronous_commit", "jit")
"""What a database of an outside server can be given; the rest is the server's own."""


class Postgres(Dependency):
    """Settings: `schema` (SQL run on the fresh database as its owner), `tare` (the statements of its ceiling),
    and any setting of PostgreSQL by its name. Questions are SQL with one value as the answer. Acts: `stop`, `start`,
    and `execute` with `sql`, a change that the service knows nothing of.
    """

    kind: ClassVar[str] = "postgres"
    divisible = True
    acts: ClassVar[Mapping[str, tuple[str, ...]]] = {"stop": (), "start": (), "execute": ("sql",)}

    @classmethod
    def wrong_settings(cls, settings: dict[str, Any], scenario: Path) -> list[tuple[str, str]]:
        """Names that are none, values that no setting has, and a `tare` without statements."""
        found = []
        for key, value in settings.items():
            if key not in ("schema", "tare") and not isinstance(value, str | int | float):
                found.append((key, f"{value!r} is not a value of a PostgreSQL setting"))
        try:
            server_settings(settings, {})
            read_tare(settings)
        except (TouchstoneError, TypeError, ValueError) as error:
            what = error.what if isinstance(error, TouchstoneError) else str(error)
            found.append(("tare" if "tare" in settings else "schema", what))
        return found

    def __init__(self, name: str, env: str, settings: dict[str, Any], context: DependencyContext) -> None:
        super().__init__(name, env, settings, context)
        wanted = context.options.get("postgres", "")
        self._server = OutsideServer(name, wanted) if "://" in wanted else Cluster(name, context)
        self._asked = server_settings(settings, {})
        self._admin: psycopg.Connection[tuple[object, ...]] | None = None
        self._fsync_rate: float | None = None
        self._made = False
        self._database = DATABASE
        self._parts = 0

    @classmethod
    def missing(cls, context: DependencyContext) -> str | None:
        """What must be installed, and how; None if some PostgreSQL can be had."""
        return missing(context)

    def start(self) -> None:
        """Start a server of touchstone's own, or greet the outside one. Measure the disk's fsync rate."""
        try:
            self._server.create(self._asked)
            if self._server.data_folder is not None:
                self._fsync_rate = fsync_rate(self._server.data_folder)
        except BaseException:
            self._server.remove()
            raise

    def reset(self, settings: dict[str, Any]) -> list[str]:
        """Recreate the database from the schema; return leftover sessions and rows in words."""
        self._asked = server_settings(self.settings, settings)
        if not self._server.outside:
            self._server.start()
        leftovers = self._leftovers()
        self._disconnect()
        self._server.apply(self._asked)
        self._make(self._database)
        self._made = True
        with suppress(psycopg.errors.InsufficientPrivilege):
            self._administration().execute("CHECKPOINT")
        return leftovers

    def part(self) -> PostgresPart:
        """A database of its own on the same server."""
        self._parts += 1
        return PostgresPart(self, f"{DATABASE}_{self._parts}")

    def address(self) -> dict[str, str]:
        """The service's database: as a URL, in further forms that drivers take, and in parts."""
        host, port = self.reached_at()
        return replace(self._server.service_address(self._database), host=host, port=port).forms()

    def listens_at(self) -> tuple[str, str]:
        """Host and port of the server."""
        own = self._server.service_address(self._database)
        return own.host, own.port

    def ask(self, query: str) -> int | float | str:
        """Run one SQL query in the service's database, read-only, and give its single value."""
        try:
            with self._server.administer(self._database) as connection:
                connection.execute("SET default_transaction_read_only = on")
                row = connection.execute(query.encode()).fetchone()
        except psycopg.Error as error:
            raise DependencyError(
                f"the proof's query failed: {str(error).strip()}",
                where=f"dependency {self.name}: {query}",
                fix="fix the query in scenario.toml; it must be PostgreSQL's SQL and give one value",
            ) from error
        value = row[0] if row else ""
        if isinstance(value, bool):
            return "true" if value else "false"
        return value if isinstance(value, int | float) else str(value)

    def act(self, act: str, arguments: dict[str, Any]) -> None:
        """Carry out `stop`, `start` (all committed data is kept) or `execute` (runs `sql`)."""
        if act not in self.acts:
            raise UnknownActError(
                f"dependency {self.name!r} (postgres) cannot {act!r}", fix=f"its acts are: {', '.join(self.acts)}"
            )
        if act == "execute":
            self._execute(str(arguments.get("sql", "")))
            return
        self._disconnect()
        if act == "stop":
            self._server.stop()
        else:
            self._server.start()

    def _execute(self, statements: str) -> None:
        try:
            with self._server.administer(self._database) as connection:
                connection.execute(statements.encode())
        except psycopg.Error as error:
            raise DependencyError(
                f"the act's SQL failed: {str(error).strip()}",
                where=f"dependency {self.name}: {statements}",
                fix="fix `with = { sql = ... }` in scenario.toml; it must be PostgreSQL's SQL",
            ) from error

    def observe(self) -> dict[str, float]:
        """Counters of the service's database, tables and write-ahead log, and the disk's fsync rate."""
        try:
            found = counters(self._administration(), self._database)
            with self._server.administer(self._database) as connection:
                found |= table_counters(connection)
        except psycopg.Error as error:
            self._disconnect()
            raise DependencyError(
                f"PostgreSQL's counters cannot be read: {str(error).strip()}",
                where=f"dependency {self.name}",
                fix="check whether the server is down; its log is kept with the results",
            ) from error
        if self._fsync_rate is not None:
            found["disk_fsync_per_s"] = self._fsync_rate
        return found

    def read_settings(self) -> dict[str, Any]:
        """The version, and each requested setting as a session in the service's database sees it."""
        try:
            with self._server.administer(self._database) as connection:
                rows = connection.execute(
                    "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)",
                    ([*self._asked, "server_version", "data_checksums", "wal_sync_method"],),
                ).fetchall()
        except psycopg.Error:
            return {}
        return {str(name): str(value) for name, value in sorted(rows)} | {"origin": self._server.origin}

    def structure(self) -> dict[str, list[str]]:
        """Return indexes, triggers and storage settings of each table of the service's database."""
        try:
            with self._server.administer(self._database) as connection:
                return structure(connection)
        except psycopg.Error:
            return {}

    def pids(self) -> list[int]:
        """The postmaster, whose children are the backends; empty for an outside server."""
        return self._server.pids()

    def sessions(self) -> int | None:
        """Client sessions in the service's database now; None while the server is down."""
        try:
            return client_sessions(self._administration(), self._database)
        except psycopg.Error:
            self._disconnect()
            return None

    def reach(self) -> WorkProgress | None:
        """Its write-ahead log: a commit that waits for the disk is on it when it returns."""
        try:
            return WorkProgress(*log_positions(self._administration()))
        except psycopg.Error:
            self._disconnect()
            return None

    @contextmanager
    def overheard(self) -> Iterator[dict[str, str]]:
        """What a session may change for itself, as the service's transactions see it."""
        try:
            connection = self._server.administer(self._database)
        except psycopg.Error:
            yield {}
            return
        try:
            with connection, overheard(connection, CHANGEABLE) as found:
                yield found
        except psycopg.Error as error:
            raise DependencyError(
                f"touchstone's record of session settings cannot be removed: {str(error).strip()}",
                where=f"dependency {self.name}",
                fix="check whether the service keeps a transaction open or a table locked",
            ) from error

    def ceiling(self, request_hint: str) -> float | None:
        """Requests per second by the statements of `tare`, under the present settings, in a separate database."""
        measured = read_tare(self.settings)
        if measured is None:
            return None
        self._make(_TARE_DATABASE)
        try:
            installation = self._server.installation
            pgbench = installation.program("pgbench") if installation else None
            if pgbench is not None:
                address = self._server.service_address(_TARE_DATABASE)
                return ceiling_rate.by_pgbench(pgbench, address, measured, self.context.cpus)
            return ceiling_rate.by_driver(lambda: self._server.administer(_TARE_DATABASE), measured)
        finally:
            self._drop(_TARE_DATABASE)

    def state(self, before: dict[str, float], after: dict[str, float], leftovers: list[str]) -> DependencyState:
        """The record of it; what was asked for includes what the load changed."""
        asked: dict[str, Any] = dict(self._asked)
        return super().state(before, after, leftovers).model_copy(update={"asked": asked})

    def stop(self) -> None:
        """End the server and remove its files; of an outside server, remove touchstone's database."""
        if self._server.outside and self._made:
            with suppress(psycopg.Error):
                self._drop(self._database)
        self._disconnect()
        self._server.remove()

    @contextmanager
    def asked_for_waits(self) -> Iterator[list[ClientState]]:
        """What each backend works on or waits for (pg_stat_activity), sampled until the context ends."""
        try:
            connection = self._server.administer("postgres")
        except psycopg.Error:
            yield []
            return
        with connection, sampled(connection, self.context.cpus) as found:
            yield found

    def _administration(self) -> psycopg.Connection[tuple[object, ...]]:
        if self._admin is None or self._admin.closed:
            self._admin = self._server.administer("postgres")
        return self._admin

    def _disconnect(self) -> None:
        if self._admin is not None:
            self._admin.close()
        self._admin = None

    def _leftovers(self) -> list[str]:
        """Sessions and rows that are left from an earlier contender or run."""
        admin = self._administration()
        if not admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", (self._database,)).fetchone():
            return []
        found = []
        until = time.monotonic() + _GRACE_S
        while (held := client_sessions(admin, self._database)) and time.monotonic() < until:
            time.sleep(0.02)
        if held:
            found.append(f"sessions of an earlier client still connected, now ended: {held}")
        if not self._made:
            with self._server.administer(self._database) as connection:
                rows = {table: count for table, count in rows_by_table(connection).items() if count}
            held_rows = "".join(f"; rows in {table}: {count}" for table, count in rows.items())
            found.append(f"database {self._database} was there before the first start{held_rows}; it was recreated")
        return found

    def _make(self, database: str) -> None:
        self._drop(database)
        name = sql.Identifier(database)
        try:
            admin = self._administration()
            admin.execute(
                sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0").format(
                    name, sql.Identifier(self._server.owner)
                )
            )
            if self._server.outside:
                for setting in _PER_SESSION:
                    admin.execute(
                        sql.SQL("ALTER DATABASE {} SET {} = {}").format(
                            name, sql.Identifier(setting), sql.Literal(self._asked[setting])
                        )
                    )
            with self._server.administer(database) as connection:
                connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(self._server.owner)))
                if schema := str(self.settings.get("schema", "")).strip():
                    connection.execute(schema.encode())
        except psycopg.Error as error:
            raise DependencyError(
                f"the fresh database could not be made: {str(error).strip()}",
                where=f"dependency {self.name}",
                fix="fix `schema` in the dependency's settings; it must be PostgreSQL's SQL",
            ) from error

    def _drop(self, database: str) -> None:
        admin = self._administration()
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
            (database,),
        )
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))


class PostgresPart(Postgres):
    """One contender's database on a server that others use as well; its checkpoints are everybody's."""

    def __init__(self, whole: Postgres, database: str) -> None:
        Dependency.__init__(self, whole.name, whole.env, whole.settings, whole.context)
        self._server, self._asked, self._fsync_rate = whole._server, whole._asked, whole._fsync_rate
        self._admin = None
        self._made = True
        self._database = database
        self._parts = 0

    def reset(self, settings: dict[str, Any]) -> list[str]:
        """Recreate the database, with the server settings of the whole dependency."""
        self._make(self._database)
        return []

    def stop(self) -> None:
        """Drop the database; the server belongs to the run."""
        with suppress(psycopg.Error):
            self._drop(self._database)
        self._disconnect()
