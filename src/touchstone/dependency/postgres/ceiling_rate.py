"""The database's tare: how many requests' worth of statements it carries out by itself."""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

from touchstone.dependency.base import DependencyError
from touchstone.dependency.postgres.address import Address
from touchstone.dependency.postgres.settings import CeilingStatements
from touchstone.isolation.affinity import on_cpus

_SECONDS = 3
_VARIABLE = re.compile(r"(?<!:):(\w+)")


def by_pgbench(pgbench: Path, address: Address, tare: CeilingStatements, cpus: tuple[int, ...]) -> float:
    """Rounds of the statements per second by pgbench, prepared, over the tare's connections. Raises DependencyError."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "request.sql"
        script.write_text(pgbench_script(tare.statements), encoding="utf-8")
        command = [str(pgbench), "--no-vacuum", "--protocol=prepared", f"--file={script}"]
        command += [f"--client={tare.connections}", f"--jobs={min(2, tare.connections)}", f"--time={_SECONDS}"]
        command += ["-h", address.host, "-p", address.port, "-U", address.user]
        with on_cpus(cpus):
            done = subprocess.run(
                [*command, address.database],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
                env={"PGPASSWORD": address.password, "PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            )
    rate = re.search(r"^tps = ([\d.]+)", done.stdout, re.MULTILINE)
    if done.returncode != 0 or rate is None:
        raise DependencyError(
            f"pgbench failed: {(done.stderr or done.stdout).strip()[-1000:]}",
            fix="fix the statements of `tare` in scenario.toml; each must run on the dependency's schema",
        )
    return float(rate.group(1))


def by_driver(connect: Callable[[], psycopg.Connection[tuple[object, ...]]], tare: CeilingStatements) -> float:
    """The same by psycopg, a thread a connection, where there is no pgbench. Python bounds it: the truth is no less."""
    counts = [0] * tare.connections
    errors: list[psycopg.Error] = []
    ready = threading.Barrier(tare.connections + 1)
    over = threading.Event()

    def work(index: int) -> None:
        try:
            with connect() as connection:
                connection.prepare_threshold = 0
                ready.wait(10)
                while not over.is_set():
                    _one_round(connection, tare.statements)
                    counts[index] += 1
        except psycopg.Error as error:
            errors.append(error)
            ready.abort()
        except threading.BrokenBarrierError:
            return

    workers = [threading.Thread(target=work, args=(index,)) for index in range(tare.connections)]
    for worker in workers:
        worker.start()
    try:
        ready.wait(10)
        begin = time.monotonic()
        over.wait(_SECONDS)
        rate = sum(counts) / (time.monotonic() - begin)
    except threading.BrokenBarrierError:
        rate = 0.0
    finally:
        over.set()
        for worker in workers:
            worker.join(10)
    if errors:
        raise DependencyError(
            f"a statement of the tare failed: {str(errors[0]).strip()}",
            fix="fix the statements of `tare` in scenario.toml; each must run on the dependency's schema",
        )
    return rate


def pgbench_script(statements: tuple[str, ...]) -> str:
    """The statements as a pgbench script: one whose columns are used later keeps its row by `gset`."""
    used = [{match.group(1) for match in _VARIABLE.finditer(later)} for later in statements]
    lines = []
    for index, statement in enumerate(statements):
        returns = re.search(r"\breturning\s+(.*)$|^\s*select\s", statement, re.IGNORECASE)
        wanted = set().union(*used[index + 1 :])
        keeps = bool(returns) and any(re.search(rf"\b{name}\b", statement) for name in wanted - used[index])
        lines.append(f"{statement} \\gset" if keeps else f"{statement};")
    return "\n".join(lines) + "\n"


def _one_round(connection: psycopg.Connection[tuple[object, ...]], statements: tuple[str, ...]) -> None:
    values: dict[str, object] = {}
    for statement in statements:
        cursor = connection.execute(_VARIABLE.sub(r"%(\1)s", statement), values)
        if cursor.description is not None and (row := cursor.fetchone()) is not None:
            values |= {column.name: value for column, value in zip(cursor.description, row, strict=True)}
