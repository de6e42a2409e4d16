"""`touchstone ab-url`: one request to two services that run already, in turns."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from touchstone.cli import options
from touchstone.cli.pair_code import pair_code
from touchstone.cli.places import as_typed, results_root
from touchstone.cli.services import read_services
from touchstone.cli.terms import read_figures, read_share
from touchstone.engine.ask import pasted_url
from touchstone.failure import TouchstoneError, UsageError
from touchstone.judge.comparison.across import Terms
from touchstone.phase.load.figures import WATCHED
from touchstone.record.secret import shown_text
from touchstone.report import render
from touchstone.report.format import plural
from touchstone.report.pair import print_pair
from touchstone.report.view import View
from touchstone.run.measure import Conditions
from touchstone.run.progress import display_for
from touchstone.run.two_urls import Question, compare_urls
from touchstone.vocabulary.figure import FIGURES

_ASKED, _OF_THE_PROCESS = ("throughput", "latency_p50"), ("cpu_per_request", "rss_peak")


def ab_url(
    base: Annotated[str, typer.Argument(metavar="URL1", help="The service to compare with: http://HOST:PORT/PATH.")],
    head: Annotated[str, typer.Argument(metavar="URL2", help="The service in question: the same path and query.")],
    method: Annotated[str, typer.Option("--method", "-X", help="The request's method.")] = "GET",
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", help="A field of the request, `Name: value`. Repeatable.")
    ] = None,
    body: Annotated[str | None, typer.Option("--body", "-d", help="The request's body; `@FILE` reads it.")] = None,
    status: Annotated[
        int | None, typer.Option(min=200, max=599, help="The right status; what both answer if left out.")
    ] = None,
    connections: Annotated[int, typer.Option("--connections", "-c", min=1, help="Connections of each service.")] = 16,
    pid: Annotated[
        list[str] | None,
        typer.Option(
            "--pid",
            metavar="base|head=PID",
            help="A process, for memory and CPU, if not the one that listens: `base=4711`.",
        ),
    ] = None,
    cgroup: Annotated[
        list[str] | None, typer.Option("--cgroup", metavar="base|head=PATH", help="A control group, for the same.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", metavar="HOST", help="Load this host, though it is another.")
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option("--figure", help="A figure to ask about, if wanted with its margin: throughput=2%. Repeatable."),
    ] = None,
    margin: options.PairMargin = "3%",
    minutes: options.PairMinutes = 5.0,
    allow_undecided: options.AllowUndecided = False,
    out: options.Out = None,
    json: options.Json = False,
) -> int:
    """Compare two services that run already on one request: which figures are better, worse or equivalent."""
    urls, target = _split((base, head))
    services = read_services([f"base={urls[0]}", f"head={urls[1]}"], pid or (), cgroup or (), allow_host or ())
    watched = all(service.pid or service.cgroup for service in services)
    named = read_figures(figure or (*_ASKED, *(_OF_THE_PROCESS if watched else ())))
    _refuse_unmeasured(named, watched=watched)
    terms = Terms(margin=read_share(margin), confidence=0.95, figures=named, loads=())
    question = Question(
        terms, target, method.upper(), _fields(header or ()), _body(body), status, connections, as_typed()
    )
    conditions = Conditions(
        results=results_root(),
        folder=out,
        display=display_for(Console(stderr=json)),
        until_decided_s=minutes * 60,
        notes=[shown_text(f"base is {base}"), shown_text(f"head is {head}")],
    )
    answer = compare_urls((services[0], services[1]), question, conditions)
    render(answer.run, answer.judgement, answer.folder)
    said = answer.urls
    if json:
        typer.echo(said.model_dump_json(indent=1, by_alias=True))
    else:
        console = Console()
        print_pair(console, said, terms, View(answer.run, answer.judgement))
        if said.rounds > 1:
            console.print("Both were the same processes in all rounds: restart them and ask again before you say more.")
        told = f"{plural(said.rounds, 'round')}; report: {answer.folder / 'report.html'}"
        console.print(told, highlight=False, soft_wrap=True)
    return pair_code(said, allow_undecided=allow_undecided)


def _split(urls: tuple[str, str]) -> tuple[list[str], str]:
    """The services' own addresses, and the request target that both URLs name. Raises UsageError if they name two."""
    first, second = map(pasted_url, urls)
    if first.target != second.target:
        raise UsageError(
            f"the URLs name two requests: {first.target} and {second.target}",
            fix="give both the same path and query; a scenario can hold more: `touchstone run --url`",
        )
    return [first.origin, second.origin], first.target


def _refuse_unmeasured(figures: Iterable[str], *, watched: bool) -> None:
    """Raise UsageError for a figure that a load does not give, or not without a look at the processes."""
    for figure in figures:
        if FIGURES[figure].phase != "load":
            raise UsageError(f"{figure!r} is no figure of a load", fix=f"such are: {', '.join(_ASKED)}, latency_p99")
        if figure in WATCHED and not watched:
            raise UsageError(
                f"{figure!r} is read of the processes, and nobody knows which they are",
                fix="give both by --pid base=PID --pid head=PID, or by --cgroup",
            )


def _fields(words: list[str] | tuple[str, ...]) -> dict[str, str]:
    found = {}
    for word in words:
        name, separator, value = word.partition(":")
        if not separator or not name.strip():
            raise UsageError(f"{word!r} is no field of a request", fix="write it like -H 'Accept: application/json'")
        found[name.strip()] = value.strip()
    return found


def _body(word: str | None) -> str | None:
    if word is None or not word.startswith("@"):
        return word
    try:
        return Path(word[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TouchstoneError(f"the body cannot be read: {error}", where=word[1:], fix="name another file") from error


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ab-url")(ab_url)
