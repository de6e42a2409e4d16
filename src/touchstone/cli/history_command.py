"""`touchstone history`: figures over commits, recorded, shown and exported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from touchstone.cli.options import refuse_without
from touchstone.cli.pairs import read_pair
from touchstone.cli.places import find_run, results_root
from touchstone.cli.terms import read_figures, read_share
from touchstone.failure import UsageError
from touchstone.history import page, store
from touchstone.history.described import DescribedSeries, SeriesText, described_series
from touchstone.history.entry import HistoryEntry
from touchstone.history.exports import EXPORTS, LEFT_OUT
from touchstone.history.plot import shown_words, size_words
from touchstone.history.recording import MeasuredCommit, entries_of, entries_of_revisions
from touchstone.judge.comparison.pair import Revision
from touchstone.record.base import Record
from touchstone.record.store import REVISIONS, load_run, runs_in
from touchstone.report.export import write
from touchstone.report.format import plural
from touchstone.revisions.repository import Repository

_MOST_COMMITS = 20

Store = Annotated[Path, typer.Option("--store", help="The file of the history.")]

app = typer.Typer(no_args_is_help=True)


class _HistoryDocument(Record):
    """What `--json` prints."""

    series: list[SeriesText]


@app.command()
def record(
    run: Annotated[str | None, typer.Argument(help="A run's id or folder; the last one if left out.")] = None,
    ab: Annotated[bool, typer.Option("--ab", help="A run of `touchstone ab`: the last one, if none is named.")] = False,
    commit: Annotated[
        str, typer.Option(help="The revision that the run has measured; a run of `ab` knows it.")
    ] = "HEAD",
    reference: Annotated[
        str | None, typer.Option(help="The contender to compare the others with; by default the run's baseline.")
    ] = None,
    to: Store = Path(store.DEFAULT),
) -> None:
    """Append a run's figures: each as a ratio to a pinned reference, with its interval and the machine."""
    folder = _last_of_ab() if ab and run is None else find_run(run or "last")
    if ab and not (folder / REVISIONS).is_file():
        raise UsageError("this is not a run of `touchstone ab`", where=str(folder), fix="leave --ab out")
    entries = _entries(folder, commit, reference)
    store.append(to, entries)
    console = Console()
    console.print(
        f"{plural(len(entries), 'figure')} of {entries[0].commit[:10]} recorded in {to}", highlight=False, markup=False
    )
    if entries[0].dirty:
        console.print("files had changed since that commit, which the entry records", highlight=False)


@app.command()
def show(
    figure: Annotated[list[str] | None, typer.Option("--figure", help="Only this figure. Repeatable.")] = None,
    magnitude: Annotated[str, typer.Option(help="The smallest change to report.")] = "1%",
    changes: Annotated[bool, typer.Option("--changes/--no-changes", help="Search for change points.")] = True,
    out: Annotated[Path, typer.Option(help="The page.")] = Path("touchstone-history.html"),
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, and write no page.")] = False,
    of: Store = Path(store.DEFAULT),
) -> None:
    """Show which figures changed at which commit, and write a page with plots."""
    asked = read_figures(figure or [])
    entries = [entry for entry in store.read(of) if not asked or entry.figure in asked]
    if not entries:
        raise UsageError("the history has no entry of that", where=str(of), fix="leave --figure out to see them all")
    seen = described_series(entries, read_share(magnitude), _between, find_changes=changes)
    if json:
        typer.echo(_HistoryDocument(series=[one.text for one in seen]).model_dump_json(indent=1, by_alias=True))
        return
    print_series(Console(), seen)
    typer.echo(f"page: {write(out, page.document(seen, of.name))}")


@app.command()
def export(
    format_: Annotated[str, typer.Argument(metavar="FORMAT", help=f"{', '.join(EXPORTS)}.")],
    run: Annotated[
        str | None, typer.Option(help="A run that need not be recorded, instead of the history: its id, or `last`.")
    ] = None,
    commit: Annotated[
        str | None, typer.Option(help="With --run: the revision that it has measured; HEAD if left out.")
    ] = None,
    reference: Annotated[str | None, typer.Option(help="With --run: the contender to compare the others with.")] = None,
    of: Store = Path(store.DEFAULT),
) -> None:
    """Print the newest figures, or the history, in another tool's format."""
    if format_ not in EXPORTS:
        raise UsageError(f"there is no format {format_!r}", fix=f"one of: {', '.join(EXPORTS)}")
    refuse_without("--run", run is not None, {"--commit": commit, "--reference": reference})
    entries = _entries(find_run(run), commit or "HEAD", reference) if run else store.read(of)
    typer.echo(EXPORTS[format_](entries), nl=False)
    for line in LEFT_OUT[format_](entries) if format_ in LEFT_OUT else []:
        typer.echo(line, err=True)


def _entries(folder: Path, commit: str, reference: str | None) -> list[HistoryEntry]:
    measured = load_run(folder)
    repository = Repository.around(Path.cwd())
    judged = read_pair(folder)
    if judged is None:
        revision = repository.revision(commit)
        dirty = commit == "HEAD" and repository.working_tree(results_root()).dirty
        return entries_of(measured, _measured(repository, revision, dirty=dirty), reference=reference)
    _, head = judged.revisions
    if head.dirty:
        raise UsageError(
            "the head of this run is not a commit, but a working tree with changes",
            where=str(folder),
            fix="commit them and measure again: `touchstone ab BASE HEAD`",
        )
    return entries_of_revisions(measured, judged, _measured(repository, repository.revision(head.commit)))


def _measured(repository: Repository, revision: Revision, *, dirty: bool = False) -> MeasuredCommit:
    return MeasuredCommit(revision.commit, repository.committed_at(revision), revision.subject, dirty)


def _last_of_ab() -> Path:
    found = [folder for folder in runs_in(results_root()) if (folder / REVISIONS).is_file()]
    if not found:
        raise UsageError("there is no run of two revisions", where=str(results_root()), fix="`touchstone ab` makes one")
    return found[-1]


def _between(after: str, until: str) -> Sequence[Revision]:
    try:
        return Repository.around(Path.cwd()).log(after, until, _MOST_COMMITS)
    except UsageError:  # A history may be looked at away from its repository.
        return []


def print_series(console: Console, seen: Sequence[DescribedSeries]) -> None:
    """Print the series of a history with their changes and breaks."""
    table = Table(
        "contender", "load", "figure", "commits", "newest", "changes", "breaks", box=None, header_style="bold"
    )
    for one in seen:
        first = one.series.first
        counts = [str(len(one.text.changes) or ""), str(len(one.series.breaks) or "")]
        newest = shown_words(one.series.values[-1], one.series)
        table.add_row(
            escape(first.contender), escape(first.load or ""), first.about.title, str(one.text.commits), newest, *counts
        )
    console.print(table)
    for one in seen:
        _tell_changes(console, one)


def _tell_changes(console: Console, one: DescribedSeries) -> None:
    def say(text: str) -> None:
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    title = f"{one.series.first.about.title} of {one.series.first.place}"
    for change in one.text.changes:
        word, way = "worse" if change.worse else "changed", "up" if change.share > 0 else "down"
        say(f"{title}: {word} {size_words(change)} ({way}) at one of:")
        for commit in change.commits:
            say(f"  {commit.commit[:10]} {commit.subject}")
    for broken in one.text.breaks:
        say(f"{title}: break before {broken.until[:10]}: {'; '.join(broken.differences)}")


def register(parent: typer.Typer) -> None:
    """Add the group of commands."""
    parent.add_typer(app, name="history", help="Keep figures over commits: record, show, export.")
