"""Takes the nodes of a cluster for a run, all or none, and gives them back."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import ray
import ray.cloudpickle
import ray.exceptions
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from touchstone.cluster import agent as agent_module
from touchstone.cluster.clocks import clock_distance
from touchstone.cluster.housekeeping import cpu_seconds, kept_off
from touchstone.cluster.nodes import ClusterError, Node, casts_of, connect, first_line, living_nodes, own_node
from touchstone.cluster.relay import SILENCE_S, relay
from touchstone.engine.client import Event, run_job
from touchstone.engine.locate import engine_digest, engine_path
from touchstone.engine.protocol import GeneratorNode, LoadJob
from touchstone.plan.placement import available_cpus
from touchstone.record.engine import LoadResult
from touchstone.record.sample import GeneratorPlace

_PATIENCE_S = 30.0
_AT_ONCE = 256
"""Calls that an agent may carry out together: each load process is listened to by one that waits."""


@dataclass(frozen=True)
class Hand:
    """A node that was taken, its agent, and what it says of itself."""

    node: Node
    agent: Any
    facts: dict[str, Any] = field(default_factory=dict)

    def clock_s(self) -> float:
        """The node's monotonic clock now."""
        return float(ray.get(self.agent.clock_s.remote(), timeout=SILENCE_S))


class ClusterGenerators:
    """The load comes from nodes of the cluster, each an equal part of it; this machine leads them and watches."""

    def __init__(self, server: Node, hands: Sequence[Hand]) -> None:
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
        host = urlsplit(job["url"]).hostname
        if host != self.host:
            raise ClusterError(f"{host} is no node of the cluster: nothing else is loaded", fix="this is a defect")
        hands = self._hands[: job["connections"]]
        threads = min(job["connections"] // len(hands), *(len(hand.facts["cpus"]) for hand in hands))
        with ExitStack() as stack:
            # A path of a Unix socket has room for some hundred bytes.
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="touchstone-", dir="/tmp")))
            generators = [_generator(hand, stack.enter_context(relay(hand.node, hand.agent, folder))) for hand in hands]
            complete: LoadJob = {
                **job,
                "allow_hosts": [host],
                "threads": threads * len(hands),
                "generators": generators,
            }
            before = cpu_seconds()
            result = run_job("load", complete, LoadResult, on_event=on_event)
            result.joining_cpu_s = max(0.0, cpu_seconds() - before)
            return result


def _generator(hand: Hand, link: Path) -> GeneratorNode:
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


@contextmanager
def joined(address: str) -> Iterator[ClusterGenerators]:
    """Take this machine, a server's node, and its generators for as long as the context lasts.

    Raises ClusterError, UsageError.
    """
    connect(address)
    try:
        nodes = living_nodes()
        cast = next((cast for cast in casts_of(nodes) if cast.server == own_node(nodes)), None)
        if cast is None:
            raise ClusterError("this machine is no server's node of the cluster", fix="this is a defect")
        with taken([cast.server, *cast.generators]) as hands, kept_off(available_cpus()):
            for hand in hands[1:]:
                _ship_engine(hand)
            yield ClusterGenerators(cast.server, hands[1:])
    finally:
        ray.shutdown()


@contextmanager
def taken(nodes: Sequence[Node]) -> Iterator[list[Hand]]:
    """An agent on each of these nodes, all or none. A node has one, so that no two runs share it."""
    selectors = [{"ray.io/node-id": node.id} for node in nodes]
    group = placement_group([{"CPU": 1} for _ in nodes], strategy="SPREAD", bundle_label_selector=selectors)
    try:
        if not group.wait(timeout_seconds=_PATIENCE_S):
            raise ClusterError(
                f"these nodes could not be had together within {_PATIENCE_S:g} s: {', '.join(map(str, nodes))}",
                fix="see what else runs there (`touchstone doctor --cluster`); each needs a free CPU in Ray's account",
            )
        places = [PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=i) for i in range(len(nodes))]
        yield [
            hand_on(node, name=f"agent-{node.id}", num_cpus=1, scheduling_strategy=place)
            for node, place in zip(nodes, places, strict=True)
        ]
    finally:
        remove_placement_group(group)


@contextmanager
def courier(node: Node) -> Iterator[Hand]:
    """An agent on a node that a run is sent to; the run itself takes the nodes that it needs."""
    hand = hand_on(node, name=f"courier-{node.id}", num_cpus=0, label_selector={"ray.io/node-id": node.id})
    try:
        yield hand
    finally:
        ray.kill(hand.agent)


def hand_on(node: Node, **options: Any) -> Hand:
    """Start an agent on a node. Raises ClusterError if one of its name is there already."""
    ray.cloudpickle.register_pickle_by_value(agent_module)
    try:
        agent = ray.remote(agent_module.Agent).options(max_concurrency=_AT_ONCE, **options).remote()
        return Hand(node, agent, ray.get(agent.facts.remote(), timeout=_PATIENCE_S))
    except ValueError as error:
        raise ClusterError(f"node {node} is taken by another run", fix="wait until that has ended") from error
    except ray.exceptions.RayError as error:
        raise ClusterError(f"node {node} starts no agent: {first_line(error)}", fix="see its raylet's log") from error


def _ship_engine(hand: Hand) -> None:
    """Give the node this engine, unless it has it from before."""
    digest = engine_digest()
    try:
        with contextlib.suppress(ray.exceptions.GetTimeoutError):
            if ray.get(hand.agent.has_engine.remote(digest), timeout=_PATIENCE_S):
                return
        ray.get(hand.agent.take_engine.remote(digest, engine_path().read_bytes()), timeout=_PATIENCE_S)
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", None) or error
        raise ClusterError(
            f"node {hand.node} cannot keep the engine: {cause}",
            fix=f"make room in its cache folder; {hand.facts['disk_free'] / 2**20:.0f} MiB are free",
        ) from error
    if os.uname().machine != hand.facts["machine"]:
        raise ClusterError(
            f"node {hand.node} is a {hand.facts['machine']}, and the engine here is for {os.uname().machine}",
            fix="give it no role, or use machines of one kind",
        )
