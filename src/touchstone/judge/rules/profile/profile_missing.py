"""Rule: a contender was not profiled."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule


class ProfileMissing(GroupRule):
    """A profiler needs a permission of the kernel, symbols, and a process that it can attach to.

    Where one of them is lacking the rest of the phase is measured: the CPU per request and what was counted.
    """

    code = "profile-missing"
    severity = Severity.NOTE
    title = "There is no profile"
    threshold = "no round has sampled stacks"
    threshold_reason = "a single round with stacks can be read, though without intervals"
    next_step = "Do what the reason says, then run the phase `profile` again."
    phases = ("profile",)

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one contender under one load."""
        profiles = [sample.profile for sample in group.samples if sample.profile]
        if profiles and not any(one.stacks and one.stacks.samples for one in profiles):
            reason = next((one.not_profiled for one in profiles if one.not_profiled), "nothing was sampled")
            yield self.finding(reason, group=group, figures=["profiler_cost"])
