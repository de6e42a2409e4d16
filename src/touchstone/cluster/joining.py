"""Takes the nodes of a cluster for a run, all or none, and gives them back."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import ray
import ray.cloudpickle
import ray.exceptions
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from touchstone.cluster import agent as agent_module
from touchstone.cluster.nodes import ClusterError, ClusterNode, first_line
from touchstone.cluster.relay import SILENCE_S
from touchstone.engine.locate import engine_digest, engine_path

_PATIENCE_S = 30.0
_AT_ONCE = 256
"""Calls that an agent may carry out together: each load process is listened to by one that waits."""


@dataclass(frozen=True)
class TakenNode:
    """A node that was taken, its agent, and its description."""

    node: ClusterNode
    agent: Any
    facts: dict[str, Any] = field(default_factory=dict)

    def clock_s(self) -> float:
        """The node's monotonic clock now."""
        return float(ray.get(self.agent.clock_s.remote(), timeout=SILENCE_S))


@contextmanager
def taken_nodes(nodes: Sequence[ClusterNode]) -> Iterator[list[TakenNode]]:
    """An agent on each of these nodes, all or none. A node has one, so that no two runs share it."""
    selectors = [{"ray.io/node-id": node.id} for node in nodes]
    group = placement_group([{"CPU": 1} for _ in nodes], strategy="SPREAD", bundle_label_selector=selectors)
    try:
        if not group.wait(timeout_seconds=_PATIENCE_S):
            raise ClusterError(
                f"these nodes were not all free within {_PATIENCE_S:g} s: {', '.join(map(str, nodes))}",
                fix="see what else runs there (`touchstone doctor --cluster`); each needs a free CPU in Ray's account",
            )
        places = [PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=i) for i in range(len(nodes))]
        yield [
            start_agent(node, name=f"agent-{node.id}", num_cpus=1, scheduling_strategy=place)
            for node, place in zip(nodes, places, strict=True)
        ]
    finally:
        remove_placement_group(group)


@contextmanager
def courier(node: ClusterNode) -> Iterator[TakenNode]:
    """An agent on a node that a run is sent to. The run itself takes the nodes that it needs."""
    hand = start_agent(node, name=f"courier-{node.id}", num_cpus=0, label_selector={"ray.io/node-id": node.id})
    try:
        yield hand
    finally:
        ray.kill(hand.agent)


def start_agent(node: ClusterNode, **options: Any) -> TakenNode:
    """Start an agent on a node. Raises ClusterError if one of its name is there already."""
    ray.cloudpickle.register_pickle_by_value(agent_module)
    try:
        agent = ray.remote(agent_module.Agent).options(max_concurrency=_AT_ONCE, **options).remote()
        return TakenNode(node, agent, ray.get(agent.facts.remote(), timeout=_PATIENCE_S))
    except ValueError as error:
        raise ClusterError(f"node {node} is taken by another run", fix="wait until that has ended") from error
    except ray.exceptions.RayError as error:
        raise ClusterError(f"node {node} starts no agent: {first_line(error)}", fix="see its raylet's log") from error


def ship_engine(hand: TakenNode) -> None:
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
