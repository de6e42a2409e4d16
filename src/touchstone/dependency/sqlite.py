"""A SQLite file: a fresh database for each start of a contender, in the contender's own process."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from touchstone.dependency.base import Dependency, DependencyContext, DependencyError, UnknownActError, WorkProgress
from touchstone.dependency.page_cache import changed_pages

_SETTINGS = ("schema", "journal_mode", "synchronous")
_JOURNAL_MODES = ("DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL", "OFF")
_SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


class SqliteFile(Dependency):
    """A SQLite file.

    Settings: `schema` (SQL run on the new file), `journal_mode`, `synchronous`. Each connection of the service must set
    `synchronous` itself; touchstone observes from outside whether it has.

    A question is SQL that gives one value. Act: `execute` with `sql`, a change that the service knows nothing of.
    """

    kind: ClassVar[str] = "sqlite"
    divisible = True
    acts: ClassVar[Mapping[str, tuple[str, ...]]] = {"execute": ("sql",)}

    @classmethod
    def wrong_settings(cls, settings: dict[str, Any], scenario: Path) -> list[tuple[str, str]]:
        """Unknown keys, an unknown journal mode, and a schema that SQLite does not take."""
        found = [(key, f"a SQLite file has no setting {key!r}") for key in settings if key not in _SETTINGS]
        mode = settings.get("journal_mode", "DELETE")
        if str(mode).upper() not in _JOURNAL_MODES:
            found.append(("journal_mode", f"{mode!r} is none of {', '.join(_JOURNAL_MODES)}"))
        if str(level := settings.get("synchronous", "FULL")).upper() not in _SYNCHRONOUS:
            found.append(("synchronous", f"{level!r} is none of {', '.join(_SYNCHRONOUS)}"))
        try:
            with closing(sqlite3.connect(":memory:")) as database:
                database.executescript(str(settings.get("schema", "")))
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            found.append(("schema", f"SQLite does not take the schema: {error}"))
        return found

    @classmethod
    def wrong_query(cls, query: str, settings: dict[str, Any]) -> str | None:
        """Whether SQLite can prepare it over the schema's tables. A service may make others, at its start."""
        try:
            with closing(sqlite3.connect(":memory:")) as database:
                database.executescript(str(settings.get("schema", "")))
                database.execute(f"EXPLAIN {query}")
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            return None if "no such table" in str(error) else f"SQLite does not take the query: {error}"
        return None

    _count = 0
    _parts = 0
    _path: Path | None = None
    _journal_mode: str | None = None

    def __init__(self, name: str, env: str, settings: dict[str, Any], context: DependencyContext) -> None:
        super().__init__(name, env, settings, context)
        self._changed_at: dict[str, int] = {}

    def start(self) -> None:
        """Nothing runs; the folder is all that is needed."""
        self.context.folder.mkdir(parents=True, exist_ok=True)

    def part(self) -> SqliteFile:
        """Files in a folder of their own."""
        self._parts += 1
        context = replace(self.context, folder=self.context.folder / f"part-{self._parts}")
        part = SqliteFile(self.name, self.env, self.settings, context)
        part.start()
        return part

    def reset(self, settings: dict[str, Any]) -> list[str]:
        """Make a new file under a new name, which no process of an earlier contender holds."""
        merged = self.settings | settings
        leftovers = self._remove()
        self._count += 1
        self._path = self.context.folder / f"{self.name}-{self._count}.db"
        with closing(sqlite3.connect(self._path)) as database:
            if mode := merged.get("journal_mode"):
                database.execute(f"PRAGMA journal_mode = {mode}")
            database.executescript(str(merged.get("schema", "")))
            database.commit()
        return leftovers

    def address(self) -> dict[str, str]:
        """The path of the file."""
        return {"path": str(self._file())}

    def folders(self) -> list[Path]:
        """The file's own."""
        return [self._file().parent]

    def ask(self, query: str) -> int | float | str:
        """Run one SQL query, read-only, and give its single value."""
        try:
            with closing(self._reader()) as database:
                row = database.execute(query).fetchone()
        except sqlite3.Error as error:
            raise DependencyError(
                f"the proof's query failed: {error}",
                where=f"dependency {self.name}: {query}",
                fix="fix the query in scenario.toml; it must be SQLite's SQL and give one value",
            ) from error
        value = row[0] if row else ""
        return value if isinstance(value, int | float) else str(value)

    def act(self, act: str, arguments: dict[str, Any]) -> None:
        """`execute` runs `sql` in a connection of touchstone's own: who keeps answers of its own does not notice."""
        if act not in self.acts:
            raise UnknownActError(
                f"dependency {self.name!r} (sqlite) cannot {act!r}", fix=f"its acts are: {', '.join(self.acts)}"
            )
        try:
            with closing(sqlite3.connect(self._file(), timeout=10)) as database:
                database.executescript(str(arguments.get("sql", "")))
        except sqlite3.Error as error:
            raise DependencyError(
                f"the act's SQL failed: {error}",
                where=f"dependency {self.name}: {arguments.get('sql')}",
                fix="fix `with = { sql = ... }` in scenario.toml; it must be SQLite's SQL",
            ) from error

    @contextmanager
    def fault(self, act: str, settings: Mapping[str, Any]) -> Iterator[None]:
        """Hold the write lock in a separate connection. Writers wait; in journal mode WAL readers continue."""
        try:
            with closing(sqlite3.connect(self._file(), timeout=10, isolation_level=None)) as database:
                database.execute("BEGIN IMMEDIATE")
                yield
                database.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise DependencyError(
                f"the write lock could not be taken: {error}",
                where=f"dependency {self.name}",
                fix="check whether the service keeps a transaction open",
            ) from error

    def observe(self) -> dict[str, float]:
        """Bytes of the file and of its write-ahead log, and the rows of all tables."""
        file = self._file()
        wal = file.with_name(file.name + "-wal")
        return {
            "file_bytes": file.stat().st_size,
            "wal_bytes": wal.stat().st_size if wal.exists() else 0,
            "rows": self._rows(),
        }

    def reach(self) -> WorkProgress | None:
        """When the file or its write-ahead log last changed, to a kernel tick of some milliseconds."""
        file = self._file()
        changed = [0]
        for path in (file, file.with_name(file.name + "-wal")):
            with suppress(OSError):
                changed.append(path.stat().st_mtime_ns)
        return WorkProgress(max(changed))

    def written(self) -> dict[str, bool]:
        """Whether the database and its write-ahead log, if any, were written."""
        file, found = self._file(), {}
        for name, path in (("database", file), ("log", file.with_name(file.name + "-wal"))):
            with suppress(OSError):
                changed_at = path.stat().st_mtime_ns
                pages = changed_pages(path)
                if pages is not None and self._changed_at.get(name, changed_at) != changed_at:
                    found[name] = pages.waiting > 0 and not pages.on_their_way
                self._changed_at[name] = changed_at
        return found

    def _reader(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self._file()}?mode=ro", uri=True, timeout=10)

    def _rows(self) -> int:
        """Rows of all tables. Raises DependencyError while they cannot be read."""
        names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        try:
            with closing(self._reader()) as database:
                tables = database.execute(names).fetchall()
                return sum(database.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for (table,) in tables)
        except sqlite3.Error as error:
            raise DependencyError(f"its rows cannot be counted: {error}", where=f"dependency {self.name}") from error

    def structure(self) -> dict[str, list[str]]:
        """By table, its indexes by columns, its triggers, and whether it has no row identifiers."""
        tables = "SELECT name, wr FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        try:
            with closing(self._reader()) as database:
                return {
                    table: sorted([*_indexes(database, table), *_triggers(database, table), *["without rowid"] * keyed])
                    for table, keyed in database.execute(tables).fetchall()
                }
        except sqlite3.Error:
            return {}

    def read_settings(self) -> dict[str, Any]:
        """The journal mode as the file says it."""
        return {"journal_mode": str(self.ask("PRAGMA journal_mode")).upper()}

    def stop(self) -> None:
        """Remove the files."""
        self._remove()

    def _file(self) -> Path:
        if self._path is None:
            raise DependencyError(f"dependency {self.name} was used before it was reset")
        return self._path

    def _remove(self) -> list[str]:
        held = sorted(self.context.folder.glob(f"{self.name}-*.db*"))
        left_over = [str(f.name) for f in held if self._path is None or not f.name.startswith(self._path.name)]
        for file in held:
            file.unlink(missing_ok=True)
        return [f"file {name} was there before the first start" for name in left_over]


def _indexes(database: sqlite3.Connection, table: str) -> list[str]:
    """Indexes, whether created or by a constraint; an expression has no name as a column."""
    found = []
    for name, unique, partial in database.execute('SELECT name, "unique", partial FROM pragma_index_list(?)', (table,)):
        rows = database.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (name,))
        columns = ", ".join(column or "an expression" for (column,) in rows)
        found.append(f"{'unique ' * unique}{'partial ' * partial}index ({columns})")
    return found


def _triggers(database: sqlite3.Connection, table: str) -> list[str]:
    count = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?"
    return ["trigger"] * int(database.execute(count, (table,)).fetchone()[0])
