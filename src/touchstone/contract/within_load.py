"""Which contract checks can be made inside a load, and which of their parts."""

from __future__ import annotations

from collections.abc import Iterable

from touchstone.contract.words import needs
from touchstone.manifest.contract import Act, Check, Send, Step, Wait
from touchstone.manifest.exchange import texts_of
from touchstone.manifest.template import BuiltInValue, ExternalValue, parse

_REQUESTS = 20
"""A check of more requests is a load of its own."""
_WAIT_S = 0.5
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN = frozenset({"fresh", "random"})
"""Values that differ each time a check is made."""


def checks_within_load(checks: Iterable[Check]) -> list[Check]:
    """The checks that hold during other traffic, with proofs that ask about their own work.

    They change nothing but what they made themselves, so that they can be made again and again.
    """
    return [
        check.model_copy(update={"proofs": [proof for proof in check.proofs if _has_own(proof.query)]})
        for check in checks
        if all(_may_be_made(step) for step in check.steps)
        and sum(step.repeat for step in check.steps if isinstance(step, Send)) <= _REQUESTS
    ]


def _may_be_made(step: Step) -> bool:
    if isinstance(step, Wait):
        return step.wait_s <= _WAIT_S
    if isinstance(step, Act):
        texts = [text for text in step.with_.values() if isinstance(text, str)]
        return step.act == "execute" and any(_has_own(text) for text in texts)
    is_refused = min(step.expect.statuses, default=0) >= 400
    asked = [text for place, text in texts_of(step).items() if place[0] != "expect"]
    return step.method in _READS or is_refused or bool(needs(step)) or any(_has_own(text) for text in asked)


def _has_own(text: str) -> bool:
    return any(
        (isinstance(piece, BuiltInValue) and piece.name in _OWN)
        or (isinstance(piece, ExternalValue) and piece.source == "capture")
        for piece in parse(text).placeholders
    )
