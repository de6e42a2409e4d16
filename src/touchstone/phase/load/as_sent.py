"""A load as it is sent to one service: with what its preparation has captured there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from touchstone.engine.bare import AnyRequest, rewritten
from touchstone.manifest.journey import JourneyStep
from touchstone.manifest.load import Load
from touchstone.manifest.template import Place, with_captured, written


def as_sent(load: Load, captured: Mapping[str, str]) -> Load:
    """The load with captured values, by their names, in place of `{capture.NAME}`.

    A step of a journey that captures a value by the same name hides it from the steps behind it.
    """
    if not captured:
        return load
    requests = [_with(wanted, captured) for wanted in load.requests]
    journeys = [one.model_copy(update={"steps": _steps(one.steps, captured)}) for one in load.journeys]
    return load.model_copy(update={"requests": requests, "journeys": journeys})


def _steps(steps: Sequence[JourneyStep], captured: Mapping[str, str]) -> list[JourneyStep]:
    found = []
    for step in steps:
        found.append(_with(step, captured))
        captured = {name: value for name, value in captured.items() if name not in step.captures}
    return found


def _with(wanted: AnyRequest, captured: Mapping[str, str]) -> AnyRequest:
    def change(text: str, place: Place) -> str:
        return with_captured(
            text, lambda one: written(captured[one.name], one.escape, place) if one.name in captured else None
        )

    return rewritten(wanted, change)
