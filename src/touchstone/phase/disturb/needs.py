"""Which requests need which dependency, and how long one waits while it stalls."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from touchstone.contract.values import ValueSource
from touchstone.engine.ask import AskedService
from touchstone.manifest.load import Load
from touchstone.phase.disturb.relays import Disturbed
from touchstone.record.evidence.disturb import PatienceProbe

_TRIES = 3
"""A dependency that is busy by itself, such as a consumer's broker, rarely speaks within all of them."""
_SETTLES_S = 0.02


def needs_of(
    load: Load, service: AskedService, disturbed: Mapping[str, Disturbed], values: ValueSource
) -> dict[str, list[str]] | None:
    """The dependencies that each request of the mix needs: each of its tries alone had them do something.

    None where requests take rows from a file, which single requests have not.
    """
    if load.rows is not None:
        return None
    found = {}
    for request in load.requests:
        needed = set(disturbed)
        for _ in range(_TRIES):
            before = {name: _seen(one) for name, one in disturbed.items()}
            service.exchange(request, values.next())
            time.sleep(_SETTLES_S)
            needed &= {name for name, one in disturbed.items() if _seen(one) != before[name]}
        found[request.name] = sorted(needed)
    return found


def _seen(one: Disturbed) -> object:
    """A value that changes when the service has the dependency do something."""
    if (counts := one.counts()) is not None:
        return counts.from_service
    return one.dependency.reach()


def patience_of(
    load: Load,
    service: AskedService,
    disturbed: Disturbed,
    requests: Sequence[str],
    values: ValueSource,
    *,
    within_s: float,
    on_step: Callable[[str], None] = lambda _text: None,
) -> list[PatienceProbe]:
    """How long each of these requests waits for a dependency that stalls longer."""
    found = []
    stall = next(one for one in load.disturb if one.act == "stall" and one.dependency == disturbed.dependency.name)
    for request in load.requests:
        if request.name not in requests:
            continue
        on_step(f"waiting for {request.name} while {disturbed.dependency.name} stalls")
        with disturbed.fault(stall):
            begin = time.monotonic()
            response = replace(service, timeout_s=within_s).exchange(request, values.next())
            waited_s = time.monotonic() - begin
        answered = response.status is not None or waited_s < 0.9 * within_s
        found.append(
            PatienceProbe(
                request=request.name, dependency=disturbed.dependency.name, waited_s=waited_s, answered=answered
            )
        )
    return found
