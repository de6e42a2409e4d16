"""`touchstone bundle` and `touchstone verify`: write a run into one file, and check such a file."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

import touchstone
from touchstone.bundle.again import Answer, Rerun, measure_again, refuse_unrepeatable
from touchstone.bundle.archive import Manifest, lay_out, unpack
from touchstone.bundle.consistency import contradictions
from touchstone.bundle.pack import pack
from touchstone.bundle.verdicts import departures
from touchstone.cli.completion import runs
from touchstone.cli.options import refuse_without
from touchstone.cli.places import find_run, results_root, scenarios_root
from touchstone.failure import ExitCode, InvalidRunError, UsageError
from touchstone.manifest.catalogue import find_scenario
from touchstone.record.run import Run
from touchstone.record.store import REVISIONS
from touchstone.report.format import percent, plural, ratio, ratio_interval
from touchstone.run.fingerprint import lab_revision
from touchstone.run.measure import RunConditions
from touchstone.run.progress import display_for
from touchstone.vocabulary.figure import FIGURES

_MOST = 8
"""Contradictions that are listed; of more it gives the number."""


def bundle(
    run: Annotated[str, typer.Argument(help="A run's id or folder, or `last`.", autocompletion=runs)] = "last",
    out: Annotated[Path, typer.Option("--out", help="The file to write.")] = Path("run.touchstone"),
) -> None:
    """Write a run into one file that others can check: records, plan, environment, verdicts, hashes of sources."""
    if out.is_dir():
        raise UsageError("it is a folder", where=str(out), fix="name a file in it: --out FILE")
    manifest = pack(find_run(run), out)
    size = out.stat().st_size
    typer.echo(f"{out}: {manifest.run}, {plural(len(manifest.files), 'file')}, {size / 1000:.0f} kB")
    typer.echo(f"to check it: touchstone verify {out}")


def verify(
    bundle: Annotated[Path, typer.Argument(help="A file of `touchstone bundle`.")],
    minutes: Annotated[
        float, typer.Option(min=0.0, help="Also build the contenders, and measure the headline again for this time.")
    ] = 0.0,
    scenario: Annotated[
        str | None, typer.Option(help="With --minutes: the scenario's name or folder, if it is not the one here.")
    ] = None,
) -> int:
    """Check a bundle of another author: its hashes, its records against each other, and its verdicts.

    It measures nothing without --minutes. Whether a service keeps its contract is another question: `touchstone run
    --phase verify`.
    """
    refuse_without("--minutes", minutes > 0, {"--scenario": scenario})
    manifest, files = unpack(bundle)
    with TemporaryDirectory(prefix="touchstone-bundle-") as folder:
        run = lay_out(files, Path(folder))
    _check(bundle, manifest, run, files)
    if not minutes:
        return ExitCode.OK
    refuse_unrepeatable(run, revisions=REVISIONS in files)
    found = find_scenario(scenario or run.plan.scenario, scenarios_root())
    conditions = RunConditions(results=results_root(), display=display_for(Console()))
    rerun = measure_again(run, manifest.sources, found, minutes, conditions)
    _print_rerun(rerun)
    codes = {Answer.REPRODUCED: ExitCode.OK, Answer.CONTRADICTED: ExitCode.GATE, Answer.UNDECIDED: ExitCode.UNDECIDED}
    return codes[rerun.answer]


def _check(bundle: Path, manifest: Manifest, run: Run, files: dict[str, bytes]) -> None:
    """Print the checks that pass. Raises InvalidRunError with all that fail."""
    typer.echo(f"{plural(len(files), 'file')} with the hashes that the manifest names")
    if found := contradictions(run):
        raise InvalidRunError(
            f"the records contradict each other in {plural(len(found), 'place')}:\n  " + "\n  ".join(_first(found)),
            where=str(bundle),
            fix="do not trust its figures; ask its author for the run's folder",
        )
    typer.echo(f"{plural(len(run.samples), 'sample')} whose counts, times, orders and machine agree with each other")
    if found := departures(run, files):
        here = (touchstone.__version__, lab_revision())
        other = (manifest.touchstone_version, manifest.touchstone_revision) != here
        versions = " (judged there by another version, whose rules may differ)" if other else ""
        raise InvalidRunError(
            f"its statements do not follow from its records{versions}:\n  " + "\n  ".join(_first(found)),
            where=str(bundle),
            fix="see how this version judges it: `touchstone show BUNDLE`"
            + ("; or verify it with the version that made it" if other else ""),
        )
    typer.echo("every stated verdict, interval and finding follows from the records")


def _print_rerun(rerun: Rerun) -> None:
    stated, again = rerun.stated, rerun.again
    place = f"{stated.contender} against {stated.baseline}, {stated.load}: {FIGURES[stated.figure].title}"
    for name, one in (("stated", stated), ("here", again)):
        bounds = ratio_interval(one.low, one.high)
        typer.echo(f"{name}: {place}: {ratio(one.ratio)} ({bounds}), {one.outcome}")
    for line in rerun.machines:
        typer.echo(f"the machines differ: {line}")
    for name in rerun.sources:
        typer.echo(f"{name} was built from other sources, commands or tools than the stated one")
    if rerun.answer is Answer.UNDECIDED and rerun.power is not None:
        typer.echo(
            f"a difference of {percent(round(rerun.power, 3))} could have been detected; "
            "more `--minutes` detect a smaller one",
        )
    typer.echo(f"{rerun.answer}")


def _first(found: list[str]) -> list[str]:
    more = len(found) - _MOST
    return found if more <= 0 else [*found[:_MOST], f"and {more} more"]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("bundle")(bundle)
    app.command("verify")(verify)
