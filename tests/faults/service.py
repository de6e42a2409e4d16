"""A small service with a dependency (SQLite, PostgreSQL, a downstream), which behaves as the file `behaviour` says."""

from __future__ import annotations

import contextlib
import http.client
import os
import queue
import socket
import sqlite3
import sys
import threading
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg

KNOWN = {
    "lose_every",
    "write_later_ms",
    "answer_first",
    "double_every",
    "keep_in_memory",
    "journal_delete",
    "stray_file",
    "do_not_wait",
    "remember",
    "call_twice",
    "sessions_leak",
    "heavy",
    "one_session",
    "store",
    "forget",
    "isolate",
    "skip_every",
    "sync_off",
    "own_index",
    "count_up",
    "lose_updates",
    "lose_updates_from",
    "find",
    "keep_found",
    "pass_on",
    "skip_from",
    "lax_from",
    "late_from",
    "stale_from",
    "share_value",
}
DATABASE = os.environ.get("DATABASE_PATH")
DOWNSTREAM = os.environ.get("DOWNSTREAM_URL")
POSTGRES = os.environ.get("DATABASE_URL")


def read_knobs() -> dict[str, int]:
    lines = (line.partition("=") for line in Path("behaviour").read_text().splitlines())
    found = {name.strip(): int(value) for name, _, value in lines}
    if unknown := set(found) - KNOWN:
        sys.exit(f"there is no knob {unknown}")
    return found


KNOBS = read_knobs()


def knob(name: str) -> int:
    return KNOBS.get(name, 0)


def neighbours_port() -> int | None:
    """Where another process of this program listens, of those that were started together."""
    for process in psutil.Process(os.getppid()).children():
        with contextlib.suppress(psutil.Error, KeyError):
            if process.pid != os.getpid() and process.cmdline()[-1:] == sys.orig_argv[-1:]:
                return int(process.environ()["PORT"])
    return None


