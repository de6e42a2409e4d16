"""The nodes of a cluster and their roles."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psutil
import ray
import ray.exceptions

from touchstone.failure import TouchstoneError, UsageError

ROLE = "role"
"""The Ray label that says what a node is for: `ray start --labels role=server`."""
SERVER, GENERATOR = "server", "generator"
_ROLES = (SERVER, GENERATOR)
_NAMESPACE = "touchstone"


class ClusterError(TouchstoneError):
    """The cluster is not there, or cannot do what is asked of it."""


def first_line(error: Exception) -> str:
    """What Ray says, without the page of advice behind it."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


@dataclass(frozen=True)
class ClusterNode:
    """A node that lives."""

    id: str
    name: str
    address: str
    role: str
    """Empty if it has none that touchstone knows."""
    cpus: float
    """What Ray may give away there."""

    def __str__(self) -> str:
        return f"{self.name} ({self.address})"


def connect(address: str) -> None:
    """Join the cluster at HOST:PORT, or with `auto` that of this machine. Raises ClusterError."""
    if os.environ.get("RAY_AUTH_MODE") != "token":
        raise UsageError(
            "Ray runs any code that it is sent, and RAY_AUTH_MODE is not `token`: clients are not authenticated",
            fix="start every node and touchstone with RAY_AUTH_MODE=token and one RAY_AUTH_TOKEN_PATH; "
            "docs/many-machines.md says how",
        )
    if address != "auto" and not re.fullmatch(r"[\w.-]+:\d+", address):
        raise UsageError(f"{address!r} is not a cluster", fix="give the HOST:PORT of its head node, or `auto`")
    options: dict[str, Any] = {"namespace": _NAMESPACE, "log_to_driver": False, "logging_level": "ERROR"}
    try:
        ray.init(address=address, **options)
        if (own := _own_address()) is not None:
            ray.shutdown()
            ray.init(address=address, _node_ip_address=own, **options)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise ClusterError(
            f"no cluster at {address}: {first_line(error)}",
            fix="start Ray on this machine too (`ray start --address HEAD:6379`), with the same token",
        ) from error


def own_node(nodes: Sequence[ClusterNode]) -> ClusterNode | None:
    """The node that this process belongs to."""
    own = ray.get_runtime_context().get_node_id()
    return next((node for node in nodes if node.id == own), None)


def _own_address() -> str | None:
    """The address of this machine's node, if Ray took another machine's for it. None if it took the right one.

    Ray asks the way to the internet for its own address, and believes the head's where there is none.
    """
    here = {entry.address for entries in psutil.net_if_addrs().values() for entry in entries}
    nodes = living_nodes()
    joined = own_node(nodes)
    if joined is not None and joined.address in here:
        return None
    found = next((node.address for node in nodes if node.address in here), None)
    if found is None:
        raise ConnectionError("no node of it is on this machine")
    return found


def living_nodes() -> list[ClusterNode]:
    """The nodes that live, in the order of their addresses."""
    found = []
    for row in ray.nodes():
        if row["Alive"]:
            role = row.get("Labels", {}).get(ROLE, "")
            found.append(
                ClusterNode(
                    id=row["NodeID"],
                    name=row["NodeManagerHostname"],
                    address=row["NodeManagerAddress"],
                    role=role if role in _ROLES else "",
                    cpus=float(row.get("Resources", {}).get("CPU", 0.0)),
                )
            )
    found.sort(key=lambda node: [int(part) if part.isdigit() else 0 for part in node.address.split(".")])
    return _with_distinct_names(found)


def _with_distinct_names(nodes: Sequence[ClusterNode]) -> list[ClusterNode]:
    """Names that several nodes share get the address behind them."""
    names = [node.name for node in nodes]
    return [
        node
        if names.count(node.name) == 1
        else ClusterNode(node.id, f"{node.role or 'node'}-{node.address}", node.address, node.role, node.cpus)
        for node in nodes
    ]


@dataclass(frozen=True)
class NodeRoles:
    """A server's node, and the generators that load it."""

    server: ClusterNode
    generators: Sequence[ClusterNode]


def node_roles(nodes: Sequence[ClusterNode]) -> list[NodeRoles]:
    """The servers' nodes, the generators dealt out among them. Raises ClusterError that says what is missing."""
    servers = [node for node in nodes if node.role == SERVER]
    generators = [node for node in nodes if node.role == GENERATOR]
    for role, found in ((SERVER, servers), (GENERATOR, generators)):
        if not found:
            seen = ", ".join(f"{node}: {node.role or 'no role'}" for node in nodes)
            raise ClusterError(
                f"no node of the cluster has the role {role} (there are: {seen})",
                fix=f"start one with `ray start --labels {ROLE}={role} ...`",
            )
    count = min(len(servers), len(generators))
    return [NodeRoles(server, generators[number::count]) for number, server in enumerate(servers[:count])]
