"""A real PostgreSQL is started, reset, watched, taken away, brought back and ended."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from touchstone.dependency.base import DependencyContext, DependencyError, UnknownActError
from touchstone.dependency.postgres import Postgres
from touchstone.dependency.postgres.binaries import find_installation
from touchstone.dependency.postgres.ceiling_rate import by_driver, pgbench_script
from touchstone.dependency.postgres.settings import DATABASE, CeilingStatements
from touchstone.isolation.process import start_process
from touchstone.vocabulary.dependency import DEPENDENCIES

SCHEMA = "CREATE TABLE users(id SERIAL PRIMARY KEY, name VARCHAR NOT NULL)"
STATEMENTS = [
    "INSERT INTO users (name) VALUES ('Ada') RETURNING id",
    "SELECT id, name FROM users WHERE id = :id",
    "DELETE FROM users WHERE id = :id",
]
SETTINGS: dict[str, Any] = {"schema": SCHEMA, "tare": {"connections": 4, "statements": STATEMENTS}}


def context_in(folder: Path, cache: Path, **options: str) -> DependencyContext:
    cpus = (min(os.sched_getaffinity(0)),)
    return DependencyContext(folder / "data", folder / "log", cpus, Path("engine"), cache, options)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> DependencyContext:
    context = context_in(tmp_path_factory.mktemp("postgres"), cache)
    if lacking := Postgres.missing(context):
        pytest.skip(lacking)
    return context


@pytest.fixture(scope="module")
def started(context: DependencyContext) -> Iterator[Postgres]:
    postgres = Postgres("database", "DATABASE_URL", SETTINGS, context)
    postgres.start()
    yield postgres
    postgres.stop()


@pytest.fixture
def postgres(started: Postgres) -> Postgres:
    started.reset({})
    return started


def client(postgres: Postgres) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(postgres.environment()["DATABASE_URL"], autocommit=True)


def test_a_service_reaches_a_fresh_schema_by_the_url(postgres: Postgres) -> None:
    with client(postgres) as connection:
        row = connection.execute("INSERT INTO users (name) VALUES ('Ada') RETURNING id").fetchone()
    assert row == (1,)
    assert postgres.ask("SELECT count(*) FROM users") == 1


def test_a_service_reaches_it_by_the_parts_of_its_address(postgres: Postgres) -> None:
    usual = postgres.context
    postgres.context = replace(usual, variables={"JDBC": "jdbc:postgresql://{host}:{port}/{database}"})
    try:
        part = postgres.part()
        for one in (postgres, part):
            one.reset({})
            parts = one.address()
            assert tuple(parts) == DEPENDENCIES["postgres"].address
            given = one.environment()
            assert given == {"DATABASE_URL": parts["url"], "JDBC": given["JDBC"]}
            place, _, database = given["JDBC"].removeprefix("jdbc:postgresql://").partition("/")
            host, _, port = place.partition(":")
            with psycopg.connect(
                host=host, port=port, dbname=database, user=parts["user"], password=parts["password"]
            ) as connection:
                assert connection.execute("SELECT count(*) FROM users").fetchone() == (0,)
        assert part.address()["database"] != postgres.address()["database"]
        part.stop()
    finally:
        postgres.context = usual


def test_libpq_reaches_it_without_tls_by_each_of_its_forms(postgres: Postgres) -> None:
    for form in ("url", "postgresql_url", "dsn"):
        with psycopg.connect(postgres.address()[form]) as connection:
            assert connection.info.get_parameters()["sslmode"] == "disable"


def test_the_service_is_no_superuser_and_needs_its_password(postgres: Postgres) -> None:
    with client(postgres) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("ALTER SYSTEM SET fsync = off")
    wrong = postgres.environment()["DATABASE_URL"].replace(":touchstone@", ":guess@")
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(wrong)


def test_reset_removes_rows_and_sets_the_sequence_back(postgres: Postgres) -> None:
    with client(postgres) as connection:
        connection.execute("INSERT INTO users (name) SELECT 'x' FROM generate_series(1, 5)")
    assert postgres.reset({}) == []
    assert postgres.ask("SELECT count(*) FROM users") == 0
    with client(postgres) as connection:
        row = connection.execute("INSERT INTO users (name) VALUES ('y') RETURNING id").fetchone()
    assert row == (1,)


def test_a_session_that_outlives_its_contender_is_reported_and_ended(postgres: Postgres) -> None:
    with client(postgres) as connection:
        leftovers = postgres.reset({})
        assert leftovers == ["sessions of an earlier client still connected, now ended: 1"]
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


def test_sessions_counts_the_clients_and_not_the_lab(postgres: Postgres) -> None:
    assert postgres.sessions() == 0
    with client(postgres), client(postgres):
        assert postgres.sessions() == 2


def test_a_load_changes_a_setting_and_the_next_reset_takes_it_back(postgres: Postgres) -> None:
    postgres.reset({"synchronous_commit": "off", "max_connections": 20})
    assert postgres.read_settings()["synchronous_commit"] == "off"
    assert postgres.read_settings()["max_connections"] == "20"
    state = postgres.state({}, {}, [])
    assert state.asked["synchronous_commit"] == state.settings["synchronous_commit"] == "off"
    postgres.reset({})
    assert postgres.read_settings()["synchronous_commit"] == "on"
    assert postgres.read_settings()["max_connections"] == "100"


def test_observe_counts_the_sessions_opened_and_the_log_written(postgres: Postgres) -> None:
    before = postgres.observe()
    for _ in range(25):
        with client(postgres) as connection:
            connection.execute("INSERT INTO users (name) VALUES ('Ada')")
    # Each look is a session of the lab's own: fewer of them than of the clients.
    for _ in range(20):
        after = postgres.observe()
        if after["sessions_opened"] >= before["sessions_opened"] + 25 and after["clients_now"] == 0:
            break
        time.sleep(0.5)
    assert after["sessions_opened"] >= before["sessions_opened"] + 25, "the sessions were never counted"
    assert after["wal_position_bytes"] > before["wal_position_bytes"]
    assert after["disk_fsync_per_s"] > 0
    assert after["clients_now"] == 0


def test_observe_counts_the_scans_of_the_services_tables_and_no_catalogue(postgres: Postgres) -> None:
    with client(postgres) as connection:
        connection.execute("INSERT INTO users (name) VALUES ('Ada'), ('Bob')")
    before = postgres.observe()
    with client(postgres) as connection:
        for _ in range(3):
            connection.execute("SELECT name FROM users").fetchall()
    until = time.monotonic() + 10
    while (after := postgres.observe())["tables_seq_scan"] < before["tables_seq_scan"] + 3:
        assert time.monotonic() < until, "the scans were never counted"
        time.sleep(0.05)
    gained = {name: after[name] - before[name] for name in after if name.startswith("tables_")}
    assert gained == {"tables_seq_scan": 3, "tables_idx_scan": 0, "tables_seq_tup_read": 6, "tables_idx_tup_read": 0}


def test_stop_takes_it_away_and_start_brings_it_back_with_its_rows(postgres: Postgres) -> None:
    with client(postgres) as connection:
        connection.execute("INSERT INTO users (name) VALUES ('Ada')")
    url = postgres.environment()
    postgres.act("stop", {})
    assert postgres.sessions() is None
    assert postgres.pids() == []
    with pytest.raises(psycopg.OperationalError):
        client(postgres)
    postgres.act("start", {})
    assert postgres.environment() == url
    assert postgres.ask("SELECT count(*) FROM users") == 1


def test_a_server_that_a_contract_stops_and_starts_is_no_stray_of_the_contender(
    postgres: Postgres, tmp_path: Path
) -> None:
    contender = start_process(["sleep", "60"], env={"PATH": "/usr/bin:/bin"}, cwd=tmp_path, log=tmp_path / "log")
    try:
        postgres.act("stop", {})
        postgres.act("start", {})
        assert contender.strays([contender.pid]) == []
    finally:
        contender.stop(1.0)
    assert postgres.ask("SELECT 1") == 1


def test_a_row_can_be_changed_behind_the_services_back(postgres: Postgres) -> None:
    with client(postgres) as connection:
        connection.execute("INSERT INTO users (name) VALUES ('Ada'), ('Bob')")
        postgres.act("execute", {"sql": "DELETE FROM users WHERE name = 'Ada'"})
        assert connection.execute("SELECT name FROM users").fetchall() == [("Bob",)]
    with pytest.raises(DependencyError, match="nowhere"):
        postgres.act("execute", {"sql": "DELETE FROM nowhere"})


def test_an_unknown_act_names_those_that_there_are(postgres: Postgres) -> None:
    with pytest.raises(UnknownActError, match="stop, start"):
        postgres.act("explode", {})


def test_a_question_cannot_write(postgres: Postgres) -> None:
    with pytest.raises(DependencyError, match="read-only"):
        postgres.ask("DELETE FROM users RETURNING 1")


def test_a_wrong_question_names_the_query(postgres: Postgres) -> None:
    with pytest.raises(DependencyError, match="SELECT nothing FROM nowhere"):
        postgres.ask("SELECT nothing FROM nowhere")


def test_the_ceiling_is_measured_and_leaves_the_services_database_alone(postgres: Postgres) -> None:
    ceiling = postgres.ceiling("")
    assert ceiling is not None
    assert ceiling > 1
    assert postgres.ask("SELECT count(*) FROM users") == 0
    assert postgres.ask("SELECT is_called FROM users_id_seq") == "false"
    assert postgres.ask("SELECT count(*) FROM pg_database WHERE datname LIKE 'touchstone%'") == 1


def test_the_driver_loop_measures_where_pgbench_is_missing(postgres: Postgres) -> None:
    assert by_driver(lambda: client(postgres), CeilingStatements(2, tuple(STATEMENTS))) > 1
    assert postgres.ask("SELECT count(*) FROM users") == 0
    assert int(postgres.ask("SELECT last_value FROM users_id_seq")) > 1


@pytest.mark.parametrize("statement", ["SELECT 1 FROM nowhere", "INSERT INTO users (name) VALUES (NULL)"])
def test_a_tare_that_fails_says_so(postgres: Postgres, statement: str) -> None:
    with pytest.raises(DependencyError, match="tare"):
        by_driver(lambda: client(postgres), CeilingStatements(2, (statement,)))


def test_a_pgbench_script_keeps_the_row_that_is_used_later() -> None:
    script = pgbench_script(tuple(STATEMENTS)).splitlines()
    assert [line.endswith("\\gset") for line in script] == [True, False, False]


def test_its_processes_are_bound_and_unprivileged(postgres: Postgres) -> None:
    (pid,) = postgres.pids()
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    assert len(family) > 1
    for process in family:
        assert process.cpu_affinity() == list(postgres.context.cpus)
        assert process.uids().effective != 0


def test_its_log_is_kept_with_the_results(postgres: Postgres) -> None:
    log = postgres.context.log_folder / "database.log"
    assert "ready to accept connections" in log.read_text()


def _pid(lock: Path) -> int:
    """The server that holds a socket's lock file; other tests may run servers of their own meanwhile."""
    return int(lock.read_text().splitlines()[0])


