"""touchstone: a benchmark lab for HTTP service stacks that refuses bad numbers.

As a library: `measure`, `load_run`, `judge_run`, `render`; `RunRequest`, `RunConditions`, `View` (docs/library.md).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from touchstone.judge.judge import judge as judge_run
    from touchstone.plan.plan import RunRequest as RunRequest
    from touchstone.record.store import load_run as load_run
    from touchstone.report.export import render as render
    from touchstone.report.view import View as View
    from touchstone.run.measure import RunConditions as RunConditions
    from touchstone.run.measure import measure as measure

__version__ = "0.1.0"

__all__ = ["RunConditions", "RunRequest", "View", "judge_run", "load_run", "measure", "render"]

_LIBRARY = {
    "Conditions": "touchstone.run.measure:RunConditions",
    "RunConditions": "touchstone.run.measure",
    "RunRequest": "touchstone.plan.plan",
    "View": "touchstone.report.view",
    "Wish": "touchstone.plan.plan:RunRequest",
    "judge_run": "touchstone.judge.judge:judge",
    "load_run": "touchstone.record.store",
    "measure": "touchstone.run.measure",
    "render": "touchstone.report.export",
}
"""Where each is: `module`, or `module:attribute`. Imported when asked for: `--help` does not wait.

`Wish` and `Conditions` are the names that `RunRequest` and `RunConditions` had in earlier versions.
"""


def __getattr__(name: str) -> Any:
    if name not in _LIBRARY:
        raise AttributeError(f"touchstone has no {name!r}; there are: {', '.join(_LIBRARY)}")
    module, _, attribute = _LIBRARY[name].partition(":")
    return getattr(import_module(module), attribute or name)
