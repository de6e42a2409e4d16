"""The tares of the dependencies: what each answers by itself, under the settings of each load."""

from __future__ import annotations

import json

from touchstone.bench.base import Bench
from touchstone.dependency.base import Dependency, DependencyError

Ceilings = dict[tuple[str, str], float | None]
"""Requests a second that a dependency answers by itself, by load and dependency; None where that is not known."""


def measure_ceilings(bench: Bench) -> Ceilings:
    """What each dependency answers by itself under the settings of each load.

    A dependency is measured once for all loads that leave its settings alike.
    """
    found: Ceilings = {}
    known: dict[tuple[str, str], float | None] = {}
    for load_name, load in bench.loads.items():
        for name, dependency in bench.dependencies.items():
            if type(dependency).ceiling is Dependency.ceiling:
                # It has no tare; a reset here would only throw away what was left over for the next one to find.
                continue
            settings = dict(load.dependency_settings.get(name, {}))
            key = (name, json.dumps(settings, sort_keys=True))
            if key not in known:
                bench.watcher.step(f"tare of {name} {settings or ''}".rstrip())
                try:
                    dependency.reset(settings)
                    known[key] = dependency.ceiling(load.all_requests[0].target)
                except DependencyError:
                    # A dependency that cannot be measured by itself has no ceiling; the load shows whether it works.
                    known[key] = None
            found[load_name, name] = known[key]
    return found
