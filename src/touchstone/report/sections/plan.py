"""What the run set out to do, who ran where, and what shared what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from touchstone.report.sections.section import Section
from touchstone.report.view import View


def build(view: View) -> Iterator[Section]:
    """The plan and the CPU placement."""
    placement = view.plan.placement
    shared = placement.get("shared") or []
    rows = [
        ("contender's CPUs", _cpus(placement.get("server_cpus"))),
        ("engine's CPUs", _cpus(placement.get("engine_cpus"))),
        ("generators", ", ".join(_place(place) for place in placement.get("generators") or [])),
        ("dependencies' CPUs", _cpus(placement.get("dependency_cpus"))),
        ("phases", ", ".join(view.plan.phases)),
        ("loads", ", ".join(view.plan.loads)),
        ("rounds", str(view.plan.rounds)),
        ("seed", str(view.plan.seed)),
        ("command", " ".join(view.plan.command)),
    ]
    data = {
        "rows": [(name, value) for name, value in rows if value],
        "shared": shared if isinstance(shared, list) else [shared],
        "orders": view.plan.orders,
        "contenders": view.contenders,
        "notes": view.run.notes,
    }
    yield Section("plan", "Plan", "plan.html", data)


def _cpus(cpus: Any) -> str:
    return ", ".join(str(cpu) for cpu in cpus) if cpus else ""


def _place(place: dict[str, Any]) -> str:
    return f"{place['name']} ({place['address']}), CPUs {_cpus(place.get('cpus'))}"
