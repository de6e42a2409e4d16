"""Verdicts on claims on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from touchstone.judge.claims.ruling import Measurement, Ruling
from touchstone.manifest.claim import Claim
from touchstone.report.claims.view import RuledFile
from touchstone.report.claims.words import SIGNS, bounds, figure, interval, measured, published, reason, value
from touchstone.report.why.terminal import print_explanation

_COLOURS = {
    Ruling.HOLDS: "green",
    Ruling.EXPLAINED: "magenta",
    Ruling.CONTRADICTED: "red",
    Ruling.UNDECIDED: "yellow",
    Ruling.NOT_TESTABLE: "cyan",
    Ruling.NOT_MEASURED: "dim",
}


def print_claims(console: Console, ruled: list[RuledFile]) -> None:
    """A table a file."""
    for one in ruled:
        letter = f"{one.file.letter}: " if one.file.letter else ""
        console.print(f"\n[bold]{escape(letter + one.file.title)}[/]", highlight=False)
        table = Table("id", "verdict", "statement", "published", "measured", "interval", box=None, header_style="bold")
        for column, wide in ((0, 4), (1, 14), (3, 9), (4, 9)):
            table.columns[column].min_width = wide
            table.columns[column].no_wrap = column < 2
        for claim in one.file.claims:
            ruling = one.of(claim)
            shown = [m for m in ruling.measurements if m.value is not None or m.happened is not None]
            colour = _COLOURS[ruling.ruling]
            table.add_row(
                claim.id,
                f"[{colour}]{SIGNS[ruling.ruling].mark} {ruling.ruling}[/]",
                escape(claim.says),
                "\n".join(_published(m) for m in ruling.measurements),
                "\n".join(measured(m) for m in shown),
                "\n".join(interval(m) for m in shown),
            )
        console.print(table)
        console.print(
            f"{len(one.file.claims)} statements, {one.ruling.measured} measured: {one.tally}", highlight=False
        )

        # It is expected that a published statement was not measured here. For an own promise it is not.
        asked = (Ruling.UNDECIDED, Ruling.NOT_MEASURED) if one.file.own else (Ruling.UNDECIDED,)
        still_open = [(c.id, one.of(c)) for c in one.file.claims if one.of(c).ruling in asked]
        if still_open:
            console.print("What would decide the rest:", highlight=False)
        for name, ruling in still_open:
            console.print(escape(f"  {name}: {reason(ruling)}"), highlight=False, soft_wrap=True)


def _published(measurement: Measurement) -> str:
    return "" if measurement.published is None else value(measurement.published, measurement.unit)


def explain_claim(console: Console, ruled: RuledFile, claim: Claim) -> None:
    """All that a verdict rests on, down to the samples."""
    ruling = ruled.of(claim)
    lines = [f"{claim.id}: {claim.says}", f"verdict: {ruling.ruling} ({SIGNS[ruling.ruling].word})", reason(ruling)]
    lines += [f"published: {p.what}: {published(p)}" for p in claim.published]
    lines += [line for m in ruling.measurements for line in _measurement(m, "")]
    for explanation in ruling.explanations:
        state = {True: "reproduced", False: "not reproduced", None: "not decided"}[explanation.reproduced]
        lines += [f"explanation ({state}): {explanation.says}"]
        lines += [line for m in explanation.measurements for line in _measurement(m, "  ")]
    conditions = claim.conditions or ruled.file.conditions
    if conditions is not None:
        lines += [f"the publication: {conditions.publication.strip()}", f"touchstone: {conditions.lab.strip()}"]
    if claim.stand_in:
        lines.append(f"measured in its place: {claim.stand_in}")
    if claim.not_testable is not None:
        lines += [f"evidence: {line}" for line in claim.not_testable.evidence]
    lines += [f"background: {claim.background}"] if claim.background else []
    lines += [f"reference: {text}" for text in claim.references or ruled.file.references]
    for line in lines:
        if line:
            console.print(escape(line), highlight=False, soft_wrap=True)
    if ruling.cause is not None:
        print_explanation(console, ruling.cause)


def _measurement(m: Measurement, indent: str) -> list[str]:
    load = f" under the load {m.load}" if m.load else ""
    number = " ".join(part for part in (measured(m), f"({interval(m)})" if interval(m) else "") if part)
    asked = f"; stated: {bounds(m)}" if bounds(m) else ""
    lines = [f"{indent}measured: {figure(m)} of {m.label}{load}: {number}{asked}: {m.ruling}"]
    lines += [f"{indent}  {m.reason}"] if m.reason else []
    return lines + [f"{indent}  sample: {sample.replace('/', ' ')}" for sample in m.samples]
