"""Rule: in the window nothing, or almost nothing, was answered."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import loop, slots
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class NothingAnswered(SampleRule):
    """A service that died, or went silent, in the warm-up leaves a window without errors: nobody asked it any more.

    Such a window looks like a slow service, or like none at all, and every rule that counts errors is content.
    """

    code = "nothing-answered"
    severity = Severity.INVALID
    title = "In the window nothing, or almost nothing, was answered"
    threshold = (
        "no request sent or none answered; in a closed loop, fewer responses than can be under way at once "
        "(connections times pipelining)"
    )
    threshold_reason = (
        "in a closed loop each connection waits for its response: where not even one response per connection came, "
        "the window shows who waited, not what was served"
    )
    next_step = (
        "Read the contender's log and the first errors: does it stop answering, or is one response longer than the "
        "window? Give a longer window, or a timeout shorter than the window."
    )
    own_failure = True
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or result.interrupted:
            return
        counts = result.counts
        # Wrong responses are responses, too: `errors-above-allowance` speaks of them.
        answered = counts.completed
        least = slots(sample) if loop(sample) == "closed" else 1
        if counts.sent and answered >= least:
            return
        window = seconds(result.window.measured_s)
        if not counts.sent:
            what = f"nothing was sent in the window of {window}: no connection was free to carry a request"
        else:
            what = f"{number(answered)} responses came in the window of {window}, at least {number(least)} were due"
        yield self.finding(
            what,
            sample=sample,
            evidence={"sent": counts.sent, "answered": answered, "least": least},
        )
