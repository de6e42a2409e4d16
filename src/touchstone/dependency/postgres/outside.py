"""A PostgreSQL that somebody else runs, named by --postgres URL: used, never stopped or reconfigured."""

from __future__ import annotations

from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from touchstone.dependency.base import DependencyError
from touchstone.dependency.postgres.address import NO_TLS, Address
from touchstone.dependency.postgres.settings import DATABASE


class OutsideServer:
    """Touchstone makes databases of its own there and gives them settings. The rest of the server is left alone."""

    outside = True
    origin = "outside server named by --postgres"
    data_folder: Path | None = None
    installation = None

    def __init__(self, name: str, url: str) -> None:
        self._name = name
        try:
            self._address = {key: str(value) for key, value in conninfo_to_dict(url).items()}
        except psycopg.ProgrammingError as error:
            raise DependencyError(
                f"{url!r} is not an address of a PostgreSQL: {error}".strip(),
                fix="write --postgres postgres://user:password@host:port/database",
            ) from error

    @property
    def running(self) -> bool:
        """Whether it answers."""
        try:
            self.administer(self._address.get("dbname", "postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    @property
    def owner(self) -> str:
        """The role that owns the service's database: the one of the URL."""
        with self.administer("postgres") as connection:
            row = connection.execute("SELECT current_user").fetchone()
        return str(row[0]) if row else ""

    def pids(self) -> list[int]:
        """None that are touchstone's."""
        return []

    def create(self, settings: dict[str, str]) -> None:
        """See that it answers and lets the role make databases. Raises DependencyError."""
        try:
            with self.administer("postgres") as connection:
                row = connection.execute(
                    "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"
                ).fetchone()
        except psycopg.Error as error:
            raise DependencyError(
                f"the PostgreSQL of --postgres does not accept touchstone's connection: {error}".strip(),
                where=f"dependency {self._name}",
                fix="try the URL with psql; or leave out --postgres, and touchstone starts its own",
            ) from error
        if not row or not row[0]:
            raise DependencyError(
                "the role of --postgres may not create databases",
                where=f"dependency {self._name}",
                fix="ALTER ROLE ... CREATEDB, or leave out --postgres, and touchstone starts its own",
            )

    def apply(self, settings: dict[str, str]) -> None:
        """Nothing of the server's own is changed: the settings are given to touchstone's database when it is made."""

    def start(self) -> None:
        """Let services into touchstone's database again."""
        self._allow(True)

    def stop(self) -> None:
        """Take touchstone's database away: the server runs on, and nobody gets into that database, nor stays in it."""
        self._allow(False)

    def remove(self) -> None:
        """Nothing of it is touchstone's."""

    def administer(self, database: str) -> psycopg.Connection[tuple[object, ...]]:
        """A connection of the URL's role, each statement its own transaction."""
        address = self._address | {"dbname": database, "application_name": "touchstone-lab"}
        return psycopg.connect(**address, autocommit=True, connect_timeout=10)  # type: ignore[arg-type]

    def service_address(self, database: str) -> Address:
        """The address that a service is given: that of the URL with touchstone's database."""
        return Address(
            self._address.get("host", "127.0.0.1"),
            self._address.get("port", "5432"),
            database,
            self._address.get("user", "postgres"),
            self._address.get("password", ""),
            self._tls(),
        )

    def _tls(self) -> dict[str, str]:
        """The URL's own parameters. Where it leaves the mode open, the mode that touchstone's connections have."""
        given = {key: value for key, value in self._address.items() if key.startswith("ssl")}
        if "sslmode" not in given:
            with self.administer("postgres") as connection:
                encrypted = connection.pgconn.ssl_in_use
            given = {"sslmode": "require"} | given if encrypted else NO_TLS | given
        return given

    def _allow(self, allowed: bool) -> None:
        database = sql.Identifier(DATABASE)
        with self.administer("postgres") as connection:
            connection.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}").format(database, sql.Literal(allowed)))
            if not allowed:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (DATABASE,)
                )
