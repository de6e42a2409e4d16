"""Stacks for other viewers: folded lines, which most tools open, and speedscope's own format."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from touchstone.judge.why.tree import weighted_stacks
from touchstone.record.run import Run
from touchstone.report.export import write

_NANO = 1e9


def write_exports(run: Run, loads: Sequence[str], contenders: Sequence[str], folder: Path) -> list[Path]:
    """Write `LOAD-STACK-VARIANT.folded` and `.speedscope.json` of each contender. Raises TouchstoneError."""
    written = []
    for load in loads:
        for name in dict.fromkeys(contenders):
            stacks = weighted_stacks(run, name, load)
            if stacks:
                stem = f"{load}-{name.replace('/', '-')}"
                written.append(write(folder / f"{stem}.folded", "\n".join(folded_lines(stacks)) + "\n"))
                document = json.dumps(speedscope(f"{run.plan.run_id} {name} {load}", stacks))
                written.append(write(folder / f"{stem}.speedscope.json", document))
    return written


def folded_lines(stacks: dict[tuple[str, ...], float]) -> Iterator[str]:
    """A line for each stack, its weight in nanoseconds of CPU per request."""
    for frames, seconds in stacks.items():
        yield f"{';'.join(frame.replace(';', ':') for frame in frames)} {max(1, round(seconds * _NANO))}"


def speedscope(name: str, stacks: dict[tuple[str, ...], float]) -> dict[str, Any]:
    """The file format of speedscope (its public JSON schema): sampled, weights in nanoseconds per request."""
    places: dict[str, int] = {}
    samples = [[places.setdefault(frame, len(places)) for frame in frames] for frames in stacks]
    weights = [seconds * _NANO for seconds in stacks.values()]
    profile = {
        "type": "sampled",
        "name": name,
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": sum(weights),
        "samples": samples,
        "weights": weights,
    }
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "touchstone",
        "name": name,
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": frame} for frame in places]},
        "profiles": [profile],
    }
