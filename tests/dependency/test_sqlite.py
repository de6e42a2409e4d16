"""A SQLite file: what the lab counts in it, does to it, and sees of its durability from outside."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from touchstone.dependency.base import DependencyContext, DependencyError, UnknownActError
from touchstone.dependency.page_cache import changed_pages
from touchstone.dependency.sqlite import SqliteFile
from touchstone.vocabulary.dependency import DEPENDENCIES

SCHEMA = 'CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE "odd name"(x);'


@pytest.fixture
def store(tmp_path: Path) -> SqliteFile:
    context = DependencyContext(tmp_path / "store", tmp_path, (0,), tmp_path / "engine", tmp_path / "cache")
    made = SqliteFile("store", "DATABASE_PATH", {"journal_mode": "WAL", "schema": SCHEMA}, context)
    made.start()
    made.reset({})
    return made


def write(store: SqliteFile, level: str, rows: int) -> dict[str, bool]:
    """Insert rows and bring them into the database's own file; what was then seen of it, while it was still open."""
    with closing(sqlite3.connect(store.environment()["DATABASE_PATH"], isolation_level=None)) as database:
        database.execute(f"PRAGMA synchronous = {level}")
        store.written()
        for number in range(rows):
            database.execute("INSERT INTO items(name) VALUES (?)", (f"{number}" * 200,))
        database.execute("PRAGMA wal_checkpoint(PASSIVE)")
        return store.written()


def test_rows_of_all_tables_are_counted(store: SqliteFile) -> None:
    write(store, "NORMAL", 30)
    store.act("execute", {"sql": 'INSERT INTO "odd name" VALUES (1); DELETE FROM items WHERE id = 1'})
    assert store.observe()["rows"] == 30


def test_the_structure_of_a_table_holds_no_names_and_no_rows(store: SqliteFile) -> None:
    with closing(sqlite3.connect(store.address()["path"])) as database:
        database.executescript(
            "CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, age INT, UNIQUE(name));"
            'CREATE INDEX "by age" ON users(age, name) WHERE age > 1; CREATE UNIQUE INDEX lower ON users(lower(name));'
            "CREATE TRIGGER seen AFTER INSERT ON users BEGIN SELECT 1; END;"
            "CREATE TABLE pairs(a INT, b INT, PRIMARY KEY(a, b)) WITHOUT ROWID"
        )
    structure = store.structure()
    assert structure["users"] == [
        "partial index (age, name)",
        "trigger",
        "unique index (an expression)",
        "unique index (name)",
    ]
    assert structure["pairs"] == ["unique index (a, b)", "without rowid"]
    assert store.state({}, {}, []).structure == structure


def test_a_service_gets_the_path_and_what_is_made_of_it_and_so_does_a_part(store: SqliteFile) -> None:
    store.context = replace(store.context, variables={"JDBC": "jdbc:sqlite:{path}"})
    part = store.part()
    part.reset({})
    for one in (store, part):
        assert tuple(one.address()) == DEPENDENCIES["sqlite"].address
        path = one.environment()["DATABASE_PATH"]
        assert one.environment()["JDBC"] == f"jdbc:sqlite:{path}"
        assert one.folders() == [Path(path).parent]
    assert part.folders() != store.folders()


def test_what_is_no_act_and_no_sql_is_said(store: SqliteFile) -> None:
    with pytest.raises(UnknownActError, match="execute"):
        store.act("explode", {})
    with pytest.raises(DependencyError, match="SQL failed"):
        store.act("execute", {"sql": "DELETE FROM nowhere"})


@pytest.mark.parametrize(("level", "waits"), [("OFF", True), ("NORMAL", False), ("FULL", False)])
def test_who_does_not_sync_is_seen_from_outside(store: SqliteFile, level: str, waits: bool, tmp_path: Path) -> None:
    (tmp_path / "probe").write_bytes(b"x" * 4096)
    pages = changed_pages(tmp_path / "probe")
    if pages is None or not pages.waiting:
        pytest.skip("the kernel does not say which pages of a file on this file system wait (cachestat, Linux 6.5)")
    assert write(store, level, 2_000)["database"] is waits


def test_only_a_file_that_changes_is_looked_at(store: SqliteFile, tmp_path: Path) -> None:
    write(store, "NORMAL", 10)
    store.written()
    assert store.written() == {}
    assert changed_pages(tmp_path / "nothing") is None


def test_an_unknown_level_is_named() -> None:
    assert SqliteFile.wrong_settings({"synchronous": "SOMETIMES"}, Path())[0][0] == "synchronous"