def test_stop_leaves_no_process_and_no_file(tmp_path: Path, context: DependencyContext) -> None:
    postgres = Postgres("database", "DATABASE_URL", SETTINGS, context_in(tmp_path, context.cache))
    postgres.start()
    sockets = [
        lock.parent for lock in Path("/tmp").glob("touchstone-*/.s.PGSQL.*.lock") if _pid(lock) in postgres.pids()
    ]
    assert sockets
    postgres.reset({})
    family = psutil.Process(postgres.pids()[0]).children(recursive=True)
    connection = client(postgres)
    postgres.stop()
    postgres.stop()
    connection.close()
    assert not [process for process in family if process.is_running()]
    assert not list((tmp_path / "data").iterdir())
    assert not [folder for folder in sockets if folder.exists()]


def test_a_setting_that_the_server_refuses_is_told_with_its_log(tmp_path: Path, context: DependencyContext) -> None:
    settings = SETTINGS | {"shared_buffers": "a lot"}
    postgres = Postgres("database", "DATABASE_URL", settings, context_in(tmp_path, context.cache))
    with pytest.raises(DependencyError, match="shared_buffers"):
        postgres.start()
    assert postgres.pids() == []
    assert not list((tmp_path / "data").iterdir())


def test_a_schema_that_is_no_sql_is_told(tmp_path: Path, context: DependencyContext) -> None:
    postgres = Postgres(
        "database", "DATABASE_URL", {"schema": "CREATE TABEL users()"}, context_in(tmp_path, context.cache)
    )
    postgres.start()
    try:
        with pytest.raises(DependencyError, match="TABEL"):
            postgres.reset({})
    finally:
        postgres.stop()


