"""The stacks of two contenders in one tree, weighted by CPU seconds per request: what a flame graph draws."""

from __future__ import annotations

from dataclasses import dataclass, field

from touchstone.judge.why.spending import profiles
from touchstone.record.run import Run


@dataclass
class StackNode:
    """A frame below its callers: seconds per request with all that it calls, the baseline's and the contender's."""

    name: str
    baseline: float = 0.0
    contender: float = 0.0
    children: dict[str, StackNode] = field(default_factory=dict)

    @property
    def widest(self) -> float:
        """The larger of the two."""
        return max(self.baseline, self.contender)


def weighted_stacks(run: Run, contender: str, load: str) -> dict[tuple[str, ...], float]:
    """A contender's stacks with their seconds of CPU per request, as the mean over rounds. Empty if there are none."""
    found: dict[tuple[str, ...], float] = {}
    read = [sample.profile for _, sample in profiles(run.samples, contender, load) if sample.profile]
    usable = [one for one in read if one.stacks and one.stacks.samples and one.subject]
    for evidence in usable:
        assert evidence.stacks is not None
        assert evidence.subject is not None
        each = (evidence.subject.cpu_per_request or 0.0) / evidence.stacks.samples / len(usable)
        for frames, count in evidence.stacks.read():
            key = tuple(frames)
            found[key] = found.get(key, 0.0) + count * each
    return found


def tree(run: Run, baseline: str, contender: str, load: str) -> StackNode:
    """Both contenders' stacks in one tree."""
    root = StackNode("all")
    for name, is_contender in ((baseline, False), (contender, True)):
        for frames, seconds in weighted_stacks(run, name, load).items():
            node = root
            _add(node, seconds, contender=is_contender)
            for frame in frames:
                node = node.children.setdefault(frame, StackNode(frame))
                _add(node, seconds, contender=is_contender)
    return root


def _add(node: StackNode, seconds: float, *, contender: bool) -> None:
    if contender:
        node.contender += seconds
    else:
        node.baseline += seconds
