"""The load of a sample as its scenario states it, in one form for all readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field

from touchstone.record.base import EngineRecord
from touchstone.record.secret import shown_job

Value = TypeVar("Value")
_Stated = Annotated[dict[str, Any], AfterValidator(shown_job)]
"""A request, a journey, a step or a proof as a manifest states it; what is secret in it is hidden."""


def _or(default: Value) -> Value:
    """A field with a default, which a record leaves out."""
    return Field(default=default, exclude_if=lambda value: value == default)


class LoadSpec(EngineRecord):
    """What is None the record does not say: of a sample, because it is of an older version; of a plan, the default."""

    title: str = _or("")
    about: str = _or("")
    loop: str | None = _or(None)
    """`closed`, `open`, `steps` or `ramp`."""
    connections: int | None = _or(None)
    rate: float | None = _or(None)
    """Requests per second: of an open loop, and the highest of `steps` and a `ramp`."""
    steps: int | None = _or(None)
    arrivals: str | None = _or(None)
    pipeline: int = _or(1)
    protocol: str = _or("h1")
    """`h1`, `h2c` or `h2`."""
    tls: bool = _or(False)
    """Whether it is spoken over TLS."""
    tls_settings: dict[str, Any] = _or({})
    """How the client speaks TLS, where the scenario says it: names of files, the server's name, the oldest version."""
    streams: int = _or(1)
    """HTTP/2 streams on each connection."""
    keepalive: bool = _or(True)
    requests_per_connection: int | None = _or(None)
    repeat: bool = _or(True)
    timeout_s: float | None = _or(None)
    seconds: float | None = _or(None)
    warmup_s: float | None = _or(None)
    idle_s: float = _or(0.0)
    whole_windows: bool = _or(False)
    exhibit: str | None = _or(None)
    """The defect that it holds on purpose."""
    error_allowance: float = _or(0.0)
    """The share of requests that may fail."""
    memory_limit_mb: int | None = _or(None)
    cpus: float | None = _or(None)
    dependency_settings: dict[str, dict[str, Any]] = _or({})
    """Settings of dependencies that differ under this load, by dependency."""
    rows: str | None = _or(None)
    requests: list[_Stated] = _or([])
    journeys: list[_Stated] = _or([])
    prepare: list[_Stated] = _or([])
    proofs: list[_Stated] = _or([])
    disturb: list[dict[str, Any]] = _or([])
    """Faults of dependencies while the load runs."""

    @property
    def stated_requests(self) -> list[dict[str, Any]]:
        """The requests of the mix, or the steps of all journeys."""
        return [*self.requests, *(step for one in self.journeys for step in one.get("steps") or [])]


def spec_of_job(job: Mapping[str, Any]) -> dict[str, Any]:
    """The load of an engine job, in the form of a specification."""
    named = (
        "connections",
        "pipeline",
        "protocol",
        "streams",
        "keepalive",
        "requests_per_connection",
        "repeat",
        "timeout_s",
    )
    loop = job.get("loop")
    kind = loop.get("kind") if isinstance(loop, Mapping) else loop
    stated = {key: job[key] for key in named if key in job}
    tls = str(job.get("url", "")).startswith("https:")
    return {**stated, "tls": tls, "loop": kind, "requests": [*_stated(job.get("requests") or [])]}


def _stated(requests: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Requests with expectations in a manifest's form. Only exactly stated bodies are included."""
    for request in requests:
        expect = dict(request.get("expect") or {})
        body = expect.get("body")
        if isinstance(body, Mapping):
            expect["body"] = body.get("value") if body.get("kind") == "exact" else None
        yield {**request, "headers": dict(request.get("headers") or []), "expect": expect}
