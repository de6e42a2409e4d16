"""Rules of claims files: bounds, events, and a claim that says how it is tested."""

from __future__ import annotations

from touchstone.check.schema.forms import FILLED, Schema, either, has, lacks, never, when
from touchstone.manifest.annotation import Model
from touchstone.manifest.claim import UNITS, Claim, DifferenceTest, EventTest, RatioTest, ValueTest

_BOUNDED = [either(has("at_least"), has("at_most"))]
_BYTES: Schema = {"enum": [name for name, (base, _) in UNITS.items() if base == "B"]}

RULES: dict[Model, list[Schema]] = {
    RatioTest: _BOUNDED,
    DifferenceTest: _BOUNDED,
    ValueTest: _BOUNDED,
    EventTest: [
        when(has(event="finding"), {"allOf": [has(findings=FILLED), lacks("limit", "unit")]}),
        when(never(has(event="finding")), has("limit", unit=_BYTES)),
        when(never(has(event="finding")), never(either(has(findings=FILLED), has(occurs=False)))),
    ],
    Claim: [
        either(has("test"), has("not_testable"), has("not_measured")),
        never(has("test"), has("not_measured")),
        when(has(explained_by=FILLED), has("test")),
        when(has(why=True), has("test")),
    ],
}
