"""Whether a response comes when the work is done: requests one at a time, and a look at the dependencies after each.

Under load, and next to other contenders, a dependency's counters do not show whose work they count, nor when. With
nothing else in flight they do: the queries after the response, the data not yet safe by then, and the
settings of the sessions.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from touchstone.contract.values import ValueSource, fresh_of
from touchstone.dependency.base import Dependency, DependencyError, WorkProgress
from touchstone.engine.ask import AskedService
from touchstone.engine.job import next_counter
from touchstone.manifest.load import Load
from touchstone.record.sample import AfterAnswers, DependencyState

REQUESTS = 12
_IN_VAIN = 3
"""Number of requests without any work of a dependency after which the look ends, one of each kind included."""
LATER_S = 0.03
"""Longer than a kernel's tick, by which files are dated, and than a thread takes to begin."""
_PATIENCE_S = 10.0
"""For all of them: a slow service is asked fewer."""
AT_MOST_S = 0.6
"""Work that has not begun with the response is waited for so long; not again for requests of a kind that had none."""


def look_after_answers(
    load: Load,
    service: AskedService,
    dependencies: Mapping[str, Dependency],
    states: Sequence[DependencyState],
    *,
    seed: int,
    sent: int,
) -> None:
    """Send some of the load's requests, and record dependency states around each response.

    `sent` is how many requests the load itself sent: a key that it has inserted is not inserted again. Nothing is noted
    of journeys and of rows from a file: their requests need what goes before them.
    """
    if not load.requests or load.rows is not None or not dependencies:
        return
    seen = {state.name: AfterAnswers(asked=0) for state in states}
    with ExitStack() as stack:
        settings = {name: stack.enter_context(one.overheard()) for name, one in dependencies.items()}
        values = ValueSource(seed, fresh_of(seed), dict(load.captured), next_counter(0, sent))
        looked = _look(load, service, dependencies, seen, values)
    for state in states:
        state.settings |= settings.get(state.name, {})
        if looked:
            state.after_answers = seen[state.name]


def _look(
    load: Load,
    service: AskedService,
    dependencies: Mapping[str, Dependency],
    seen: dict[str, AfterAnswers],
    values: ValueSource,
) -> bool:
    """Send the requests, and note what is seen; whether any of it says something."""
    deadline = time.monotonic() + _PATIENCE_S
    with_work: set[int] = set()
    for number in range(REQUESTS):
        again, kind = divmod(number, len(load.requests))
        if time.monotonic() > deadline:
            break
        before = _reach(dependencies)
        if service.exchange(load.requests[kind], values.next()).failure is not None:
            return False
        at = _reach(dependencies)
        may_come = at == before and (not again or kind in with_work)
        waits_until = time.monotonic() + (AT_MOST_S if may_come else 0.0)
        time.sleep(LATER_S)
        while (later := _reach(dependencies)) == before and time.monotonic() < waits_until:
            time.sleep(LATER_S)
        if later != before:
            with_work.add(kind)
        for name in seen.keys() & before.keys() & at.keys() & later.keys():
            _note(seen[name], before[name], at[name], later[name])
        tried = number + 1 >= max(_IN_VAIN, len(load.requests))
        if tried and not any(one.asked for one in seen.values()):
            return False
    return True


def _note(seen: AfterAnswers, before: WorkProgress, at: WorkProgress, later: WorkProgress) -> None:
    seen.asked += later.done != before.done
    seen.late += later.done != at.done
    seen.behind += at.safe is not None and at.safe < at.done


def _reach(dependencies: Mapping[str, Dependency]) -> dict[str, WorkProgress]:
    found: dict[str, WorkProgress] = {}
    for name, dependency in dependencies.items():
        try:
            reach = dependency.reach()
        except DependencyError:
            continue
        if reach is not None:
            found[name] = reach
    return found
