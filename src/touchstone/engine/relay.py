"""The engine's relay between a service and a dependency, as a process that takes orders."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import psutil

from touchstone.engine.client import EngineError, read_as
from touchstone.engine.locate import engine_path
from touchstone.engine.protocol import Act, RelayOrder
from touchstone.isolation.child import start_child
from touchstone.isolation.family import cpu_seconds
from touchstone.record.evidence.disturb import RelayAnswer

_ENDS_WITHIN_S = 5.0


class Relay:
    """A context: a relay that listens at `host:port` of this machine, and ends with the context. Raises EngineError."""

    def __init__(self, host: str, port: int, cpus: Sequence[int] = ()) -> None:
        self.place = host, str(port)
        self._cpus = cpus

    def __enter__(self) -> Self:
        self._process = start_child(
            [
                engine_path(),
                "relay",
                f"--listen={self.place[0]}:{self.place[1]}",
                *([f"--cpus={','.join(map(str, self._cpus))}"] if self._cpus else []),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr  # they were asked for as pipes
        self._orders, self._answers = self._process.stdin, self._process.stdout
        self._errors = self._process.stderr
        self._read()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it: it ends with its input."""
        # Closing writes again what a relay that has ended did not take.
        with suppress(OSError):
            self._orders.close()
        try:
            self._process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._answers.close()
        self._errors.close()

    def cpu_s(self) -> float:
        """CPU seconds that it has used; 0 if it has ended."""
        with suppress(psutil.NoSuchProcess):
            return cpu_seconds(psutil.Process(self._process.pid)) or 0.0
        return 0.0

    def aim(self, host: str, port: str) -> None:
        """Connect to the dependency at this address from now on."""
        self._tell({"order": "aim", "to": f"[{host}]:{port}" if ":" in host else f"{host}:{port}"})

    def act(self, act: Act) -> RelayAnswer:
        """Do this to connections from now on; the counts at that moment."""
        return self._tell({"order": "act", "act": act})

    def count(self) -> RelayAnswer:
        """The counts now."""
        return self._tell({"order": "count"})

    def _tell(self, order: RelayOrder) -> RelayAnswer:
        try:
            self._orders.write(json.dumps(order) + "\n")
            self._orders.flush()
        except OSError as error:
            raise self._ended() from error
        answer = read_as(RelayAnswer, self._read(), "the relay's answer")
        if answer.error is not None:
            raise EngineError(f"the relay: {answer.error}", fix="if its port is taken, run again")
        return answer

    def _read(self) -> Any:
        line = self._answers.readline()
        if not line:
            raise self._ended()
        return json.loads(line)

    def _ended(self) -> EngineError:
        said = self._errors.read().strip()
        return EngineError(f"the relay ended: {said or 'no message'}", fix="if its port is taken, run again")
