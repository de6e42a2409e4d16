"""What the run set out to do, who ran where, and what shared what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.record.process import GeneratorPlace
from touchstone.report.sections.section import PageSection
from touchstone.report.view import View


def build(view: View) -> Iterator[PageSection]:
    """The plan and the CPU placement."""
    placement = view.plan.placement
    rows = [
        ("contender's CPUs", _cpus(placement.server_cpus)),
        ("engine's CPUs", _cpus(placement.engine_cpus)),
        ("generators", ", ".join(map(_place, placement.generators))),
        ("dependencies' CPUs", _cpus(placement.dependency_cpus)),
        ("phases", ", ".join(view.plan.phases)),
        ("loads", ", ".join(view.plan.loads)),
        ("rounds", str(view.plan.rounds)),
        ("seed", str(view.plan.seed)),
        ("command", " ".join(view.plan.command)),
    ]
    data = {
        "rows": [(name, value) for name, value in rows if value],
        "shared": placement.shared,
        "orders": view.plan.orders,
        "contenders": view.contenders,
        "notes": view.run.notes,
    }
    yield PageSection("plan", "Plan", "plan.html", data)


def _cpus(cpus: Sequence[int]) -> str:
    return ", ".join(map(str, cpus))


def _place(place: GeneratorPlace) -> str:
    return f"{place.name} ({place.address}), CPUs {_cpus(place.cpus)}"
