"""The places that figures are exported to: a port, a collector, a file. What cannot work is refused before a run."""

from __future__ import annotations

import atexit
import json
import logging
import math
import re
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, make_wsgi_app, start_http_server

from touchstone.failure import UsageError
from touchstone.metrics.page import LivePage

_PORT = re.compile(r"(?:(?P<host>\[[0-9A-Fa-f:.]+\]|[^/:\s]+):)?(?P<port>[0-9]+)")
_FILES = {".ndjson", ".jsonl"}
_OTLP_PATH = "/v1/metrics"
_PUSH_EVERY_MS = 2_000
_WAIT_S = 5.0


class ExportPlaces:
    """The open places. Raises UsageError for one that cannot be opened; `say` hears of one that fails later."""

    def __init__(
        self, wanted: list[str], registry: CollectorRegistry, page: LivePage, say: Callable[[str], None]
    ) -> None:
        self._say = say
        self._files: dict[Path, Any] = {}
        self._flush: list[Callable[[], None]] = []
        self._closing = ExitStack()
        atexit.register(self.close)
        for word in wanted:
            port = _PORT.fullmatch(word)
            if word.startswith(("http://", "https://")):
                self._push(word, registry)
            elif port is not None:
                self._serve(word, (port["host"] or "127.0.0.1").strip("[]"), int(port["port"]), registry, page)
            elif Path(word).suffix in _FILES:
                self._open(Path(word))
            else:
                raise UsageError(
                    f"--metrics {word} names no place",
                    fix="give a port, such as 9464, a file, such as live.ndjson, or a collector, such as "
                    "http://127.0.0.1:4318",
                )

    def write(self, line: Mapping[str, Any]) -> None:
        """Append a line to each file. A file that cannot be written is given up, and the run goes on."""
        for path, file in list(self._files.items()):
            try:
                file.write(json.dumps({"at": time.time(), **_finite(line)}, ensure_ascii=False) + "\n")
                file.flush()
            except OSError as error:
                del self._files[path]
                with suppress(OSError):  # What was not written is tried once more.
                    file.close()
                self._say(f"--metrics {path}: no more lines are written: {error.strerror}")

    def flush(self) -> None:
        """Push what collectors do not have yet."""
        for flush in self._flush:
            flush()

    def close(self) -> None:
        """Close all places. The end of the process does so, too."""
        self._closing.close()

    def _open(self, path: Path) -> None:
        try:
            self._files[path] = self._closing.enter_context(path.open("a", encoding="utf-8"))
        except OSError as error:
            fix = "name a file in a folder that is there"
            raise UsageError(f"--metrics {path} cannot be written: {error.strerror}", fix=fix) from error

    def _serve(self, word: str, host: str, port: int, registry: CollectorRegistry, page: LivePage) -> None:
        try:
            server, _ = start_http_server(port, host, registry)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error)
            fix = "name a free port of this machine; 0 takes any"
            raise UsageError(f"--metrics {word} cannot be listened on: {why}", fix=fix) from error
        server.set_app(page.beside(make_wsgi_app(registry)))
        # socketserver would print a traceback for a scraper that breaks off.
        vars(server)["handle_error"] = lambda *_: None
        self._closing.callback(server.server_close)
        self._closing.callback(server.shutdown)
        shown = f"[{host}]" if ":" in host else host
        self._say(f"metrics: http://{shown}:{server.server_port}/metrics")
        self._say(f"curves: http://{shown}:{server.server_port}/")

    def _push(self, url: str, registry: CollectorRegistry) -> None:
        try:
            from touchstone.metrics.otlp import Push  # noqa: PLC0415 - its SDK is an extra
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "opentelemetry":
                raise
            fix = "pip install 'touchstone-lab[otlp]'"
            raise UsageError(f"--metrics {url} needs the OpenTelemetry SDK, which is not installed", fix=fix) from error
        try:
            parts = urlsplit(url)
            address = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
            socket.create_connection(address, timeout=_WAIT_S).close()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            fix = "start the collector, or name its OTLP port for HTTP, usually 4318"
            raise UsageError(f"--metrics {url} cannot be reached: {why}", fix=fix) from error
        endpoint = url if parts.path.strip("/") else f"{url.rstrip('/')}{_OTLP_PATH}"
        logging.getLogger("opentelemetry").addHandler(_Once(url, self._say))
        logging.getLogger("opentelemetry").propagate = False
        push = Push(endpoint, registry, every_ms=_PUSH_EVERY_MS, wait_s=_WAIT_S)
        self._flush.append(push.flush)
        self._closing.callback(push.close)


class _Once(logging.Handler):
    """Says the first failure of a push, and not each."""

    def __init__(self, url: str, say: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._url, self._say, self._said = url, say, False

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        if not self._said:
            self._said = True
            with suppress(Exception):  # A handler must not end the run.
                self._say(f"--metrics {self._url}: a push failed: {record.getMessage()}")


def _finite(value: Any) -> Any:
    """The value with null for numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