def test_a_folder_without_programs_is_told(tmp_path: Path, cache: Path) -> None:
    context = context_in(tmp_path, cache, postgres=str(tmp_path))
    assert "initdb" in (Postgres.missing(context) or "")
    with pytest.raises(DependencyError, match="no initdb"):
        find_installation(context)


def outside(postgres: Postgres, folder: Path, role: str, extra: str, tls: str = "") -> Postgres:
    """The lab's server, seen by a second lab as somebody else's."""
    admin = postgres._server.administer("postgres")
    admin.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
    admin.execute(f"DROP ROLE IF EXISTS {role}")
    admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'p@ss/word' {extra}")
    admin.close()
    address = postgres.environment()["DATABASE_URL"].partition("@")[2].partition("/")[0]
    url = f"postgres://{role}:p%40ss%2Fword@{address}/postgres{tls}"
    return Postgres("database", "DATABASE_URL", SETTINGS, context_in(folder, folder, postgres=url))


@pytest.mark.parametrize(
    ("given", "sslmode"),
    [("", "disable"), ("?sslmode=prefer&sslrootcert=/ca.pem", "prefer"), ("?sslmode=allow", "allow")],
)
def test_an_outside_server_is_reached_with_the_tls_of_its_url(
    postgres: Postgres, tmp_path: Path, given: str, sslmode: str
) -> None:
    """Where the URL leaves it open, as the lab reaches it itself: the lab's own server has no TLS."""
    address = outside(postgres, tmp_path, "visitor", "CREATEDB", given).address()
    assert address["sslmode"] == sslmode
    assert ("sslrootcert=%2Fca.pem" in address["url"]) is ("sslrootcert" in given)