class Service:
    """What the threads share, and what each keeps for itself."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.own = threading.local()
        self.served = 0
        self.current = ""
        self.names: list[str] = []
        self.open = 0
        self.sessions: list[psycopg.Connection[tuple[object, ...]]] = []
        self.remembered = False
        self.late: queue.SimpleQueue[str] = queue.SimpleQueue()
        if knob("write_later_ms"):
            threading.Thread(target=self.write_late, daemon=True).start()

    def crowded(self, name: str) -> bool:
        """Whether as many connections are open as a knob says, which a load has and a check has not."""
        return bool(knob(name)) and self.open >= knob(name)

    def insert(self, name: str, number: int) -> None:
        if self.crowded("skip_from"):
            return
        if self.crowded("late_from"):
            threading.Timer(0.02, self.store, (name, 1)).start()
            return
        if knob("keep_in_memory") or (knob("lose_every") and number % knob("lose_every") == 0):
            self.names.append(name)
            return
        if knob("write_later_ms"):
            self.late.put(name)
            return
        if knob("answer_first"):
            threading.Timer(0.002, self.store, (name, 1)).start()
            return
        if knob("count_up"):
            self.count(name)
            return
        self.store(name, 1 + (bool(knob("double_every")) and number % knob("double_every") == 0))

    def store(self, name: str, times: int) -> None:
        self.open_database()
        for _ in range(times):
            self.own.database.execute("INSERT INTO items(name) VALUES (?)", (name,))

    def count(self, name: str) -> None:
        """Add one to a name's total: in one statement, or by writing what was read a little earlier."""
        self.open_database()
        database = self.own.database
        if not knob("lose_updates") and not self.crowded("lose_updates_from"):
            database.execute(
                "INSERT INTO totals VALUES (?, 1) ON CONFLICT(name) DO UPDATE SET value = value + 1", (name,)
            )
            return
        row = database.execute("SELECT value FROM totals WHERE name = ?", (name,)).fetchone()
        time.sleep(0.001)
        database.execute("INSERT OR REPLACE INTO totals VALUES (?, ?)", (name, (row[0] if row else 0) + 1))

    def open_database(self) -> None:
        if not hasattr(self.own, "database"):
            self.own.database = sqlite3.connect(str(DATABASE), timeout=10, isolation_level=None)
            self.own.database.execute(f"PRAGMA synchronous = {'OFF' if knob('sync_off') else 'NORMAL'}")
            if knob("own_index"):
                self.own.database.execute("CREATE INDEX IF NOT EXISTS by_name ON items(name)")

    def find(self, name: str) -> bool:
        if knob("keep_found") and name in self.names:
            return True
        if self.crowded("stale_from") and name in self.own.__dict__.setdefault("seen", set()):
            return True
        self.open_database()
        found = self.own.database.execute("SELECT 1 FROM items WHERE name = ?", (name,)).fetchone() is not None
        if knob("keep_found") and found and self.served >= knob("keep_found"):
            self.names.append(name)
        if found and self.crowded("stale_from"):
            self.own.seen.add(name)
        return found

    def write_late(self) -> None:
        self.open_database()
        while True:
            time.sleep(knob("write_later_ms") / 1000)
            self.own.database.execute("BEGIN IMMEDIATE")
            while not self.late.empty():
                self.own.database.execute("INSERT INTO items(name) VALUES (?)", (self.late.get(),))
            self.own.database.execute("COMMIT")

    def call(self) -> None:
        if not hasattr(self.own, "downstream"):
            place = urllib.parse.urlsplit(str(DOWNSTREAM)).netloc
            self.own.downstream = http.client.HTTPConnection(place, timeout=10)
        self.own.downstream.request("GET", "/echo")
        self.own.downstream.getresponse().read()

    def pass_on(self, target: str) -> tuple[int, str] | None:
        """What a neighbour answers; None while none is there, as when the contract is checked."""
        if not hasattr(self.own, "neighbour"):
            port = neighbours_port()
            if port is None:
                return None
            self.own.neighbour = http.client.HTTPConnection(os.environ["HOST"], port, timeout=10)
        self.own.neighbour.request("GET", target)
        answer = self.own.neighbour.getresponse()
        return answer.status, answer.read().decode()

    def relay(self) -> None:
        if knob("remember") and self.remembered:
            return
        if knob("do_not_wait"):
            threading.Thread(target=self.call, daemon=True).start()
            return
        for _ in range(1 + knob("call_twice")):
            self.call()
        self.remembered = True

    def query(self) -> None:
        if knob("remember") and self.remembered:
            return
        self.remembered = True
        if knob("one_session"):
            with self.lock:
                if not self.sessions:
                    self.sessions.append(psycopg.connect(str(POSTGRES), autocommit=True))
                self.sessions[0].execute("SELECT pg_sleep(0.001)").fetchone()
            return
        if knob("sessions_leak") or not hasattr(self.own, "session"):
            self.own.session = psycopg.connect(str(POSTGRES), autocommit=True)
            self.sessions.append(self.own.session)
        if knob("store"):
            self.store_row()
        elif knob("heavy"):
            self.own.session.execute("SELECT sum(i % 7) FROM generate_series(1, 100000) i").fetchone()
        else:
            self.own.session.execute("SELECT name FROM known WHERE id = 1").fetchone()

    def store_row(self) -> None:
        if not hasattr(self.own, "ready"):
            with self.lock:
                self.own.session.execute("CREATE TABLE IF NOT EXISTS kept (id serial PRIMARY KEY, at text)")
            if knob("forget"):
                self.own.session.execute("SET synchronous_commit = off")
            if knob("isolate"):
                self.own.session.execute("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE")
            self.own.ready = True
        self.own.session.execute("INSERT INTO kept (at) VALUES ('now')")

    def answer(self, method: str, target: str) -> tuple[int, str]:
        path, _, rest = target.partition("?")
        if path == "/ping":
            return (200, "pong") if method == "GET" else (405, "method not allowed")
        value = rest.partition("=")[2]
        if path == "/find" and knob("find"):
            return (200, "found") if self.find(value) else (404, "not found")
        if path != "/work":
            return 404, "not found"
        if not value and not self.crowded("lax_from"):
            return 400, "a number is needed"
        if knob("pass_on") and (answer := self.pass_on(target)) is not None:
            return answer
        with self.lock:
            self.served += 1
            number = self.served
        if knob("skip_every") and number % knob("skip_every") == 0:
            return 200, f"done {value}"
        if knob("share_value"):
            self.current = value
            time.sleep(0.002)
            value = self.current
        if DATABASE:
            self.insert(value, number)
        if DOWNSTREAM:
            self.relay()
        if POSTGRES:
            self.query()
        return 200, f"done {value}"

    @contextlib.contextmanager
    def leaving(self) -> Iterator[None]:
        try:
            yield
        finally:
            with self.lock:
                self.open -= 1

    def serve(self, connection: socket.socket) -> None:
        held = b""
        with self.lock:
            self.open += 1
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.leaving(), connection, contextlib.suppress(OSError):
            while True:
                while b"\r\n\r\n" not in held:
                    part = connection.recv(65536)
                    if not part:
                        return
                    held += part
                head, _, held = held.partition(b"\r\n\r\n")
                method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ", 2)
                status, body = self.answer(method, target)
                fields = "Allow: GET\r\n" if status == 405 else ""
                connection.sendall(
                    f"HTTP/1.1 {status} X\r\nContent-Type: text/plain\r\n{fields}"
                    f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
                )
                if b"connection: close" in head.lower():
                    return


def prepare() -> None:
    if not DATABASE:
        return
    with sqlite3.connect(DATABASE) as database:
        if knob("journal_delete"):
            database.execute("PRAGMA journal_mode = DELETE")
    if knob("stray_file"):
        Path(DATABASE.rpartition("-")[0] + "-old.db").touch()


def main() -> None:
    prepare()
    service = Service()
    listener = socket.create_server((os.environ["HOST"], int(os.environ["PORT"])), backlog=512)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=service.serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()
