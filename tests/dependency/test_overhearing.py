"""The settings of a service's own sessions, and the structure of its tables, as a real PostgreSQL states them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from touchstone.dependency.base import DependencyContext
from touchstone.dependency.postgres import Postgres

SCHEMA = "CREATE TABLE users(id SERIAL PRIMARY KEY, name VARCHAR NOT NULL)"
WRITES = "INSERT INTO users (name) VALUES ('Ada')"
ISOLATED = [
    "SET synchronous_commit = off; SET default_transaction_isolation = serializable",
    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE; SET synchronous_commit TO false",
]


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    folder = tmp_path_factory.mktemp("postgres")
    cpus = (min(os.sched_getaffinity(0)),)
    context = DependencyContext(folder / "data", folder / "log", cpus, Path("engine"), folder / "cache")
    if lacking := Postgres.missing(context):
        pytest.skip(lacking)
    made = Postgres("database", "DATABASE_URL", {"schema": SCHEMA}, context)
    made.start()
    made.reset({})
    yield made
    made.stop()


def client(postgres: Postgres) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(postgres.environment()["DATABASE_URL"], autocommit=True)


def test_settings_that_a_session_gives_itself_are_overheard(postgres: Postgres) -> None:
    with client(postgres) as usual, client(postgres) as first, client(postgres) as second:
        for own, statement in zip((first, second), ISOLATED, strict=True):
            own.execute(statement)
        for sessions, synchronous, isolation in (
            ([usual], "on", "read committed"),
            ([first], "off", "serializable"),
            ([second], "off", "serializable"),
            ([usual, first], "off, on", "read committed, serializable"),
        ):
            with postgres.overheard() as settings:
                for session in sessions:
                    session.execute(WRITES)
            assert (settings["synchronous_commit"], settings["transaction_isolation"]) == (synchronous, isolation)


def test_settings_of_one_transaction_are_overheard(postgres: Postgres) -> None:
    with client(postgres) as connection, postgres.overheard() as settings:
        connection.execute(f"BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL work_mem = '64MB'; {WRITES}; COMMIT")
    assert (settings["transaction_isolation"], settings["work_mem"]) == ("repeatable read", "64MB")


def test_nothing_is_left_of_it(postgres: Postgres) -> None:
    with postgres.overheard():
        assert postgres.ask("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal") == 1
    assert postgres.ask("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal") == 0
    assert postgres.ask("SELECT count(*) FROM pg_namespace WHERE nspname = 'touchstone_lab'") == 0


def test_nothing_is_overheard_of_who_writes_nothing_or_keeps_a_table_locked(postgres: Postgres) -> None:
    with client(postgres) as connection:
        with postgres.overheard() as settings:
            connection.execute("SELECT count(*) FROM users")
        assert settings == {}
        with connection.transaction():
            connection.execute("LOCK TABLE users")
            with postgres.overheard() as settings:
                connection.execute(WRITES)
        assert settings == {}


def test_a_part_of_the_server_hears_its_own_sessions(postgres: Postgres) -> None:
    part = postgres.part()
    part.reset({})
    try:
        with client(postgres) as other, client(part) as own:
            other.execute(ISOLATED[0])
            with postgres.overheard() as all_settings, part.overheard() as settings:
                other.execute(WRITES)
                own.execute(WRITES)
        assert all_settings["transaction_isolation"] == "serializable"
        assert settings["transaction_isolation"] == "read committed"
    finally:
        part.stop()


def test_the_structure_of_a_table_holds_no_names_no_rows_and_nothing_of_the_lab(postgres: Postgres) -> None:
    with client(postgres) as connection:
        connection.execute("CREATE TABLE plain(id int PRIMARY KEY, name text)")
        connection.execute('CREATE INDEX "by name, of ON all" ON plain USING hash (name)')
        connection.execute('CREATE UNLOGGED TABLE "Quick ON it"(id int UNIQUE) WITH (fillfactor = 50)')
    with postgres.overheard():
        structure = postgres.structure()
    assert structure["plain"] == ["index using hash (name)", "unique index using btree (id)"]
    assert structure["Quick ON it"] == ["fillfactor=50", "not logged", "unique index using btree (id)"]
    assert structure["users"] == ["unique index using btree (id)"]
    assert set(structure) == {"plain", "Quick ON it", "users"}
