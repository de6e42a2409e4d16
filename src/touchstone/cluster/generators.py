"""The nodes that put load on, as the bench sees them: whole windows and turns, from all of them at once."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

import ray
import ray.exceptions

from touchstone.cluster.clocks import clock_distance
from touchstone.cluster.housekeeping import cpu_seconds, kept_off
from touchstone.cluster.joining import TakenNode, ship_engine, taken_nodes
from touchstone.cluster.nodes import ClusterError, ClusterNode, connect, living_nodes, node_roles, own_node
from touchstone.cluster.relay import relays
from touchstone.engine.client import Event, run_job
from touchstone.engine.protocol import Contender, GeneratorNode, HoldJob, HoldNode, LoadJob, SlicesJob, Traffic
from touchstone.engine.slices import SlicesResult, SlicesSession
from touchstone.plan.placement import available_cpus
from touchstone.record.engine import LoadResult
from touchstone.record.hold_result import HoldResult
from touchstone.record.process import GeneratorPlace


class ClusterGenerators:
    """The load comes from nodes of the cluster, each an equal part of it. This machine leads them and watches."""

    def __init__(self, server: ClusterNode, hands: Sequence[TakenNode]) -> None:
        self._server, self._hands = server, hands

    @property
    def host(self) -> str:
        """The address of the server's node."""
        return self._server.address

    @property
    def places(self) -> Sequence[GeneratorPlace]:
        """The generators with the CPUs that Ray may use there."""
        return [
            GeneratorPlace(name=h.node.name, address=h.node.address, cpus=h.facts["cpus"], model=h.facts["model"])
            for h in self._hands
        ]

    def put_load(self, job: LoadJob, on_event: Callable[[Event], None]) -> LoadResult:
        """Carry it out by the generators; their clocks are measured now. Raises ClusterError, EngineError."""
        with self._reached([job]) as (threads, nodes):
            complete: LoadJob = {**job, "allow_hosts": self._allowed(job), "threads": threads, "generators": nodes}
            before = cpu_seconds()
            result = run_job("load", complete, LoadResult, on_event=on_event)
            result.joining_cpu_s = max(0.0, cpu_seconds() - before)
            return result

    @contextmanager
    def take_turns(
        self, job: SlicesJob, timeout_s: float, on_event: Callable[[Event], None]
    ) -> Iterator[SlicesSession]:
        """Open its session; every turn begins on one instant. Raises ClusterError, EngineError."""
        contenders: list[Contender] = [
            {**one, "job": {**one["job"], "allow_hosts": self._allowed(one["job"])}} for one in job["contenders"]
        ]
        with self._reached([one["job"] for one in contenders]) as (threads, nodes):
            complete: SlicesJob = {**job, "contenders": contenders, "threads": threads, "generators": nodes}
            with _JoinedSession(complete, timeout_s, on_event) as session:
                yield session

    def hold(self, job: HoldJob, on_event: Callable[[Event], None]) -> HoldResult:
        """Hold the connections from the generators, each an equal part. Raises ClusterError, EngineError."""
        self._allowed(job)
        with self._relayed(self._hands, "hold") as links:
            nodes = [_holder(hand, link) for hand, link in zip(self._hands, links, strict=True)]
            return run_job("hold", {**job, "generators": nodes}, HoldResult, on_event=on_event)

    def _allowed(self, job: LoadJob | Traffic | HoldJob) -> list[str]:
        """The host of a job, which may be loaded: the server's node."""
        host = urlsplit(job["url"]).hostname
        if host != self.host:
            raise ClusterError(f"{host} is not a node of the cluster: nothing else is loaded", fix="this is a defect")
        return [host]

    @contextmanager
    def _reached(self, jobs: Sequence[LoadJob | Traffic]) -> Iterator[tuple[int, list[GeneratorNode]]]:
        """Threads of all, and the generators for as long as they can be reached: as many as have a connection each."""
        connections = min(job["connections"] for job in jobs)
        hands = self._hands[:connections]
        threads = min(connections // len(hands), *(len(hand.facts["cpus"]) for hand in hands))
        with self._relayed(hands, "load") as links:
            yield threads * len(hands), [_generator(hand, link) for hand, link in zip(hands, links, strict=True)]

    @contextmanager
    def _relayed(self, hands: Sequence[TakenNode], kind: Literal["load", "hold"]) -> Iterator[list[Path]]:
        # A path of a Unix socket has room for some hundred bytes.
        with (
            tempfile.TemporaryDirectory(prefix="touchstone-", dir="/tmp") as folder,
            relays([(hand.node, hand.agent) for hand in hands], kind, Path(folder)) as links,
        ):
            yield links


class _JoinedSession(SlicesSession):
    """A session that measures the cost of joining the machines, for each contender separately."""

    def __enter__(self) -> Self:
        self._began, self._before = time.monotonic(), cpu_seconds()
        return super().__enter__()

    def finish(self, after_s: float) -> SlicesResult:
        busy = max(0.0, cpu_seconds() - self._before) / (time.monotonic() - self._began)
        result = super().finish(after_s)
        for one in result.contenders:
            one.joining_cpu_s = busy * one.window.whole_s
        return result


def _generator(hand: TakenNode, link: Path) -> GeneratorNode:
    """A generator in the form of the engine's protocol."""
    try:
        distance = clock_distance(hand.clock_s)
    except ray.exceptions.RayError as error:
        raise ClusterError(f"node {hand.node} is lost: its clock cannot be read", fix="see its raylet's log") from error
    return {
        "name": hand.node.name,
        "link": str(link),
        "cpus": hand.facts["cpus"],
        "open_files": hand.facts["open_files"],
        "clock_ahead_s": distance.ahead_s,
        "clock_residual_s": distance.residual_s,
    }


def _holder(hand: TakenNode, link: Path) -> HoldNode:
    """A generator that holds connections, in the form of the engine's protocol."""
    return {
        "name": hand.node.name,
        "link": str(link),
        "cpus": hand.facts["cpus"],
        "open_files": hand.facts["open_files"],
        "ports": hand.facts["ports"],
    }


@contextmanager
def joined(address: str) -> Iterator[ClusterGenerators]:
    """Take this machine, a server's node, and its generators for as long as the context lasts.

    Raises ClusterError, UsageError.
    """
    connect(address)
    try:
        nodes = living_nodes()
        cast = next((cast for cast in node_roles(nodes) if cast.server == own_node(nodes)), None)
        if cast is None:
            raise ClusterError("this machine is not a server's node of the cluster", fix="this is a defect")
        with taken_nodes([cast.server, *cast.generators]) as hands, kept_off(available_cpus()):
            for hand in hands[1:]:
                ship_engine(hand)
            yield ClusterGenerators(cast.server, hands[1:])
    finally:
        ray.shutdown()
