"""What samples a running contender: the shape of a profiler, and what its stacks are made of."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable

from touchstone.failure import TouchstoneError
from touchstone.record.evidence.profile import FoldedStacks

HERTZ = 997
"""Samples per second of CPU time: about a thousand, and no divisor of a timer's period."""
_NUMBERS = re.compile(r"[ \-_#.:/]*\d+")
_MOST_FRAMES = 200


class ProfilerError(TouchstoneError):
    """A profiler could not sample: its message, and how to permit it."""


class Profiler(ABC):
    """A profiler of one process tree. It is made ready once, and may be started and stopped after that."""

    name: str
    """With its version and its event."""
    unseen: str | None = None
    """What the profiler cannot see, and why it was chosen; None if it sees all."""

    def prepare(self) -> None:
        """Prepare before the warm-up, so that code compiled later is known by name."""
        return

    @abstractmethod
    def start(self) -> None:
        """Begin to sample; it samples when this returns. Raises ProfilerError."""

    @abstractmethod
    def stop(self) -> FoldedStacks:
        """End it; what was sampled. Raises ProfilerError."""

    def end(self) -> None:
        """Release the profiler's resources, since a pass may fail; nothing once it has stopped."""
        return


def thread_kind(name: str) -> str:
    """A thread's name without what tells it from others of its kind."""
    return _NUMBERS.sub("", name).strip() or "thread"


def folded(stacks: Iterable[tuple[list[str], int]]) -> FoldedStacks:
    """Fold stacks, each with the outermost frame first: equal ones become one. What is too deep loses its middle."""
    counted: Counter[tuple[str, ...]] = Counter()
    for frames, count in stacks:
        deep = len(frames) > _MOST_FRAMES
        kept = [*frames[: _MOST_FRAMES // 2], "...", *frames[-_MOST_FRAMES // 2 :]] if deep else frames
        counted[tuple(kept)] += count
    places: dict[str, int] = {}
    lines = [
        f"{' '.join(str(places.setdefault(frame, len(places))) for frame in frames)}:{count}"
        for frames, count in counted.most_common()
    ]
    return FoldedStacks(frames=list(places), stacks=lines)
