"""The address of a database, in the forms that drivers take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from psycopg.conninfo import make_conninfo

NO_TLS = {"sslmode": "disable"}
"""lib/pq asks for TLS by default, and fails on a server without TLS."""


@dataclass(frozen=True)
class Address:
    """Where a service finds its database, and the `ssl...` parameters of libpq with which it connects."""

    host: str
    port: str
    database: str
    user: str
    password: str
    tls: Mapping[str, str] = field(default_factory=lambda: NO_TLS)

    def forms(self) -> dict[str, str]:
        """The address by the names that the vocabulary declares: as URLs, as connection strings, and in parts."""
        sslmode = self.tls["sslmode"]
        parameters = urlencode(self.tls, quote_via=quote)
        login = urlencode({"user": self.user, "password": self.password}, quote_via=quote)
        whole, server = self._whole(), f"{self._host()}:{self.port}/{quote(self.database, safe='')}"
        return {
            "url": f"postgres://{whole}?{parameters}",
            "postgresql_url": f"postgresql://{whole}?{parameters}",
            "psycopg_url": f"postgresql+psycopg://{whole}?{parameters}",
            # SQLAlchemy hands each parameter to the driver, and asyncpg calls this one `ssl`.
            "asyncpg_url": f"postgresql+asyncpg://{whole}?ssl={sslmode}",
            "jdbc_url": f"jdbc:postgresql://{server}?{login}&{parameters}",
            "r2dbc_url": f"r2dbc:postgresql://{whole}?sslMode={sslmode}",
            "dsn": make_conninfo(**self._named(), **self.tls),
            "ado": self._ado(sslmode),
            "host": self.host,
            "port": self.port,
            "database": self.database,
            "user": self.user,
            "password": self.password,
            "sslmode": sslmode,
        }

    def _whole(self) -> str:
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return f"{login}@{self._host()}:{self.port}/{quote(self.database, safe='')}"

    def _host(self) -> str:
        """The host within a URL: a folder of sockets is encoded (libpq, 34.1.1.2), an IPv6 address bracketed."""
        return f"[{self.host}]" if ":" in self.host else quote(self.host, safe="")

    def _named(self) -> dict[str, str]:
        named = {"host": self.host, "port": self.port, "dbname": self.database}
        return named | {"user": self.user, "password": self.password}

    def _ado(self, sslmode: str) -> str:
        """Npgsql's connection string."""
        mode = sslmode.title().replace("-", "").replace("Ca", "CA")
        named = {"Host": self.host, "Port": self.port, "Database": self.database}
        named |= {"Username": self.user, "Password": self.password, "SSL Mode": mode}
        return ";".join(f"{key}={_ado_value(value)}" for key, value in named.items())


def _ado_value(value: str) -> str:
    """The value as it is if it is a plain word. Else in double quotes, with each double quote in it doubled."""
    return value if re.fullmatch(r"[\w./:-]+", value) else '"' + value.replace('"', '""') + '"'
