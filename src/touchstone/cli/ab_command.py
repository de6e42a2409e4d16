"""`touchstone ab`: compares two git revisions, or two running services, in one run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console

from touchstone.cli import ab_revisions, ab_urls, options
from touchstone.cli.metrics_option import Live, Metrics, exported
from touchstone.cli.places import results_root
from touchstone.cli.terms import gate_code, read_share
from touchstone.failure import ExitCode, UsageError
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.gate import GatePolicy
from touchstone.report.annotations import annotation_lines
from touchstone.report.format import plural
from touchstone.report.pair import policy_words, print_pair
from touchstone.revisions.ab import SHARP
from touchstone.run.measure import RunConditions
from touchstone.run.pair import MeasuredPair
from touchstone.run.progress import display_for

_REVISIONS, _URLS = "two revisions", "two URLs"
_URL = re.compile(r"\w+://|[\w.-]+:\d+(/|$)")
"""Also one without its scheme, which is then asked for by name: no revision looks like `localhost:8080`."""
_HERE: Any = {"rich_help_panel": f"Options of {_REVISIONS}"}
_THERE: Any = {"rich_help_panel": f"Options of {_URLS}"}


def ab(
    ctx: typer.Context,
    base: Annotated[str, typer.Argument(help="What to compare with: a branch, a tag, a commit; or a URL.")],
    head: Annotated[
        str | None,
        typer.Argument(
            help="The revision to check, by default the working tree; or the URL of another service with the same "
            "path and query."
        ),
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option("--figure", help=f"A figure to decide, optionally with its margin: {SHARP[0]}=2%. Repeatable."),
    ] = None,
    margin: options.PairMargin = "3%",
    minutes: options.PairMinutes = 5.0,
    allow_undecided: options.AllowUndecided = False,
    out: options.Out = None,
    json: options.Json = False,
    scenario: Annotated[str | None, typer.Option(help=options.SCENARIO_WITHIN, **_HERE)] = None,
    stack: Annotated[str | None, typer.Option(help=options.STACK_WITHIN, **_HERE)] = None,
    command: Annotated[
        str | None,
        typer.Option(
            help="For a service that is built elsewhere: a shell command that puts a revision's artifacts into the "
            "work folder, in place of its build; {revision} is the commit.",
            **_HERE,
        ),
    ] = None,
    load: Annotated[
        list[str] | None, typer.Option("--load", help=options.LOAD, callback=options.split_names, **_HERE)
    ] = None,
    fresh_builds: Annotated[
        bool, typer.Option("--fresh-builds", help="Build everything again, without the build cache.", **_HERE)
    ] = False,
    no_twin: Annotated[
        bool,
        typer.Option(
            "--no-twin", help="Leave out the second copy of the base, by which the gate checks itself.", **_HERE
        ),
    ] = False,
    policy: Annotated[
        GatePolicy,
        typer.Option(
            help="Whether a verdict blocks. auto: only once twins show that false alarms are rare on this kind of "
            "machine; until then the command shows the verdict and ends with 0.",
            **_HERE,
        ),
    ] = GatePolicy.REQUIRED,
    why: Annotated[
        bool,
        typer.Option("--why", help="If CPU per request or p99 differs, show which parts of it do.", **_HERE),
    ] = False,
    markdown: Annotated[
        Path | None, typer.Option(help="Write a summary for a pull request to this file.", **_HERE)
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.", **_HERE)] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Also print annotations for GitHub Actions.", **_HERE)
    ] = False,
    method: Annotated[str, typer.Option("--method", "-X", help="The request's method.", **_THERE)] = "GET",
    header: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", help="A field of the request, `Name: value`. Repeatable.", **_THERE),
    ] = None,
    body: Annotated[
        str | None, typer.Option("--body", "-d", help="The request's body; `@FILE` reads it.", **_THERE)
    ] = None,
    status: Annotated[
        int | None,
        typer.Option(min=200, max=599, help="The expected status; by default the status that both return.", **_THERE),
    ] = None,
    connections: Annotated[
        int, typer.Option("--connections", "-c", min=1, help="Connections of each service.", **_THERE)
    ] = 16,
    pid: Annotated[
        list[str] | None,
        typer.Option(
            "--pid",
            metavar="base|head=PID",
            help="A process, for memory and CPU, if not the one that listens: `base=4711`.",
            **_THERE,
        ),
    ] = None,
    cgroup: Annotated[
        list[str] | None,
        typer.Option("--cgroup", metavar="base|head=PATH", help="A control group, for the same.", **_THERE),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="HOST", help="Allow load on this host, which is not this machine.", **_THERE
        ),
    ] = None,
    metrics: Metrics = None,
    live: Live = False,
) -> int:
    """Compare two git revisions, or two running services: which figures are better, worse or equivalent."""
    urls = bool(_URL.match(base) or (head and _URL.match(head)))
    _refuse_others(ctx, urls=urls)
    options.refuse_both(("--json", json, "--github", github))
    if no_twin and policy is GatePolicy.AUTO:
        raise UsageError("--policy auto counts twins, and --no-twin leaves them out", fix="give one of them")
    progress = Console(stderr=json)
    conditions = RunConditions(
        results=results_root(),
        folder=out,
        display=exported(display_for(progress), metrics, live=live),
        fresh_builds=fresh_builds,
        until_decided_s=minutes * 60,
    )
    shown = _Shown(margin, figure or (), json, github, allow_undecided, policy)
    if urls:
        request = ab_urls.AskedRequest(method, header or [], body, status, connections)
        processes = ab_urls.Processes(pid or [], cgroup or [], allow_host or [])
        return _compare(ab_urls.UrlPair(base, head, request, processes), shown, conditions, progress)
    files = ab_revisions.Files(markdown, junit, allow_undecided, policy)
    pair = ab_revisions.RevisionPair(base, head, scenario, stack, command, tuple(load or ()), why, not no_twin, files)
    return _compare(pair, shown, conditions, progress)


@dataclass(frozen=True)
class _Shown:
    """Display options that revisions and URLs share."""

    margin: str
    figures: Sequence[str]
    json: bool
    github: bool
    allow_undecided: bool
    policy: GatePolicy


class _Pair(Protocol):
    def figures(self, named: Sequence[str]) -> dict[str, float | None]: ...
    def measured(self, terms: ComparisonTerms, conditions: RunConditions, progress: Console) -> MeasuredPair: ...
    def print_remarks(self, console: Console, answer: MeasuredPair) -> None: ...


def _compare(pair: _Pair, shown: _Shown, conditions: RunConditions, progress: Console) -> int:
    terms = ComparisonTerms(
        margin=read_share(shown.margin), confidence=0.95, figures=pair.figures(shown.figures), loads=()
    )
    answer = pair.measured(terms, conditions, progress)
    advice = policy_words(answer.judged, shown.policy)
    if shown.json:
        typer.echo(answer.judged.model_dump_json(indent=1, by_alias=True))
    else:
        console = Console()
        print_pair(console, answer.judged, terms, answer.view)
        pair.print_remarks(console, answer)
        report = f"{plural(answer.judged.rounds, 'round')}; report: {answer.folder / 'report.html'}"
        console.print(report, highlight=False, soft_wrap=True)
    if shown.github:
        for line in annotation_lines(answer.judged, answer.view, blocks=advice is None):
            typer.echo(line)
    if answer.judged.interrupted:
        return ExitCode.INTERRUPTED
    code = gate_code(answer.judged.standing, allow_undecided=shown.allow_undecided)
    if advice is None:
        return code
    typer.echo(advice, err=shown.json)
    return ExitCode.OK if code in (ExitCode.GATE, ExitCode.UNDECIDED) else code


def _refuse_others(ctx: typer.Context, *, urls: bool) -> None:
    """Raise UsageError if an option for revisions is given with URLs, or the reverse."""
    there, others = (_URLS, _REVISIONS) if urls else (_REVISIONS, _URLS)
    for parameter in ctx.command.params:
        given = getattr(ctx.get_parameter_source(parameter.name or ""), "name", "DEFAULT") != "DEFAULT"
        if given and getattr(parameter, "rich_help_panel", None) == f"Options of {others}":
            raise UsageError(
                f"{parameter.opts[0]} is an option of {others}, and these are {there}",
                fix="leave it out, or see `touchstone ab --help`",
            )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ab")(ab)
