"""The forms of a database's address are what their drivers read, whatever is in the password."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from psycopg.conninfo import conninfo_to_dict

from touchstone.dependency.postgres.address import Address
from touchstone.vocabulary.dependency import DEPENDENCIES

PLAIN = Address("127.0.0.1", "5432", "shop", "app", "word")
HARD = Address(
    "::1", "5432", "my shop", "a:b", """p@ss/wo;rd="q' r+""", {"sslmode": "verify-ca", "sslrootcert": "/c a.pem"}
)


def test_the_forms_of_a_plain_address() -> None:
    forms = PLAIN.forms()
    assert tuple(forms) == DEPENDENCIES["postgres"].address
    assert forms == {
        "url": "postgres://app:word@127.0.0.1:5432/shop?sslmode=disable",
        "postgresql_url": "postgresql://app:word@127.0.0.1:5432/shop?sslmode=disable",
        "psycopg_url": "postgresql+psycopg://app:word@127.0.0.1:5432/shop?sslmode=disable",
        "asyncpg_url": "postgresql+asyncpg://app:word@127.0.0.1:5432/shop?ssl=disable",
        "jdbc_url": "jdbc:postgresql://127.0.0.1:5432/shop?user=app&password=word&sslmode=disable",
        "r2dbc_url": "r2dbc:postgresql://app:word@127.0.0.1:5432/shop?sslMode=disable",
        "dsn": "host=127.0.0.1 port=5432 dbname=shop user=app password=word sslmode=disable",
        "ado": "Host=127.0.0.1;Port=5432;Database=shop;Username=app;Password=word;SSL Mode=Disable",
        "host": "127.0.0.1",
        "port": "5432",
        "database": "shop",
        "user": "app",
        "password": "word",
        "sslmode": "disable",
    }


@pytest.mark.parametrize("form", ["url", "postgresql_url", "dsn"])
def test_libpq_reads_what_was_meant(form: str) -> None:
    wanted = {"host": "::1", "port": "5432", "dbname": "my shop", "user": "a:b", "password": HARD.password}
    assert conninfo_to_dict(HARD.forms()[form]) == {**wanted, **HARD.tls}


@pytest.mark.parametrize(
    ("form", "mode"), [("psycopg_url", "sslmode"), ("asyncpg_url", "ssl"), ("r2dbc_url", "sslMode")]
)
def test_other_urls_hold_what_was_meant(form: str, mode: str) -> None:
    parsed = urlsplit(HARD.forms()[form].removeprefix("r2dbc:"))
    assert (parsed.hostname, unquote(parsed.username or ""), unquote(parsed.password or "")) == (
        HARD.host,
        HARD.user,
        HARD.password,
    )
    assert (unquote(parsed.path), parse_qs(parsed.query)[mode]) == ("/my shop", ["verify-ca"])


def test_jdbc_takes_the_login_as_parameters() -> None:
    parsed = urlsplit(HARD.forms()["jdbc_url"].removeprefix("jdbc:"))
    login = {"user": [HARD.user], "password": [HARD.password]}
    assert (parsed.netloc, parse_qs(parsed.query)) == (
        "[::1]:5432",
        login | {name: [value] for name, value in HARD.tls.items()},
    )


def test_npgsql_takes_quoted_values() -> None:
    assert HARD.forms()["ado"] == (
        """Host=::1;Port=5432;Database="my shop";Username=a:b;Password="p@ss/wo;rd=""q' r+";SSL Mode=VerifyCA"""
    )


def test_a_folder_of_sockets_is_a_host() -> None:
    there = Address("/var/run/postgresql", "5432", "shop", "app", "word")
    assert conninfo_to_dict(there.forms()["url"])["host"] == "/var/run/postgresql"
