"""An objective: what a service must keep at a rate for the rate to count, such as `p99 < 50ms, errors < 0.1%`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from touchstone.manifest.condition import (
    PERCENTILES,
    QUANTITIES,
    STREAM_TIMES,
    Condition,
    ConditionError,
    parse_condition,
)

ERRORS = "errors < 0.1%"
"""Holds where an objective says nothing of errors: a refusal is quick, and must not pass for an answer."""
BEYOND = 10
"""Requests beyond a percentile that it needs before it is meaningful."""
_EXAMPLE = "write it like 'p99 < 50ms, errors < 0.1%'"


@dataclass(frozen=True)
class Objective:
    """Upper bounds that must hold together."""

    text: str
    terms: tuple[Condition, ...]
    """At least one on a latency, and one on errors."""
    implied_errors: bool = False
    """Whether the bound on errors is the usual one, because the objective names none."""

    @property
    def least_requests(self) -> int:
        """How many requests a trial must have for its percentiles, and for its share of errors."""
        shares = [1 - PERCENTILES[term.quantity] for term in self.terms if term.quantity in PERCENTILES]
        # A request has one first event, and many gaps.
        shares += [1 - PERCENTILES["p99"] for term in self.terms if term.quantity == "first_event_p99"]
        # A share of 0.1 % means something once one failure among the requests is less than it. Where nobody asked for
        # a share of errors, the percentiles alone decide: one failure among fewer requests then breaks the objective.
        allowed = [term.bound for term in self.terms if term.quantity == "errors" and not self.implied_errors]
        needed = [BEYOND / share for share in shares] + [1 / bound for bound in allowed]
        return round(max([100.0, *needed]))

    @property
    def of_streams(self) -> str | None:
        """The first bound on events of streams; None if it bounds none."""
        return next((term.quantity for term in self.terms if term.quantity in STREAM_TIMES), None)

    @property
    def latency(self) -> Condition:
        """The first term on a latency: what a curve is drawn of."""
        return next(term for term in self.terms if term.quantity != "errors")


def parse_objective(text: str) -> Objective:
    """Read an objective. Raises ConditionError that says what is wrong with it, and how to write it."""
    if not text.strip():
        raise ConditionError("the objective is empty", _EXAMPLE)
    terms: list[Condition] = []
    for part in text.split(","):
        term = _term(part)
        if term.quantity == "rate":
            raise ConditionError(f"{term.text!r}: the rate is what is searched for", _EXAMPLE)
        if term.than in {">", ">="}:
            raise ConditionError(f"{term.text!r}: an objective is an upper bound", _EXAMPLE)
        if term.bound <= 0:
            raise ConditionError(f"{term.text!r}: nothing lies below 0", _EXAMPLE)
        if term.quantity == "errors" and term.bound > 0.5:
            raise ConditionError(f"{term.text!r}: a service of which more than half fails keeps no objective", _EXAMPLE)
        if any(other.quantity == term.quantity for other in terms):
            raise ConditionError(f"{text!r} bounds {term.quantity} twice", "leave one of the bounds out")
        terms.append(term)
    _refuse_contradictions(text, terms)
    if all(term.quantity == "errors" for term in terms):
        raise ConditionError(f"{text!r} bounds no latency", _EXAMPLE)
    implied = not any(term.quantity == "errors" for term in terms)
    if implied:
        terms.append(parse_condition(ERRORS))
    return Objective(text.strip(), tuple(terms), implied)


def _term(text: str) -> Condition:
    """One bound. Raises an error with an example, since the conditions of a load point the other way."""
    try:
        return parse_condition(text)
    except ConditionError as error:
        if error.what.endswith("is not a condition"):
            upper = ", ".join(quantity for quantity in QUANTITIES if quantity != "rate")
            raise ConditionError(error.what, f"{_EXAMPLE}; of: {upper}") from error
        raise


def _refuse_contradictions(text: str, terms: list[Condition]) -> None:
    """A further percentile is never lower than a nearer one: a bound that says so is a slip of the pen."""
    ordered = sorted((t for t in terms if t.quantity in PERCENTILES), key=lambda t: PERCENTILES[t.quantity])
    ordered += [term for term in terms if term.quantity == "max"]
    for nearer, further in itertools.pairwise(ordered):
        if further.bound < nearer.bound:
            raise ConditionError(
                f"{text!r} contradicts itself: {further.quantity} is never below {nearer.quantity}, and its bound is",
                f"leave {nearer.text!r} out, or raise {further.text!r}",
            )
