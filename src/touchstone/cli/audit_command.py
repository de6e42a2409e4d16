"""`touchstone audit`: what published results say about themselves."""

from __future__ import annotations

import json as json_module
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from touchstone.audit.audit import NOISE, Audit, Repeated, audit
from touchstone.audit.read import read_together
from touchstone.failure import UsageError


def audit_file(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Results of HttpArena, TechEmpower, the-benchmarker, k6, oha, vegeta, wrk or hey; several files of "
            "one load are its repetitions.",
        ),
    ],
    noise: Annotated[
        float, typer.Option(help="The share by which a rate is taken to scatter, for what its rank is worth.")
    ] = NOISE,
    entry: Annotated[str | None, typer.Option(help="Only this entry.")] = None,
    json: Annotated[bool, typer.Option("--json", help="For a machine.")] = False,
) -> None:
    """Apply to published results every check that needs no rerun, by entry and by cause."""
    if not 0 < noise < 1:
        raise UsageError(f"--noise {noise} is no share", fix="give one between 0 and 1, such as 0.05")
    made = audit(read_together(files), noise, files=len(files))
    if entry is not None and entry not in {result.entry for result, _ in made.by_entry}:
        raise UsageError(
            f"there is no entry {entry!r}", where=", ".join(map(str, files)), fix="leave --entry out to see them all"
        )
    if json:
        typer.echo(_document(made, entry))
    else:
        _tell(Console(), made, entry)


def _tell(console: Console, made: Audit, entry: str | None) -> None:
    def say(text: str = "") -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    total = len(made.by_entry)
    touched = sum(bool(wrong) for _, wrong in made.by_entry)
    say(f"{made.publication.format}: {total} results, {touched} of them with something to explain")
    say("\nby cause")
    for code, count, example in made.by_cause:
        say(f"  {code}: {count} of {total}\n    {example}")
    if made.repeated is not None:
        say(f"\n{_repeated_words(made.repeated)}")
    if made.not_applied:
        say("\nnot checked")
    for check, count, reason in made.not_applied:
        say(f"  {check}: {count} of {total}: {reason}")
    if made.ranks:
        say(f"\nranks (a rate is taken to scatter by {made.noise:.0%})")
    for ranks in made.ranks:
        say(f"  {ranks.test}: {ranks.within_noise} of {ranks.entries - 1} neighbours differ by less than that")
    say("\nby entry")
    for result, wrong in made.by_entry:
        if wrong and entry in (None, result.entry):
            say(f"  {result.entry}, {result.test}")
            for fault in wrong:
                say(f"    {fault.code}: {fault.statement}")


def _repeated_words(repeated: Repeated) -> str:
    told = f"{repeated.test}: {repeated.runs} runs, whose rate scatters by {repeated.scatter:.1%}"
    rate = repeated.rate
    return f"{told}: {rate.point:,.0f}/s ({rate.low:,.0f} to {rate.high:,.0f})"


def _document(made: Audit, entry: str | None) -> str:
    document = {
        "schema": "touchstone.audit/1",
        "format": made.publication.format,
        "noise": made.noise,
        "causes": [{"code": c, "results": n, "example": e} for c, n, e in made.by_cause],
        "ranks": [asdict(ranks) for ranks in made.ranks],
        "not_checked": [{"check": c, "results": n, "reason": r} for c, n, r in made.not_applied],
        "repeated": asdict(made.repeated) if made.repeated else None,
        "results": [
            {"entry": r.entry, "test": r.test, "faults": [asdict(f) for f in wrong]}
            for r, wrong in made.by_entry
            if entry in (None, r.entry)
        ],
    }
    return json_module.dumps(document, indent=1)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit_file)
