"""The broker: one of touchstone's own, controller and broker in one JVM, or one that somebody else runs."""

from __future__ import annotations

import shutil
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path

import psutil

from touchstone.dependency.base import DependencyContext, DependencyError
from touchstone.dependency.kafka.jars import JAVA, VERSION, class_path
from touchstone.isolation.port import free_port
from touchstone.isolation.process import ServerProcess, StartError, start_process, tail
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

_START_S = 60.0
_STOP_S = 15.0
_JVM = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.showDateTime=true")
"""Small, and quick to start: the broker shares its CPU on small machines. The topics fit into the page cache."""
_HOST = "127.0.0.1"


class OwnBroker:
    """Formatted in the dependency's folder, bound to its CPUs, ended with the run."""

    outside = False

    def __init__(self, name: str, context: DependencyContext) -> None:
        self._name = name
        self._context = context
        self._process: ServerProcess | None = None
        self._port = 0
        self._relayed_port: int | None = None
        self._java = Path()

    @property
    def address(self) -> str:
        """Where clients find it."""
        return f"{_HOST}:{self._port}"

    def relayed_at(self) -> tuple[str, str]:
        """Host and port of the listener for a relay. Raises DependencyError if no load wanted one."""
        if self._relayed_port is None:
            raise DependencyError(
                "the broker was started without a listener for a relay", where=f"dependency {self._name}"
            )
        return _HOST, str(self._relayed_port)

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._process is not None and self._process.exited() is None

    def pids(self) -> list[int]:
        """The broker's process."""
        return [self._process.pid] if self._process is not None and self.running else []

    def create(self) -> None:
        """Write the settings and format the log folder. Raises DependencyError."""
        java = find_tool("java", JAVA)
        if not isinstance(java, FoundTool):
            raise DependencyError(f"Kafka {java}", where=f"dependency {self._name}")
        self._java = java.path
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self._port, controller = free_port(), free_port()
        listeners, advertised = [f"PLAINTEXT://{self.address}"], [f"PLAINTEXT://{self.address}"]
        if self._context.relay_port is not None:
            # Clients go on to the address that a broker gives out, which is to be the relay's.
            self._relayed_port = free_port()
            listeners.append(f"RELAYED://{_HOST}:{self._relayed_port}")
            advertised.append(f"RELAYED://{_HOST}:{self._context.relay_port}")
        properties = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@{_HOST}:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": ",".join([*listeners, f"CONTROLLER://{_HOST}:{controller}"]),
            "advertised.listeners": ",".join(advertised),
            "inter.broker.listener.name": "PLAINTEXT",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,RELAYED:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": self._folder / "data",
            "auto.create.topics.enable": "false",
            # One node has one replica of everything; one partition of offsets is enough for one group.
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            # The default of 3 s waits for further members of a new group; here there is one.
            "group.initial.rebalance.delay.ms": 0,
            "num.network.threads": 2,
            "num.io.threads": 2,
        }
        settings = "".join(f"{key}={value}\n" for key, value in properties.items())
        self._settings.write_text(settings, encoding="utf-8")
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # As one word: an identifier may begin with a hyphen, and by itself would be taken for an option.
        named = f"--cluster-id={cluster}"
        command = self._command("kafka.tools.StorageTool", "format", named, "-c", str(self._settings))
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise DependencyError(
                f"Kafka's folder could not be formatted: {(done.stdout + done.stderr).strip()[-1000:]}",
                where=f"dependency {self._name}",
                fix="check that the disk is not full; run it by hand: " + " ".join(command),
            )

    def start(self, answers: Callable[[], bool]) -> None:
        """Start it if it is down, and wait until it `answers`. Raises DependencyError with the end of its log."""
        if self.running:
            return
        log = self._context.log_folder / f"{self._name}.log"
        try:
            self._process = start_process(
                self._command("kafka.Kafka", str(self._settings)),
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
                cwd=self._folder,
                log=log,
                cpus=self._context.cpus,
            )
        except StartError as error:
            raise DependencyError(f"the broker: {error.what}", where=error.where, fix=error.fix) from error
        until = time.monotonic() + _START_S
        while time.monotonic() < until and self.running:
            if answers():
                return
            time.sleep(0.05)
        ended = self._process.exited() or f"did not answer within {_START_S:g} s"
        self.stop()
        raise DependencyError(
            f"the broker {ended}: {' / '.join(tail(log, 5))}",
            where=f"dependency {self._name}, log {log}",
            fix="read its log; check that no port is taken and the disk is not full",
        )

    def stop(self) -> None:
        """End it: asked first, by force after a while."""
        process, self._process = self._process, None
        if process is not None:
            process.stop(_STOP_S)

    def kill(self) -> None:
        """End it at once, as a crash does; its files stay as they are."""
        process, self._process = self._process, None
        if process is not None:
            process.popen.kill()
            process.popen.wait()

    def remove(self) -> None:
        """Stop it and remove its files."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def memory(self) -> int | None:
        """Its RSS in bytes; None while it is down."""
        try:
            return int(psutil.Process(self.pids()[0]).memory_info().rss) if self.running else None
        except psutil.NoSuchProcess:
            return None

    def described(self) -> dict[str, str]:
        """What runs, for the record."""
        return {"broker": f"Apache Kafka {VERSION}, touchstone's own", "jvm": " ".join(_JVM[:3])}

    @property
    def _folder(self) -> Path:
        return self._context.folder / self._name

    @property
    def _settings(self) -> Path:
        return self._folder / "server.properties"

    def _command(self, main: str, *arguments: str) -> list[str]:
        return [str(self._java), *_JVM, "-cp", class_path(self._context), main, *arguments]


class OutsideBroker:
    """Named by --kafka: used, never stopped.

    Touchstone makes and removes its own topic and group there, and no others.
    """

    outside = True
    running = True

    def __init__(self, name: str, address: str) -> None:
        self._name = name
        self.address = address

    def pids(self) -> list[int]:
        """None that are touchstone's."""
        return []

    def create(self) -> None:
        """Nothing is made before the topic."""

    def start(self, answers: Callable[[], bool]) -> None:
        """See that it answers. Raises DependencyError."""
        until = time.monotonic() + 10
        while not answers():
            if time.monotonic() > until:
                raise DependencyError(
                    f"the broker of --kafka, {self.address}, does not answer",
                    where=f"dependency {self._name}",
                    fix="check that it runs and advertises an address that this machine can reach",
                )
            time.sleep(0.1)

    def stop(self) -> None:
        """It is not touchstone's to stop."""
        raise self._not_ours("stop")

    def kill(self) -> None:
        """It is not touchstone's to kill."""
        raise self._not_ours("kill")

    def remove(self) -> None:
        """Nothing of it is touchstone's."""

    def relayed_at(self) -> tuple[str, str]:
        """An outside broker gives out its own address, which leads around a relay. Raises DependencyError."""
        raise DependencyError(
            "an outside broker gives out its own address, which leads around the relay of `disturb`",
            where=f"dependency {self._name}",
            fix="leave --kafka out, and touchstone runs its own; or leave out the load that disturbs it",
        )

    def memory(self) -> int | None:
        """Not known."""
        return None

    def described(self) -> dict[str, str]:
        """What runs, for the record."""
        return {"broker": f"outside broker at {self.address}"}

    def _not_ours(self, act: str) -> DependencyError:
        return DependencyError(
            f"touchstone does not {act} a broker that it did not start",
            where=f"dependency {self._name}",
            fix="leave out --kafka, and touchstone starts its own",
        )