def test_an_outside_server_is_used_and_left_running(postgres: Postgres, tmp_path: Path) -> None:
    guest = outside(postgres, tmp_path, "guest", "CREATEDB")
    guest.start()
    assert guest.reset({"synchronous_commit": "off"}) == []
    with client(guest) as connection:
        connection.execute("INSERT INTO users (name) VALUES ('Ada')")
        assert guest.sessions() == 1
    assert guest.ask("SELECT count(*) FROM users") == 1
    assert guest.read_settings()["synchronous_commit"] == "off"
    assert guest.pids() == []
    guest.act("stop", {})
    assert guest.sessions() == 0
    with pytest.raises(psycopg.OperationalError, match="not currently accepting"):
        client(guest)
    assert postgres.pids()
    guest.act("start", {})
    assert guest.ask("SELECT count(*) FROM users") == 1
    late = Postgres("database", "DATABASE_URL", SETTINGS, guest.context)
    late.start()
    assert "rows in users: 1" in late.reset({})[0]
    late.stop()
    with postgres._server.administer("postgres") as admin:
        assert admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone() is None


def test_an_outside_role_without_the_right_is_refused(postgres: Postgres, tmp_path: Path) -> None:
    with pytest.raises(DependencyError, match="may not create databases"):
        outside(postgres, tmp_path, "stranger", "").start()


def test_an_outside_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    context = context_in(tmp_path, tmp_path, postgres="postgres://nobody@127.0.0.1:1/none")
    with pytest.raises(DependencyError, match="does not accept touchstone's connection"):
        Postgres("database", "DATABASE_URL", SETTINGS, context).start()


@pytest.mark.slow
def test_the_embedded_binaries_work_as_the_installed_do(tmp_path: Path, cache: Path) -> None:
    context = context_in(tmp_path, cache, postgres="embedded")
    if lacking := Postgres.missing(context):
        pytest.skip(lacking)
    postgres = Postgres("database", "DATABASE_URL", SETTINGS, context)
    try:
        postgres.start()
    except DependencyError as error:
        if "Maven could not fetch" in str(error):
            pytest.skip(str(error).splitlines()[0])
        raise
    try:
        postgres.reset({})
        assert postgres.read_settings()["server_version"].startswith("17.")
        assert postgres.ask("SELECT count(*) FROM users") == 0
    finally:
        postgres.stop()
