"""Rule: a process outside of the contender's tree worked whenever it was on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.accomplice import accomplice_of
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule

SUSPECT = 0.05
CHANCE = 1e-3


class HelpedFromOutside(GroupRule):
    """What a service leaves to a process that the lab does not know as its own is in none of its figures.

    A stranger's work comes and goes as it likes. What works when one contender is on, and rests when the others are,
    works for it, or because of it.
    """

    code = "helped-from-outside"
    severity = Severity.SUSPECT
    title = "Something outside of its tree worked whenever it was on"
    threshold = (
        "closed loops in slices: CPU that neither contenders nor engine nor dependencies used, in the contender's "
        "slice less that in the others' of the same lap, is above 5 % of a CPU in the median over all laps, and in "
        "more of them than chance explains (sign test, p < 0.001); what the kernel does for the others' requests, at "
        "this one's rate, is taken off, and so is what a process has more of here than there which has at least half "
        "of it while the others are on"
    )
    threshold_reason = (
        "what strangers take falls on neighbouring slices alike; 5 % is the least difference that matters, and with so "
        "small a p not one sound contender in a thousand is named"
    )
    next_step = (
        "See who works while it is loaded (`top`): a helper that an earlier start or its installation left, a logging "
        "daemon, a proxy. Stop it, or start it with the contender, so that it is in its tree."
    )
    phases = ("load",)

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one contender under one load."""
        found = accomplice_of(group.samples, case.run)
        if found is None or found.cpus <= SUSPECT or found.chance >= CHANCE:
            return
        slower = 1 + found.cpus / found.own_cpus if found.own_cpus > 0 else None
        process = f"{found.who}, a process outside of its tree," if found.who else "a process outside of its tree"
        yield self.finding(
            f"{process} used {share(found.cpus)} of a CPU whenever it was on ({found.more} of {found.laps} laps)",
            group=group,
            figures=[*SPEED, *CPU],
            doubt=Doubt(slower=slower, reason="all of it may have been work for its own requests"),
            evidence=asdict(found),
        )
