"""Rule: a profiler that sees a part alone."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.attribution.category import Category
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule
from touchstone.judge.why.spending import spending


class ProfileUnseen(GroupRule):
    """Where async-profiler cannot be had, a JVM is sampled by its own recorder, JFR, which sees Java alone.

    What the kernel, native libraries and the JVM's own threads take is counted, so that the parts still add up. But it
    is one part, where a contender that was sampled by a better profiler has several: only the others are comparable.

    perf learns the names of functions in Python from CPython 3.12 or later, and their stacks from a build with frame
    pointers. Of others it sees what C functions take, which is the part of the allocator, the runtime or a library.
    """

    code = "profile-unseen"
    severity = Severity.NOTE
    title = "The profiler saw a part of the CPU alone"
    threshold = "a round was sampled by a profiler that does not see all"
    threshold_reason = "its parts are not those of other contenders' profilers, whatever their share"
    next_step = "Do what the statement says to have the better profiler, then run the phase `profile` again."
    phases = ("profile",)

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one contender under one load, over all rounds."""
        profiles = [sample.profile for sample in group.samples if sample.profile and sample.profile.unseen]
        spent = [one for profile in profiles if (one := spending(profile))]
        if not spent:
            return
        unseen = sum(one.categories.get(Category.UNSEEN, 0.0) for one in spent) / sum(one.subject for one in spent)
        told = f"{share(unseen)} of the CPU was not told apart. " if unseen else ""
        yield self.finding(
            f"{told}{profiles[0].unseen}",
            group=group,
            figures=[],
            evidence={"unseen": unseen},
        )
