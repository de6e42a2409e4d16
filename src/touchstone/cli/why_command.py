"""`touchstone why`: where CPU per request, or a difference of it, comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from touchstone.cli import options
from touchstone.cli.places import find_run
from touchstone.failure import ExitCode, UsageError
from touchstone.judge.why.breakdown import break_down_cpu
from touchstone.judge.why.explain import explain, profiled_under
from touchstone.judge.why.explanation import CpuBreakdown, CpuExplanation, Unexplained
from touchstone.judge.why.tail.explain import explain_latency, latency_under
from touchstone.judge.why.tail.explanation import LatencyExplanation
from touchstone.record.base import Record
from touchstone.record.store import load_run
from touchstone.report.why.exports import write_exports
from touchstone.report.why.latency import print_any

_Found = CpuExplanation | CpuBreakdown | LatencyExplanation | Unexplained


class _WhyDocument(Record):
    """What `--json` prints."""

    explanations: list[_Found]


def why(
    run: Annotated[str, typer.Argument(help="A run's id or folder, or `last`.")] = "last",
    baseline: Annotated[
        str,
        typer.Argument(help="The contender to compare with: a stack, or stack/variant; by default the run's baseline."),
    ] = "",
    contender: Annotated[str, typer.Argument(help="The contender to explain; by default all others.")] = "",
    load: options.Loads = None,
    export: Annotated[
        Path | None, typer.Option(help="Write every contender's stacks to this folder: folded, and for speedscope.")
    ] = None,
    latency: Annotated[
        bool, typer.Option("--latency", help="Explain p99 instead of CPU: where slow requests spend their time.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
) -> int:
    """Explain CPU per request, or p99, in parts: a difference, or one contender by itself."""
    measured = load_run(find_run(run))
    there = latency_under(measured) if latency else profiled_under(measured)
    if not there:
        phase, lacks = ("tail", "kept no slow requests") if latency else ("profile", "has no profile")
        raise UsageError(
            f"run {measured.plan.run_id} {lacks}",
            fix=f"measure one: `touchstone run {measured.plan.scenario} --phase {phase}`",
        )
    if latency and export is not None:
        raise UsageError("--export writes stacks, and latency has none", fix="leave --latency or --export out")
    loads = _loads(load or [], there)
    names = list(dict.fromkeys(name for by in there.values() for name in by))
    first = _named(baseline, names) if baseline else measured.plan.baseline_among(names) or names[0]
    others = [_named(contender, names)] if contender else [name for name in names if name != first]
    confidence = measured.plan.confidence
    found: list[_Found] = []
    for name in loads:
        if latency:
            pairs: list[tuple[str | None, str]] = [(first, other) for other in others] or [(None, first)]
            found += [explain_latency(measured, a, b, name, confidence) for a, b in pairs]
        elif others:
            found += [explain(measured, first, other, name, confidence) for other in others]
        else:
            found.append(break_down_cpu(measured, first, name, confidence))
    _tell(found, json=json)
    if export is not None:
        for path in write_exports(measured, loads, [first, *others], export):
            typer.echo(f"wrote {path}", err=json)
    return ExitCode.OK


def _tell(found: list[_Found], *, json: bool) -> None:
    if json:
        typer.echo(_WhyDocument(explanations=found).model_dump_json(indent=1))
        return
    console = Console()
    for one in found:
        print_any(console, one)
        console.print()


def _loads(asked: list[str], there: dict[str, list[str]]) -> list[str]:
    for name in asked:
        if name not in there:
            raise UsageError(f"nothing was measured under {name!r}", fix=f"there are: {', '.join(there)}")
    return asked or list(there)


def _named(word: str, names: list[str]) -> str:
    """A contender by its name, or by its stack if one variant was profiled. Raises UsageError."""
    fitting = [name for name in names if word in (name, name.split("/", 1)[0])]
    if len(fitting) == 1:
        return fitting[0]
    what = f"{word!r} fits {', '.join(fitting)}" if fitting else f"{word!r} was not measured in this phase of the run"
    raise UsageError(what, fix=f"name one of: {', '.join(names)}")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("why")(why)
