"""`touchstone doctor`: what this machine has, what is missing, and how to get it."""

from __future__ import annotations

import json as json_module
import resource
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from touchstone.cli.cluster_option import need_ray
from touchstone.cli.places import results_root
from touchstone.engine.locate import engine_path
from touchstone.failure import ExitCode, TouchstoneError
from touchstone.isolation.cgroup import leftover_cgroups
from touchstone.isolation.delegation import lacking
from touchstone.isolation.lingering import ends_with_session
from touchstone.plan.placement import available_cpus, plan_placement
from touchstone.report.format import size
from touchstone.report.sections.environment import cpus_in_words
from touchstone.run.disk import builds_kept, kept, runs_kept
from touchstone.run.fingerprint import cpus_of_the_lab
from touchstone.run.noise import measure_noise
from touchstone.toolchain.cache import cache_folder
from touchstone.toolchain.registry import TOOLS, find_tool
from touchstone.toolchain.tool import FoundTool


def doctor(
    noise: Annotated[bool, typer.Option("--noise", help="Measure for ten seconds how quiet the machine is.")] = False,
    cluster: Annotated[
        str | None, typer.Option(help="Look at the nodes of a Ray cluster: HOST:PORT of its head, or auto.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
) -> int:
    """Look at the machine and its tools. With --noise, exit code 4 if the machine is unfit for a thorough run."""
    rows = _noise() if noise else _cluster(cluster) if cluster else [*_machine(), *_disk(), *_tools()]
    unfit = noise and any(row["state"] == "wrong" for row in rows)
    code = ExitCode.INVALID if unfit else ExitCode.OK
    if json:
        typer.echo(json_module.dumps(rows, indent=1))
        return code
    table = Table("", "what", "found", box=None, header_style="bold")
    marks = {"ok": "[green]ok[/]", "missing": "[yellow]missing[/]", "note": "[cyan]note[/]", "wrong": "[red]wrong[/]"}
    for row in rows:
        table.add_row(marks[row["state"]], row["what"], row["found"])
    Console().print(table)
    return code


def _row(state: str, what: str, found: str) -> dict[str, str]:
    return {"state": state, "what": what, "found": found}


def _machine() -> list[dict[str, str]]:
    rows = []
    try:
        rows.append(_row("ok", "engine", str(engine_path())))
    except TouchstoneError as error:
        rows.append(_row("wrong", "engine", str(error)))
    lab = cpus_of_the_lab()
    shared = plan_placement(available_cpus(), dependencies=True).shared
    found = "; ".join([cpus_in_words(lab), *shared])
    rows.append(_row("note" if shared or lab.cpu_quota else "ok", "CPUs", found))
    if refusal := lacking("memory", "cpu"):
        found = f"{lab.cgroups}; limits of memory and CPUs cannot be measured; {refusal.fix}"
        rows.append(_row("note", "cgroups", found))
    else:
        rows.append(_row("ok", "cgroups", lab.cgroups))
    if ending := ends_with_session():
        rows.append(_row("note", "long runs", f"a run {ending}"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    rows.append(_row("ok", "open files", f"{soft} now, {hard} at most"))
    rows += [
        _row("wrong", "leftover", f"cgroup {path} of an earlier run; remove it by rmdir") for path in leftover_cgroups()
    ]
    return rows


def _disk() -> list[dict[str, str]]:
    """Print the disk use of results and builds."""
    cache, builds, runs = kept(cache_folder()), builds_kept(), runs_kept(results_root())
    built = size(sum(entry.bytes for entry in builds))
    return [
        _row("ok", "cache", f"{size(cache.bytes)} at {cache.path}, of which builds {built} (`touchstone clean`)"),
        _row("ok", "results", f"{len(runs)} in ./results, {size(sum(run.bytes for run in runs))}"),
    ]


def _cluster(address: str) -> list[dict[str, str]]:
    need_ray()
    from touchstone.cluster.doctor import look_at  # noqa: PLC0415 - Ray is optional, and slow to import.

    return [_row(*row) for row in look_at(address)]


def _noise() -> list[dict[str, str]]:
    seen = measure_noise()
    who = [", ".join(seen.busiest)] if seen.busiest else []
    rows = [
        _row("note", "timers", f"late by {seen.timer_late_p99_s * 1e6:.0f} us at p99"),
        _row("note", "steal", f"{seen.steal:.2%} of the CPUs"),
        _row("note", "background", ": ".join([f"other processes used {seen.background:.2%} of the CPUs", *who])),
        _row("note", "tare", f"varies by {seen.tare_spread:.1%}, drifted by {seen.tare_drift:+.1%}"),
    ]
    complaints = seen.complaints()
    rows += [_row("wrong", "noise", text) for text in complaints]
    return rows if complaints else [*rows, _row("ok", "noise", "fit for a thorough run")]


def _tools() -> list[dict[str, str]]:
    rows = []
    for name in TOOLS:
        tool = find_tool(name)
        if isinstance(tool, FoundTool):
            origin = f" ({tool.note})" if tool.note else ""
            rows.append(_row("ok", name, f"{tool.version} at {tool.path}{origin}"))
        else:
            rows.append(_row("missing", name, tool.install))
    return rows


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)
