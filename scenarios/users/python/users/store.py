"""The users, in SQLite."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import LifoQueue
from threading import Lock

SCHEMA = """CREATE TABLE IF NOT EXISTS users(
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, UNIQUE(name))"""


class NameTakenError(Exception):
    """The name is registered already."""


class Store:
    """Safe for use by many threads: each query takes a connection of the pool."""

    def __init__(self, path: Path, pool: int, busy_timeout_s: float) -> None:
        self._idle: LifoQueue[sqlite3.Connection] = LifoQueue()
        # SQLite has one writer at a time. Waiting here ends at once when the turn comes; waiting in SQLite's busy
        # handler is a sleep that others overtake.
        self._writing = Lock()
        for _ in range(pool):
            self._idle.put(_connect(path, busy_timeout_s))
        with self._connection() as database:
            database.execute(SCHEMA)

    def add(self, name: str) -> None:
        with self._writing, self._connection() as database:
            try:
                database.execute("INSERT INTO users(name) VALUES (?)", (name,))
            except sqlite3.IntegrityError as error:
                raise NameTakenError(name) from error

    def find(self, name: str) -> str | None:
        with self._connection() as database:
            row = database.execute("SELECT name FROM users WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    def close(self) -> None:
        """Close what is idle; to be called when no query is under way."""
        while not self._idle.empty():
            self._idle.get().close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        database = self._idle.get()
        try:
            yield database
        finally:
            self._idle.put(database)


def _connect(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    # Without an isolation level each statement commits by itself.
    database = sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    return database
