"""`touchstone compare`: two runs side by side, and a gate for CI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from touchstone.bundle.archive import is_bundle
from touchstone.cli import options
from touchstone.cli.completion import runs
from touchstone.cli.places import find_run
from touchstone.cli.terms import gate_code, read_figures, read_share
from touchstone.failure import ExitCode, InvalidRunError, UsageError
from touchstone.judge.comparison.across import ComparisonTerms, changes, comparable, differences, missing_figures
from touchstone.judge.comparison.gate import PairStatus, hold_against
from touchstone.judge.comparison.machines import across_machines, common_reference
from touchstone.judge.comparison.pair import PairJudgement, judge_runs
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Outcome
from touchstone.record.run import Run
from touchstone.record.store import load_run
from touchstone.report.changes import left_out_words, print_gate, print_gone, table
from touchstone.report.export import write
from touchstone.report.format import plural
from touchstone.report.pair_markdown import runs_document
from touchstone.run.load_results import LOAD_ALONE, load_results_at, run_of_load_results

_ADVICE = "more rounds in both runs (`--rounds`, `--until-decided`), or a wider margin (`--figure NAME=10%`)"


def compare(
    before: Annotated[
        str,
        typer.Argument(
            help="The earlier run: an id, a folder, a bundle, `last`, or results of `load`.", autocompletion=runs
        ),
    ],
    after: Annotated[str, typer.Argument(help="The later run.", autocompletion=runs)] = "last",
    margin: Annotated[str, typer.Option(help="The least change that matters, such as 5% or 0.05.")] = "5%",
    figure: Annotated[
        list[str] | None,
        typer.Option("--figure", help="Only this figure, if wanted with its margin: throughput=3%. Repeatable."),
    ] = None,
    load: options.Loads = None,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="End with code 3 if a figure is worse or missing, with 5 if one is undecided within its margin.",
        ),
    ] = False,
    allow_undecided: Annotated[
        bool, typer.Option("--allow-undecided", help="With --gate: undecided figures pass.")
    ] = False,
    reference: Annotated[
        str | None,
        typer.Option(
            help="For runs from different machines: the contender that ratios refer to; by default their baseline."
        ),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Compare absolute figures even if machine or scenario differ.")
    ] = False,
    all: Annotated[bool, typer.Option("--all", help="Also the figures that did not change.")] = False,
    markdown: Annotated[Path | None, typer.Option(help="Write a summary for a pull request to this file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
) -> int:
    """Compare two runs: which figures have really changed.

    Results of `touchstone load --json` can be compared too: a file, or a folder in which each file is a round.
    """
    options.refuse_without("--gate", gate, {"--allow-undecided": allow_undecided})
    if _place(before) == _place(after):
        raise UsageError(
            f"both are the same run: {before} and {after}",
            fix="name an earlier and a later run; `touchstone list --runs` lists them",
        )
    old, new = _read(before), _read(after)
    terms = _terms(margin, figure or [], load or [], new, old)
    if (reasons := comparable(old, new)) and not anyway:
        raise InvalidRunError(
            "the runs cannot be compared: " + "; ".join(reasons),
            fix="measure both with the same scenario and preset, or give --anyway",
        )
    judged = _compared(old, new, terms, reference, anyway=anyway)
    if markdown is not None:
        write(markdown, runs_document(judged))
    if json:
        typer.echo(judged.model_dump_json(indent=1, by_alias=True))
    else:
        _print(judged, everything=all)
        _print_limits(old, new)
        if gate:
            print_gate(Console(), hold_against(judged.changes, judged.gone, terms), _ADVICE)
    if not gate:
        return ExitCode.OK
    if judged.standing is PairStatus.INVALID:
        raise InvalidRunError(
            "the gate has nothing to compare: no figure that it watches is valid in both runs",
            fix="compare runs of the same scenario, contenders and loads, or name the figures to watch by --figure",
        )
    return gate_code(judged.standing, allow_undecided=allow_undecided)


def _place(name: str) -> Path:
    """Return the folder or file of a run or of results of `touchstone load`."""
    path = Path(name)
    return (path if is_bundle(path) or load_results_at(path) else find_run(name)).resolve()


def _read(name: str) -> Run:
    """Read a run, or results of `touchstone load` as one round each."""
    if not is_bundle(Path(name)) and (files := load_results_at(Path(name))):
        return run_of_load_results(files)
    return load_run(find_run(name))


def _compared(old: Run, new: Run, terms: ComparisonTerms, reference: str | None, *, anyway: bool) -> PairJudgement:
    """Compare all figures; for runs from different machines, only those that are comparable."""
    unlike = differences(old.environment, new.environment)
    judged = (judge(old), judge(new))
    lost = missing_figures(old, new, judged, terms)
    if not unlike or anyway:
        return judge_runs(old, new, changes(*judged, terms), lost, terms)
    common = common_reference(old, new, reference)
    if reference is not None and common is None:
        raise UsageError(f"{reference!r} is not a contender of both runs", fix="name one that both have")
    found = across_machines(old, new, terms, common)
    if not found.changes:
        raise InvalidRunError(
            "nothing can be compared between these machines: " + "; ".join(unlike),
            fix="measure both on the same machine, or both with a reference contender; --anyway compares the rest",
        )
    ratios = f"ratios to {found.reference} within each run, and " if found.reference else ""
    notes = [
        f"measured on different machines ({'; '.join(unlike)}): only {ratios}exact counts and sizes are compared. "
        "A ratio depends less on the machine than a time does, but still depends on it: `touchstone ab` measures "
        "both on one"
    ]
    return judge_runs(old, new, found.changes, lost, terms, left_out=found.left_out, notes=notes)


def _terms(margin: str, figures: list[str], loads: list[str], *runs: Run) -> ComparisonTerms:
    """Read the requested terms. Raises UsageError for an unknown figure or load."""
    named = read_figures(figures)
    known = sorted({name for run in runs for name in run.plan.loads})
    for name in loads:
        if name not in known:
            raise UsageError(f"no load of these runs is called {name!r}", fix=f"there are: {', '.join(known)}")
    confidence = min(run.plan.confidence for run in runs)
    return ComparisonTerms(margin=read_share(margin), confidence=confidence, figures=named, loads=tuple(loads))


def _print(judged: PairJudgement, *, everything: bool) -> None:
    console = Console()
    for note in judged.notes:
        console.print(note, highlight=False, markup=False, soft_wrap=True)
    shown = [c for c in judged.changes if everything or c.decided]
    if shown:
        console.print(table(shown, "before", "after"))
    print_gone(console, judged.gone)
    for one in judged.left_out:
        console.print(left_out_words(one), highlight=False, markup=False, soft_wrap=True)
    undecided = sum(change.outcome is Outcome.UNDECIDED for change in judged.changes)
    console.print(f"{plural(len(judged.changes), 'figure')} compared, {len(shown)} shown, {undecided} undecided")


def _print_limits(*runs: Run) -> None:
    """Print which questions results of single loads cannot answer."""
    if not any(run.plan.profile == LOAD_ALONE for run in runs):
        return
    console = Console()
    if any(len(run.samples) == 1 for run in runs):
        console.print("one result has no interval: repeat the load, and give a folder of results on either side")
    console.print("a result does not name its machine: compare only results of the same machine")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)
