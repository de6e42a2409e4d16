"""What a differential flame graph on the page draws: a tree, flattened, without what would be too thin to see."""

from __future__ import annotations

from dataclasses import dataclass, field

from touchstone.judge.why.tree import StackNode

_NANO = 1e9


@dataclass
class FlameGraph:
    """Nodes in the order in which a walk from the root meets them."""

    names: list[str] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    """Four numbers for each node: depth, place of its name, nanoseconds per request of baseline and contender."""
    left_out: int = 0

    def data(self) -> dict[str, object]:
        """As the page's script reads it."""
        return {"names": self.names, "nodes": self.nodes}


def flame(root: StackNode, least_share: float) -> FlameGraph:
    """Flatten a tree. A node whose share of both contenders together is below `least_share` is left out."""
    made = FlameGraph()
    places: dict[str, int] = {}
    least = least_share * (root.baseline + root.contender)
    waiting: list[tuple[StackNode, int]] = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        if node.baseline + node.contender < least:
            made.left_out += 1
            continue
        place = places.setdefault(node.name, len(places))
        made.nodes += [depth, place, round(node.baseline * _NANO), round(node.contender * _NANO)]
        below = sorted(node.children.values(), key=lambda child: child.name, reverse=True)
        waiting += [(child, depth + 1) for child in below]
    made.names = list(places)
    return made
