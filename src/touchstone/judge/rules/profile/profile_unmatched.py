"""Rule: much of a profile belongs to no category."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule
from touchstone.judge.why.spending import spending

SHARE = 0.05


class ProfileUnmatched(GroupRule):
    """The categories are as good as the tables of patterns: a library that none knows is shown as unmatched."""

    code = "profile-unmatched"
    severity = Severity.NOTE
    title = "Functions that no table knows take much of the CPU"
    threshold = "more than 5 % of the sampled CPU ends in frames that no table of patterns has"
    threshold_reason = "parts that matter are larger; less than that hides none of them"
    next_step = (
        "Look at the frames. Without names: build a copy with symbols (`profiled` in stack.toml). With names: add a "
        "row to the language's table in attribution/tables."
    )
    phases = ("profile",)

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one contender under one load, over all rounds."""
        spent = [one for sample in group.samples if sample.profile and (one := spending(sample.profile))]
        total = sum(one.subject for one in spent)
        frames: dict[str, float] = {}
        for one in spent:
            for name, seconds in one.unmatched.items():
                frames[name] = frames.get(name, 0.0) + seconds
        if not total or (found := sum(frames.values()) / total) <= SHARE:
            return
        largest = sorted(frames, key=lambda name: -frames[name])[:5]
        yield self.finding(
            f"{share(found)} of the CPU ends in frames that no table has, first of all {', '.join(largest)}",
            group=group,
            figures=[],
            evidence={"frames": {name: frames[name] / total for name in largest}},
        )
