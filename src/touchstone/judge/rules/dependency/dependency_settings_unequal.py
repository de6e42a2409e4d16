"""Rule: dependencies were set differently for different contenders."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.apart import minority
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.setting import normal
from touchstone.judge.rule import RunRule
from touchstone.record.sample import TARE


class DependencySettingsUnequal(RunRule):
    """Durability, journal mode and pool sizes change throughput by factors.

    The contender with the laxer setting wins.
    """

    code = "dependency-settings-unequal"
    severity = Severity.INVALID
    title = "Dependencies were set differently for different contenders"
    threshold = (
        "a setting that a dependency reports, or that a contender's own sessions were seen to have, differs between "
        "contenders on the same load; where most agree, only those who differ are invalid"
    )
    threshold_reason = "settings are fixed by the scenario; any difference is one, however it came about"
    next_step = "See which contender changes the setting (a PRAGMA, a SET, a client option) and take it out."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        seen: dict[tuple[str | None, str, str], dict[str, set[str]]] = {}
        for sample in case.run.samples:
            if sample.phase != "load" or sample.contender == TARE:
                continue
            for dependency in sample.dependencies:
                for setting, value in dependency.settings.items():
                    by_value = seen.setdefault((sample.load, dependency.name, setting), {})
                    by_value.setdefault(str(normal(value)), set()).add(sample.contender)
        for (load, name, setting), by_value in seen.items():
            if len(by_value) < 2:
                continue
            told = "; ".join(f"{value} for {', '.join(sorted(c))}" for value, c in sorted(by_value.items()))
            contenders = sorted(set.union(*by_value.values()))
            had = {one: frozenset(value for value, by in by_value.items() if one in by) for one in contenders}
            for odd in minority(had) or [None]:
                yield self.finding(
                    f"{setting} of {name} was {told}",
                    load=load,
                    contender=odd,
                    evidence={"setting": setting, "values": {v: sorted(c) for v, c in by_value.items()}},
                )
