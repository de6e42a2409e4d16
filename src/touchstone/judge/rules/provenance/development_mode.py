"""Rule: the program was built or started for its developers."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import BOOT_TIME, CPU, MEMORY, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.development import compiles_less, development_signs
from touchstone.judge.rule import RunRule

FEW = 5
"""Signs that are told; all are in the evidence."""


class DevelopmentMode(RunRule):
    """Without optimisation, with checks or under a debugger a program is many times slower than its users have it.

    It is the commonest fault of comparisons that people make themselves, and every number of it is measured correctly.
    """

    code = "development-mode"
    severity = Severity.SUSPECT
    title = "The program was built or started for its developers"
    threshold = (
        "a command of the build, the command that ran, or a variable of their environments says so: no optimisation, a "
        "sanitizer, counters of coverage, a profiler, a debugger or a tracer, a server that reloads or is meant for "
        "development, a JVM that does not compile to the end, logs at debug level; not of exhibits"
    )
    threshold_reason = (
        "each of them is a developer's choice, and none is what a service is deployed with; how much it costs depends "
        "on the program, from nothing to thirty times, and it makes none faster; a runtime that compiles less starts "
        "sooner and holds less memory, so that its start and its memory are left open on both sides"
    )
    next_step = "Build and start it as it is deployed. If it is deployed so, its figures stand as they are."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for contender in case.run.plan.contenders:
            if contender.exhibit:
                continue
            samples = [s for s in case.run.samples if s.contender == contender.name]
            commands = [command for s in samples if s.build is not None for command in s.build.commands]
            started = next((s for s in samples if s.argv), None)
            built_with = {name: value for s in samples if s.build is not None for name, value in s.build.env.items()}
            ran = [started.argv] if started else []
            signs = development_signs([*commands, *ran], started.env if started else {}, built_with)
            if not signs:
                continue
            less = [sign for sign in signs if compiles_less(sign)]
            yield self._told(contender.name, signs, [*SPEED, *CPU, *([] if less else [*MEMORY, *BOOT_TIME])])
            if less:
                yield self._told(contender.name, less, [*MEMORY, *BOOT_TIME], slower=None)

    def _told(self, contender: str, signs: list[str], figures: list[str], slower: float | None = 1.0) -> Finding:
        return self.finding(
            f"it was not built and started as for its users: {'; '.join(signs[:FEW])}",
            contender=contender,
            figures=figures,
            doubt=Doubt(faster=None, slower=slower, reason="how much it costs depends on the program"),
            evidence={"signs": signs},
        )
