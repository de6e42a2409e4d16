"""The pool of sessions that a scenario states, and the sessions that a dependency counted."""

from __future__ import annotations

import re

from touchstone.record.sample import DependencyState, Sample
from touchstone.vocabulary.dependency import DEPENDENCIES

_COUNTERS = ("sessions_opened", "connections_opened")
"""A database's own counter, and a downstream's."""


def is_downstream(dependency: DependencyState) -> bool:
    """Whether it is another service that the contender calls."""
    kind = DEPENDENCIES.get(dependency.kind)
    return kind is not None and kind.downstream


def opened(dependency: DependencyState) -> float | None:
    """Sessions opened within the load, by the dependency's own counter; None if it has none."""
    for counter in _COUNTERS:
        if counter in dependency.before and counter in dependency.after:
            return dependency.after[counter] - dependency.before[counter]
    return None


def stated_pool(sample: Sample, dependency: DependencyState) -> int | None:
    """The pool's size by the scenario's settings: a variable with POOL in its name, the dependency's own first."""
    found = {
        name.upper(): int(value)
        for name, value in sample.process.env.items()
        if "POOL" in name.upper() and re.fullmatch(r"\d+", value)
    }
    own = [n for name, n in found.items() if dependency.name.upper() in name or dependency.kind.upper() in name]
    if own:
        return max(own)
    return next(iter(found.values())) if len(found) == 1 else None
