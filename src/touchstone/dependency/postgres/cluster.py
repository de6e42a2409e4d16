"""A PostgreSQL of touchstone's own: made from a template, started as an unprivileged user, and ended whole."""

from __future__ import annotations

import hashlib
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import psycopg

from touchstone.dependency.base import DependencyContext, DependencyError
from touchstone.dependency.postgres.account import Account, private_folder, unprivileged_account
from touchstone.dependency.postgres.address import Address
from touchstone.dependency.postgres.binaries import Installation, find_installation
from touchstone.dependency.postgres.settings import quoted
from touchstone.isolation.affinity import on_cpus
from touchstone.isolation.child import start_child
from touchstone.isolation.family import family
from touchstone.isolation.port import free_port
from touchstone.isolation.process import tail

ROLE = "touchstone"
"""The role, and the password, of the service: a plain user, so that no service can change the server."""
_START_S = 30.0
_STOP_S = 15.0
_INITDB = ["--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync"]
_INITDB += ["--auth-local=trust", "--auth-host=scram-sha-256"]


class Cluster:
    """Administration goes by a socket in a folder for the account alone. Services come by TCP with a password."""

    outside = False

    def __init__(self, name: str, context: DependencyContext) -> None:
        self._name = name
        self._context = context
        self._account: Account | None = None
        self._folder: Path | None = None
        self._sockets: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0
        self._settings: dict[str, str] = {}
        self.installation: Installation | None = None

    @property
    def origin(self) -> str:
        """Where the server's programs came from."""
        return self.installation.origin if self.installation else "not started"

    @property
    def data_folder(self) -> Path | None:
        """Where its files lie, to measure that disk."""
        return self._folder

    @property
    def running(self) -> bool:
        """Whether the server's process lives."""
        return self._process is not None and self._process.poll() is None

    def pids(self) -> list[int]:
        """The postmaster; its backends are its children."""
        return [self._process.pid] if self._process is not None and self.running else []

    def create(self, settings: dict[str, str]) -> None:
        """Lay the data folder and start on a free port. Raises DependencyError."""
        self._account = unprivileged_account()
        found = find_installation(self._context)
        self._context.folder.mkdir(parents=True, exist_ok=True)
        self._context.log_folder.mkdir(parents=True, exist_ok=True)
        self._folder = private_folder(self._account, self._context.folder, f"{self._name}-data")
        # A socket's path may have 107 bytes, and a run's folder may lie deeper than that.
        self._sockets = Path(tempfile.mkdtemp(prefix="touchstone-", dir="/tmp"))
        self._account.own(self._sockets)
        self.installation = self._within_reach(found)
        shutil.copytree(self._template(self.installation), self._folder / "data", symlinks=True)
        (self._folder / "data").chmod(0o700)
        self._account.own(self._folder)
        self._port = free_port()
        self.apply(settings)
        with self.administer("postgres") as connection:
            connection.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{ROLE}'")

    def apply(self, settings: dict[str, str]) -> None:
        """Run with exactly these settings: a restart if they differ, so that those fixed at start change too."""
        if self.running and settings == self._settings:
            return
        self.stop()
        self._settings = dict(settings)
        lines = [f"{name} = {quoted(value)}" for name, value in settings.items()]
        lines += ["listen_addresses = '127.0.0.1'", f"port = {self._port}"]
        lines += [f"unix_socket_directories = {quoted(str(self._sockets))}", "cluster_name = 'touchstone'"]
        path = self._data() / "postgresql.conf"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.start()

    def start(self) -> None:
        """Start it with its present settings and wait until it answers. Raises DependencyError with its log's end."""
        if self.running:
            return
        assert self.installation is not None
        log = self._log()
        begin = log.stat().st_size if log.exists() else 0
        with log.open("ab") as sink, on_cpus(self._context.cpus):
            self._process = start_child(
                [self.installation.bin / "postgres", "-D", self._data()],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                cwd=self._data(),
                env={"PATH": "/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C"},
                **self._identity(),
            )
        until = time.monotonic() + _START_S
        why = ""
        while time.monotonic() < until and self.running:
            try:
                self.administer("postgres").close()
                return
            except psycopg.OperationalError as error:
                why = str(error)
                time.sleep(0.02)
        ended = "did not answer within 30 s" if self.running else "ended at once"
        self.stop()
        last = "\n".join(tail(log, 10, begin))
        raise DependencyError(
            f"PostgreSQL {ended}: {last or why}",
            where=f"dependency {self._name}, log {log}",
            fix="if its log blames a setting, correct it in scenario.toml; check that the disk is not full",
        )

    def stop(self) -> None:
        """End it: fast, then at once, then by force; no backend outlives this."""
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        backends = family(process.pid)[1:]
        for number, patience in ((signal.SIGINT, _STOP_S), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
            process.send_signal(number)
            try:
                process.wait(patience)
                break
            except subprocess.TimeoutExpired:
                backends += family(process.pid)[1:]
        _, alive = psutil.wait_procs(backends, timeout=5)
        for left in alive:
            left.kill()

    def remove(self) -> None:
        """Stop, and remove every folder that was made."""
        self.stop()
        for folder in (self._folder, self._sockets):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
        self._folder = self._sockets = None

    def administer(self, database: str) -> psycopg.Connection[tuple[object, ...]]:
        """A superuser's connection, each statement its own transaction."""
        return psycopg.connect(
            host=str(self._sockets),
            port=self._port,
            user="postgres",
            dbname=database,
            autocommit=True,
            connect_timeout=10,
            application_name="touchstone-lab",
        )

    def service_address(self, database: str) -> Address:
        """The address that a service is given."""
        return Address("127.0.0.1", str(self._port), database, ROLE, ROLE)

    @property
    def owner(self) -> str:
        """The role that owns the service's database."""
        return ROLE

    def _within_reach(self, found: Installation) -> Installation:
        assert self._account is not None and self._folder is not None
        if self._account.reaches(found.bin / "postgres"):
            return found
        copy = self._folder / "programs"
        shutil.copytree(found.root, copy, symlinks=True)
        self._account.own(copy)
        return Installation(copy, copy / found.bin.relative_to(found.root), found.version, found.origin)

    def _template(self, installation: Installation) -> Path:
        """What initdb makes: it takes seconds and is the same each time, so it is made once for a set of programs."""
        assert self._account is not None and self._folder is not None
        print_of = hashlib.sha256(f"{installation.origin} {installation.version} {_INITDB}".encode()).hexdigest()
        kept = self._context.cache / "postgres" / f"initdb-{installation.version}-{print_of[:12]}"
        if kept.is_dir():
            return kept
        fresh = self._folder / "initdb"
        done = subprocess.run(
            [installation.bin / "initdb", *_INITDB, "-D", fresh],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self._folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            timeout=300,
            check=False,
            **self._identity(),
        )
        if done.returncode != 0:
            raise DependencyError(
                f"initdb failed: {(done.stdout + done.stderr).strip()[-2000:]}",
                where=f"dependency {self._name}, {installation.bin / 'initdb'}",
                fix="check that the disk is not full; --postgres names another PostgreSQL",
            )
        kept.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=kept.parent))
        shutil.copytree(fresh, scratch / "data", symlinks=True)
        shutil.rmtree(fresh)
        try:
            (scratch / "data").rename(kept)
        except OSError:
            # Another run was faster; its template is as good.
            if not kept.is_dir():
                raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        return kept

    def _identity(self) -> dict[str, Any]:
        assert self._account is not None
        if self._account.uid is None:
            return {}
        return {"user": self._account.uid, "group": self._account.gid, "extra_groups": []}

    def _data(self) -> Path:
        if self._folder is None:
            raise DependencyError(f"dependency {self._name} was used before it was started")
        return self._folder / "data"

    def _log(self) -> Path:
        return self._context.log_folder / f"{self._name}.log"
