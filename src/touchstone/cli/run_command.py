"""`touchstone run`: measure a scenario and report."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from touchstone.cli import completion, options
from touchstone.cli.cluster_option import load_from, run_on_cluster
from touchstone.cli.metrics_option import Live, Metrics, exported
from touchstone.cli.places import as_typed, results_root, scenarios_root, usual_scenario
from touchstone.cli.services import read_services
from touchstone.failure import ExitCode, InvalidRunError, UsageError
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Verdict
from touchstone.manifest.catalogue import find_scenario
from touchstone.plan.plan import RunRequest
from touchstone.plan.preset import PROFILES
from touchstone.record.run import Plan
from touchstone.record.store import load_run
from touchstone.report import FirstTable, print_report, render
from touchstone.report.format import plural
from touchstone.report.view import View
from touchstone.run.measure import RunConditions, measure
from touchstone.run.noise import measure_noise
from touchstone.run.progress import display_for


def run(
    scenario: options.Scenario = None,
    stacks: Annotated[
        str,
        typer.Option(
            "--stacks",
            "-s",
            help="Stacks, or stack/variant, separated by commas; `all` for every one.",
            autocompletion=completion.stacks,
        ),
    ] = "",
    url: Annotated[
        list[str] | None,
        typer.Option("--url", metavar="NAME=URL", help="A running service; may be given again."),
    ] = None,
    pid: Annotated[
        list[str] | None,
        typer.Option(
            "--pid", metavar="NAME=PID", help="The service's process, for memory and CPU, if another process listens."
        ),
    ] = None,
    cgroup: Annotated[
        list[str] | None, typer.Option("--cgroup", metavar="NAME=PATH", help="Its control group, for memory and CPU.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="HOST", help="Allow load on this host, which is not this machine."),
    ] = None,
    verify: options.Verify = False,
    insecure: options.Insecure = False,
    cacert: options.CaCert = None,
    cert: options.Cert = None,
    key: options.Key = None,
    sni: options.Sni = None,
    tls_min: options.TlsMin = None,
    quick: Annotated[bool, typer.Option("--quick", help="Minutes: a first look, without build times.")] = False,
    thorough: Annotated[bool, typer.Option("--thorough", help="Hours: fit for publication.")] = False,
    rounds: Annotated[int | None, typer.Option(help="Number of rounds; by default the preset's.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of random orders and keys; by default a new one.")] = None,
    phase: Annotated[list[str] | None, typer.Option("--phase", help="Only this phase; may be given again.")] = None,
    load: options.Loads = None,
    objective: Annotated[
        str | None, typer.Option(help="For --phase capacity: the objective, such as 'p99 < 50ms, errors < 0.1%'.")
    ] = None,
    exhibits: Annotated[
        bool,
        typer.Option("--exhibits", help="Include exhibits (variants with a deliberate defect) and their sound twins."),
    ] = False,
    out: options.Out = None,
    fresh_builds: Annotated[
        bool, typer.Option("--fresh-builds", help="Build everything again, without the build cache.")
    ] = False,
    cpus: Annotated[
        float | None, typer.Option(min=0.01, max=1024, help="The CPU limit of each contender, such as 0.5.")
    ] = None,
    large: Annotated[
        bool, typer.Option("--large", help="Hold more connections than one process's file limit allows.")
    ] = False,
    cluster: Annotated[
        str | None, typer.Option(help="Load from the generators of a Ray cluster, by HOST:PORT of its head, or auto.")
    ] = None,
    postgres: Annotated[str | None, typer.Option(help="An outside PostgreSQL, as a URL.")] = None,
    kafka: Annotated[str | None, typer.Option(help="An outside broker, as HOST:PORT.")] = None,
    until_decided: Annotated[
        float,
        typer.Option(help="Add rounds until every comparison is decided, for at most this many minutes."),
    ] = 0.0,
    minutes: Annotated[
        float, typer.Option(help="Add rounds for this many minutes, spent where they decide most.")
    ] = 0.0,
    slice_s: Annotated[
        float | None,
        typer.Option("--slice", help="Length of a slice in seconds; by default 0.25, or 0.5 in an open loop."),
    ] = None,
    whole_windows: Annotated[
        bool,
        typer.Option(
            "--whole-windows",
            help="Load each contender by itself, not in slices: for p99.9 and the longest latency.",
        ),
    ] = False,
    anyway: Annotated[bool, typer.Option("--anyway", help="Measure even if the machine is too noisy.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The whole result as JSON; progress goes to stderr.")] = False,
    details: options.Details = False,
    lines: Annotated[bool, typer.Option("--lines", help="One line a figure, for searching in a log.")] = False,
    metrics: Metrics = None,
    live: Live = False,
) -> int:
    """Build, check, start and load the contenders of a scenario, and show which differences are real."""
    options.refuse_both(
        ("--quick", quick, "--thorough", thorough),
        ("--until-decided", until_decided, "--minutes", minutes),
        ("--slice", slice_s is not None, "--whole-windows", whole_windows),
        ("--cluster", cluster, "--metrics", metrics),
        ("--cluster", cluster, "--live", live),
    )
    if until_decided < 0 or minutes < 0:
        raise UsageError("minutes cannot be negative", fix="give a number above 0, such as --minutes 5")
    services = read_services(url or (), pid or (), cgroup or (), allow_host or ())
    if services:
        _refuse_with_services(scenario, cluster)
    if objective is not None and "capacity" not in (phase or ()):
        raise UsageError("--objective is for the phase capacity, which is not asked for", fix="add --phase capacity")
    folder = find_scenario(scenario or usual_scenario(), scenarios_root())
    request = RunRequest(
        profile="quick" if quick else "thorough" if thorough else "normal",
        rounds=rounds,
        seed=seed,
        phases=tuple(phase or ()),
        loads=tuple(load or ()),
        objective=objective,
        tls=options.tls_settings(
            verify=verify, insecure=insecure, cacert=cacert, cert=cert, key=key, sni=sni, tls_min=tls_min
        ),
        exhibits=exhibits,
        command=as_typed(),
        slice_s=slice_s,
        whole_windows=whole_windows,
    )
    if cluster and (away := run_on_cluster(cluster, folder.folder, _words_but(scenario), request, out)):
        return away.code if away.folder is None else _conclude(away.folder, json=json, lines=lines, details=details)
    progress = Console(stderr=json)

    def tell_plan(plan: Plan) -> None:
        limited = rounds is None and not until_decided and not minutes
        most_s = PROFILES[plan.profile].rounds_s if limited else math.inf
        progress.print(_about(plan, most_s), markup=False, highlight=False, soft_wrap=True)
        for entry in plan.contenders:
            if entry.not_measured:
                progress.print(f"{entry.name}: not measured: {entry.not_measured}", highlight=False)

    conditions = RunConditions(
        results=results_root(),
        folder=out,
        display=exported(display_for(progress), metrics, live=live),
        addresses={key: value for key, value in (("postgres", postgres), ("kafka", kafka)) if value},
        fresh_builds=fresh_builds,
        timed_builds=not quick or fresh_builds or bool(phase),
        cpu_limit=cpus,
        large=large,
        until_decided_s=until_decided * 60,
        spend_s=minutes * 60,
        notes=_look_at_noise(anyway=anyway) if thorough else [],
        begun=tell_plan,
        after_round=FirstTable(progress),
    )
    with load_from(cluster) as generators:
        store = measure(
            folder,
            request,
            stacks=[word for word in stacks.split(",") if word],
            outside=services,
            conditions=replace(conditions, generators=generators),
        )
    return _conclude(store.folder, json=json, lines=lines, details=details)


def _about(plan: Plan, most_s: float) -> str:
    """The extent of a run, and how long its loads take where the preset limits that."""
    chosen = sum(entry.not_measured is None for entry in plan.contenders)
    text = f"{plan.scenario_title}: {plural(chosen, 'contender')}, {plural(plan.rounds, 'round')}"
    return text if math.isinf(most_s) else f"{text}; loads take about {most_s / 60:.0f} minutes at most"


def _refuse_with_services(scenario: str | None, cluster: str | None) -> None:
    if cluster:
        raise UsageError(
            "--cluster and --url exclude each other", fix="generators load only services that touchstone starts"
        )
    if scenario is None:
        raise UsageError(
            "--url needs a scenario, which says what the services must answer",
            fix="`touchstone new NAME` drafts one; for one request alone, `touchstone load URL` and "
            "`touchstone ab URL1 URL2`",
        )


def _words_but(scenario: str | None) -> list[str]:
    """The words behind `touchstone run`, but for the scenario's name."""
    words = sys.argv[sys.argv.index("run") + 1 :] if "run" in sys.argv else []
    if scenario in words:
        words.remove(scenario)
    return words


def _look_at_noise(*, anyway: bool) -> list[str]:
    """Refuse a thorough run on a noisy machine. With --anyway, every report says so."""
    complaints = measure_noise().complaints()
    if complaints and not anyway:
        raise InvalidRunError(
            "this machine is too noisy for a thorough run: " + "; ".join(complaints),
            fix="make it quieter (`touchstone doctor --noise` measures again), or add --anyway, which marks the run",
        )
    return [f"measured anyway: {complaint}" for complaint in complaints]


def _conclude(folder: Path, *, json: bool, lines: bool, details: bool) -> int:
    """Judge and report what was measured, and choose the exit code."""
    measured = load_run(folder)
    view = View(measured, judgement := judge(measured))
    written = render(view, folder)
    if json:
        typer.echo((folder / "report.json").read_text(encoding="utf-8"))
    else:
        console = Console()
        print_report(console, view, lines=lines, details=details)
        page = next((path for path in written if path.suffix == ".html"), folder)
        console.print(f"\nreport: {page}", highlight=False, soft_wrap=True)
    if measured.interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.INVALID if judgement.verdict is Verdict.INVALID or judgement.failed else ExitCode.OK


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)
