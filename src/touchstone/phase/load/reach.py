"""Finds loads that a contender cannot get, because of protocol or limits."""

from __future__ import annotations

from touchstone.bench.base import Bench, blank_sample
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.contract import Act
from touchstone.manifest.load import Load
from touchstone.manifest.spoken import SpokenProtocol
from touchstone.record.sample import Sample
from touchstone.vocabulary.figure import FIGURES


def not_spoken(contender: Contender, spoken: SpokenProtocol) -> str | None:
    """Return why a protocol cannot be used with the contender. None if it can."""
    speaks, outside = contender.stack.speaks, contender.outside
    if speaks and spoken.label not in speaks:
        return f"{spoken} is asked for, and the stack says that it does not speak it (`speaks`: {', '.join(speaks)})"
    if outside is not None and spoken.tls != outside.tls:
        return f"{spoken} is asked for, and its URL is {outside.origin}"
    return None


def without_tcp(contender: Contender) -> str | None:
    """Return why a phase that needs TCP is left out. None if it is possible."""
    if contender.outside is None or contender.outside.socket is None:
        return None
    return f"this phase goes over TCP, and the service listens on a Unix socket ({contender.outside.origin})"


def out_of_reach(contender: Contender, load: Load) -> str | None:
    """Return why the contender cannot get the load. None if it can."""
    if why := not_spoken(contender, load.spoken):
        return why
    if contender.outside is None:
        apart = contender.variant.grpc_port is not None and len({one.grpc is None for one in load.all_requests}) > 1
        why = "the load has gRPC calls and other requests, and the stack has a port for each (`grpc_port`)"
        return why if apart else None
    if load.memory_limit_mb is not None or load.cpus is not None:
        return "the load wants a limit of memory or CPUs, and touchstone did not start the service"
    for step in load.prepare:
        if isinstance(step, Act):
            return f"the load's preparation acts on {step.dependency}, which touchstone did not start"
    return None


def unmeasured(
    bench: Bench,
    contender: Contender,
    name: str | None,
    round_number: int | None,
    why: str,
    *,
    phase: str = "load",
    position: int = 0,
) -> Sample:
    """Return the sample of a load that was left out. Each figure has the reason; it is not a failure."""
    sample = blank_sample(bench, phase, contender.name, load=name, round_number=round_number, position=position)
    sample.not_measured = {figure.name: why for figure in FIGURES.values() if figure.phase == phase}
    return sample
