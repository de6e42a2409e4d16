"""What `touchstone doctor --cluster` shows: the nodes, what each is for, and what lies between them."""

from __future__ import annotations

from collections.abc import Iterator

import ray
import ray.exceptions

from touchstone.cluster.clocks import clock_distance
from touchstone.cluster.joining import TakenNode, taken_nodes
from touchstone.cluster.nodes import SERVER, ClusterError, ClusterNode, connect, living_nodes, node_roles, own_node

_BANDWIDTH_S = 0.5
_FEW_FILES = 10_000
_FAR_S = 0.002
"""Uncertainty of a clock above which two generators may begin more than 5 ms apart."""

Row = tuple[str, str, str]
"""State, what, found."""


def look_at(address: str) -> Iterator[Row]:
    """Join the cluster, look at every node, and leave it. Raises ClusterError, UsageError."""
    connect(address)
    try:
        nodes = living_nodes()
        for node in nodes:
            if not node.role:
                yield "note", str(node), "has no role and is not used; roles are given by `ray start --labels role=...`"
        yield from _missing(nodes)
        with taken_nodes([node for node in nodes if node.role]) as hands:
            for hand in hands:
                yield from _node(hand)
            for hand in hands:
                yield from _way(hand, hands)
    finally:
        ray.shutdown()


def _missing(nodes: list[ClusterNode]) -> Iterator[Row]:
    try:
        casts = node_roles(nodes)
    except ClusterError as error:
        yield "wrong", "roles", str(error)
        return
    if len(casts) > 1:
        yield "note", "roles", f"{len(casts)} servers, each with generators of its own: rounds are spread over them"
    elif own_node(nodes) != casts[0].server:
        yield "note", "roles", f"a run called here is carried out on {casts[0].server}: contenders run there"


def _node(hand: TakenNode) -> Iterator[Row]:
    facts, node = hand.facts, hand.node
    yield (
        "ok",
        str(node),
        f"{node.role}; {len(facts['cpus'])} CPUs, {facts['model']}; kernel {facts['kernel']}; Python {facts['python']}",
    )
    files = facts["open_files"]
    yield (
        "ok" if files >= _FEW_FILES else "note",
        f"{node.name}: open files",
        f"{files} in one process; {facts['ports']} connections to one server",
    )


def _way(hand: TakenNode, hands: list[TakenNode]) -> Iterator[Row]:
    """From here to a node: its clock and the round trip; from the server's node to a generator: the bandwidth."""
    distance = clock_distance(hand.clock_s)
    yield (
        "ok" if distance.residual_s <= _FAR_S else "wrong",
        f"{hand.node.name}: clock",
        f"{distance.ahead_s * 1e3:+.3f} ms, known to {distance.residual_s * 1e3:.3f} ms; "
        f"fastest round trip of a call {distance.residual_s * 2e3:.2f} ms",
    )
    server = next((other for other in hands if other.node.role == SERVER), hand)
    if server is not hand:
        try:
            port = ray.get(server.agent.receive.remote(server.node.address), timeout=10)
            rate = ray.get(hand.agent.send.remote(server.node.address, port, _BANDWIDTH_S), timeout=20)
            yield "ok", f"{hand.node.name} to {server.node.name}", f"{rate * 8 / 1e9:.1f} Gbit/s over one connection"
        except ray.exceptions.RayError as error:
            yield "wrong", f"{hand.node.name} to {server.node.name}", f"no connection: {error}".splitlines()[0]
