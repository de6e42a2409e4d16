"""Rule: the order of the contenders never changed."""

from __future__ import annotations

import math
from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule

RARE = 0.01


class OrderNotDrawn(RunRule):
    """Whoever always comes first gets the cool machine.

    Order is drawn anew so that such effects fall on all alike.
    """

    code = "order-not-drawn"
    severity = Severity.SUSPECT
    title = "The order of the contenders never changed"
    threshold = "the same order in all rounds where a draw would give that less than once in a hundred times"
    threshold_reason = (
        "two contenders over three rounds keep their order one time in four by chance; only what chance does not "
        "explain fires"
    )
    next_step = "Run with a seed and the lab's own order."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        orders = [tuple(o) for o in case.run.plan.orders]
        contenders = len(orders[0]) if orders else 0
        if contenders < 2 or len(set(orders)) > 1:
            return
        chance = (1 / math.factorial(contenders)) ** (len(orders) - 1)
        if chance < RARE:
            yield self.finding(
                f"{len(orders)} rounds had the same order: {', '.join(orders[0])}",
                figures=[*SPEED, *CPU],
                evidence={"order": list(orders[0]), "chance": chance},
            )
