"""`touchstone audit`: checks published results for contradictions."""

from __future__ import annotations

import json as json_module
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from touchstone.audit.audit import NOISE, Audit, RepeatedLoad, audit
from touchstone.audit.published import PublishedResult
from touchstone.audit.read import read_together
from touchstone.failure import UsageError
from touchstone.judge.language.quantity import number, seconds
from touchstone.report.format import plural

_LISTED = 20
"""Number of results shown with their figures; a leaderboard has its own page."""


def audit_file(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Results of a load tool, such as wrk, k6 or JMeter, or of a public benchmark (docs/audit.md lists "
            "all); several files of one load are its repetitions.",
        ),
    ],
    noise: Annotated[
        float, typer.Option(help="The share by which a rate is assumed to vary, to judge how much its rank means.")
    ] = NOISE,
    entry: Annotated[str | None, typer.Option(help="Only this entry.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
) -> None:
    """Apply to published results every check that needs no rerun, by entry and by cause."""
    if not 0 < noise < 1:
        raise UsageError(f"--noise {noise} is not a share", fix="give one between 0 and 1, such as 0.05")
    made = audit(read_together(files), noise, files=len(files))
    if entry is not None and entry not in {result.entry for result, _ in made.by_entry}:
        raise UsageError(
            f"there is no entry {entry!r}", where=", ".join(map(str, files)), fix="leave --entry out to see them all"
        )
    if json:
        typer.echo(document(made, entry))
    else:
        show(Console(), made, entry)


def show(console: Console, made: Audit, entry: str | None) -> None:
    """Print an audit by cause and by entry. With `entry`, print only the faults of that entry."""

    def say(text: str = "") -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    total = len(made.by_entry)
    touched = sum(bool(wrong) for _, wrong in made.by_entry)
    say(f"{made.publication.title}: {plural(total, 'result')}, {touched} of them with something to explain")
    for word in made.publication.left_out:
        say(f"left out: {word}")
    if total <= _LISTED:
        say("\nread")
        for result, _ in made.by_entry:
            say(f"  {result.entry}, {result.test}: {_figures(result)}")
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
        say(f"\nranks (a rate is assumed to vary by {made.noise:.0%})")
    for ranks in made.ranks:
        say(f"  {ranks.test}: {ranks.within_noise} of {ranks.entries - 1} neighbouring ranks differ by less than that")
    shown = [(result, wrong) for result, wrong in made.by_entry if wrong and entry in (None, result.entry)]
    say("\nby entry" if shown else "\nby entry: nothing to explain")
    for result, wrong in shown:
        say(f"  {result.entry}, {result.test}")
        for fault in wrong:
            say(f"    {fault.code}: {fault.statement}")


def _figures(result: PublishedResult) -> str:
    """Return the result's figures as one line."""
    times = {"mean": result.mean_s, "p50": result.percentiles.get(0.5), "p99": result.percentiles.get(0.99)}
    words = [f"{number(result.rate)}/s"] if result.rate is not None else ["no rate"]
    words += [
        f"{name} {seconds(value)}" for name, value in (times | {"max": result.max_s}).items() if value is not None
    ]
    return ", ".join(words if len(words) > 1 else [*words, "no latency"])


def _repeated_words(repeated: RepeatedLoad) -> str:
    sentence = f"{repeated.test}: {repeated.runs} runs, whose rate varies by {repeated.scatter:.1%}"
    rate = repeated.rate
    return f"{sentence}: {rate.point:,.0f}/s ({rate.low:,.0f} to {rate.high:,.0f})"


def document(made: Audit, entry: str | None) -> str:
    """Return an audit as JSON. With `entry`, return only the results of that entry."""
    found = {
        "schema": "touchstone.audit/1",
        "format": made.publication.format,
        "tools": [{"tool": t, "version": v} for t, v in dict.fromkeys((r.tool, r.version) for r, _ in made.by_entry)],
        "left_out": made.publication.left_out,
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
        "figures": [_read_document(r) for r, _ in made.by_entry if entry in (None, r.entry)],
    }
    # JSON has no numbers that are infinite, or none.
    finite = json_module.loads(json_module.dumps(found), parse_constant=lambda _: None)
    return json_module.dumps(finite, indent=1)


def _read_document(result: PublishedResult) -> dict[str, object]:
    """Return the fields of a result as in the file. Missing fields are null."""
    left_out = {"causes", "step_s", "mean_step_s", "least_mean_s", "digits", "lawless", "load", "ranked"}
    return {name: value for name, value in asdict(result).items() if name not in left_out}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit_file)
