"""Pushes what a registry holds to a collector, by the OpenTelemetry Protocol over HTTP."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

import requests
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from prometheus_client import CollectorRegistry


class Push:
    """Pushes a registry's counters and gauges until it is closed."""

    def __init__(self, endpoint: str, registry: CollectorRegistry, *, every_ms: int, wait_s: float) -> None:
        session = requests.Session()
        # A proxy of the environment is for other machines.
        session.trust_env = not _is_loopback(urlsplit(endpoint).hostname or "")
        exporter = OTLPMetricExporter(endpoint, timeout=wait_s, session=session)
        reader = PeriodicExportingMetricReader(exporter, every_ms, wait_s * 1000)
        self._provider = MeterProvider(
            [reader], Resource.create({"service.name": "touchstone"}), shutdown_on_exit=False
        )
        self._wait_ms = round(wait_s * 1000)
        meter = self._provider.get_meter("touchstone")
        for family in registry.collect():
            create = meter.create_observable_counter if family.type == "counter" else meter.create_observable_gauge
            create(family.name, [_observer(registry, family.name)], description=family.documentation)

    def flush(self) -> None:
        """Push now."""
        self._provider.force_flush(self._wait_ms)

    def close(self) -> None:
        """End the pushes."""
        self._provider.shutdown(self._wait_ms)


def _observer(registry: CollectorRegistry, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
    # A counter's values are named `_total`; the restricted registry collects no other family.
    own = registry.restricted_registry([name, f"{name}_total"])

    def observe(_options: CallbackOptions) -> Iterable[Observation]:
        yield from (Observation(one.value, one.labels) for family in own.collect() for one in family.samples)

    return observe


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
