"""What each dependency does by itself, next to what a load asked of it, in sentences."""

from __future__ import annotations

from statistics import median

from touchstone.record.sample import DependencyState, Sample
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.dependency import DEPENDENCIES


def headroom_lines(view: View, place: PhaseAndLoad) -> list[str]:
    """A sentence for each dependency that was used; none for a place without a load."""
    used: dict[str, list[tuple[Sample, DependencyState]]] = {}
    for sample in view.samples(place):
        if sample.result is not None:
            for state in sample.dependencies:
                if state.sessions_peak != 0:
                    used.setdefault(state.name, []).append((sample, state))
    return [line for name, states in used.items() if (line := _line(name, states))]


def _line(name: str, states: list[tuple[Sample, DependencyState]]) -> str:
    """The ceiling, the fastest contender's share of it, and the disk: as far as they are known."""
    parts = []
    ceiling = next((state.ceiling for _, state in states if state.ceiling), None)
    if ceiling:
        rates: dict[str, list[float]] = {}
        for sample, _ in states:
            assert sample.result is not None  # the caller has seen to it
            rates.setdefault(sample.contender, []).append(sample.result.rate.achieved)
        most = max(rates, key=lambda contender: median(rates[contender]))
        asked = median(rates[most])
        parts.append(
            f"{name} by itself answers {ceiling:,.0f}/s; the most asked of it was {asked:,.0f}/s "
            f"({asked / ceiling:.0%}, {most})"
        )
    sessions = max((state.sessions_peak or 0 for _, state in states), default=0)
    if sessions:
        kind = DEPENDENCIES.get(states[0][1].kind)
        noun = kind.clients if kind else "connections"
        parts.append(f"at most {sessions:,} {noun} were open to {name}")
    fsync = next((rate for _, state in states if (rate := state.after.get("disk_fsync_per_s"))), None)
    if fsync:
        commits = {str(state.settings.get("synchronous_commit", "on")) for _, state in states}
        waits = "commits wait for it" if commits == {"on"} else "commits do not wait for it"
        parts.append(f"its disk makes {fsync:,.0f} writes a second durable, one after the other; {waits}")
    line = "; ".join(parts)
    return line[:1].upper() + line[1:] + "." if line else ""
