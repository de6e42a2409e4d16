"""`touchstone size`: the smallest container that serves a rate within an objective."""

from __future__ import annotations

import json as json_format
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from touchstone.cli import options
from touchstone.cli.places import as_typed, results_root, scenarios_root, usual_scenario
from touchstone.failure import ExitCode, UsageError
from touchstone.isolation.delegation import lacking
from touchstone.manifest.catalogue import find_scenario
from touchstone.plan.placement import available_cpus, plan_placement
from touchstone.plan.plan import RunRequest
from touchstone.report.format import quantity
from touchstone.run.measure import RunConditions
from touchstone.run.progress import display_for
from touchstone.sizing.price import Prices
from touchstone.sizing.size import SizedContainer, Sizing, demand_of, runs_folder, size, usual_quotas
from touchstone.vocabulary.figure import Unit


def size_command(
    *,
    scenario: options.Scenario = None,
    rate: Annotated[float, typer.Option(help="The requests per second to serve.")],
    objective: Annotated[
        str | None, typer.Option(help="The objective, such as 'p99 < 20ms'; by default the scenario's.")
    ] = None,
    stacks: Annotated[
        str, typer.Option("--stacks", "-s", help="Stacks, or stack/variant, separated by commas; `all` for every one.")
    ] = "",
    load: Annotated[str | None, typer.Option(help="The load; the capacity's first one if left out.")] = None,
    cpus: Annotated[
        str, typer.Option(help="CPU limits to try, such as 0.25,0.5,1; from half a CPU on until one serves.")
    ] = "",
    memory: Annotated[
        str, typer.Option(help="Memory limits to try, in MiB, such as 64,128; the smallest is searched if left out.")
    ] = "",
    price_cpu_hour: Annotated[float, typer.Option(help="What a CPU costs per hour.")] = 0.0,
    price_gib_hour: Annotated[float, typer.Option(help="What a GiB of memory costs per hour.")] = 0.0,
    thorough: Annotated[bool, typer.Option("--thorough", help="Use the times of the normal preset.")] = False,
    rounds: Annotated[
        int | None,
        typer.Option(
            help="Number of rounds; by default until it is known who serves the rate, with prices the preset's."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The folder for the runs.")] = None,
    json: options.Json = False,
) -> int:
    """Find the smallest container that serves a rate within an objective, and its cost."""
    folder = find_scenario(scenario or usual_scenario(), scenarios_root())
    folder, demand = demand_of(folder, rate, objective, load, Prices(price_cpu_hour, price_gib_hour))
    if refusal := lacking("cpu", "memory"):
        raise UsageError(f"CPU and memory limits need cgroups: {refusal.why}", fix=refusal.fix)
    quotas = _quotas(cpus, len(plan_placement(available_cpus(), dependencies=True).server_cpus))
    limits_mb = _limits(memory)
    progress = Console(stderr=json)
    sizing = size(
        folder,
        demand,
        quotas,
        RunRequest(profile="normal" if thorough else "quick", rounds=rounds, command=as_typed()),
        stacks=[word for word in stacks.split(",") if word],
        conditions=RunConditions(
            results=results_root(),
            folder=out or runs_folder(results_root(), folder.scenario.name, demand),
            display=display_for(progress),
        ),
        limits_mb=limits_mb,
        until_served=not cpus,
    )
    if json:
        typer.echo(json_format.dumps(asdict(sizing), indent=1))
    else:
        print_sizing(Console(), sizing)
    found = [one for one in sizing.smallest.values() if one is not None and one.memory is not None]
    return ExitCode.OK if found else ExitCode.GATE


def _quotas(text: str, most: int) -> list[float]:
    if not text:
        return usual_quotas(most)
    try:
        quotas = [float(word) for word in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--cpus {text!r} is not a list of numbers", fix="write it like --cpus 0.5,1") from error
    if not all(0.01 <= quota <= most for quota in quotas):
        raise UsageError(
            f"--cpus {text}: contenders have {most} CPU(s) on this machine", fix="give limits up to that number"
        )
    return quotas


def _limits(text: str) -> list[int]:
    words = text.split(",") if text else []
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise UsageError(f"--memory {text!r} is not a list of whole MiB", fix="write it like --memory 64,128")
    return [int(word) for word in words]


def print_sizing(console: Console, sizing: Sizing) -> None:
    """The grid, then the smallest container of each contender."""
    demand, prices = sizing.demand, sizing.demand.prices
    table = Table(title=f"Capacity within {demand.objective}, load {demand.load}", title_justify="left")
    memory_head = ["memory limit"] if sizing.limited else []
    money_head = ["per million at capacity"] if prices.given else []
    for head in ("contender", "CPUs", *memory_head, "capacity", "interval", *money_head):
        table.add_column(head)
    for one in sizing.grid:
        money = [_money_at_capacity(sizing, one)] if prices.given else []
        known = quantity(one.capacity, Unit.PER_SECOND) if one.capacity else one.reason
        given = [quantity(one.memory, Unit.BYTES)] if sizing.limited and one.memory else []
        table.add_row(one.contender, f"{one.cpus:g}", *given, known, _interval(one), *money)
    console.print(table)
    console.print(f"The smallest containers for {demand.rate:,.0f} requests per second:", highlight=False)
    for name, chosen in sizing.smallest.items():
        console.print(f"  {name}: {_in_words(sizing, chosen)}", highlight=False, soft_wrap=True)
    for miscount in sizing.miscounts:
        console.print(f"  {miscount}", highlight=False, markup=False, soft_wrap=True)
    if sizing.doubts:
        console.print("Suspect, run by run; the reports say what to do:", style="yellow")
    for doubt in sizing.doubts:
        console.print(f"  {doubt}", highlight=False, markup=False, soft_wrap=True)


def _interval(one: SizedContainer) -> str:
    low = quantity(one.low, Unit.PER_SECOND) if one.low else ""
    high = quantity(one.high, Unit.PER_SECOND) if one.high else "no upper bound"
    return f"{low} to {high}" if one.capacity and low else ""


def _money_at_capacity(sizing: Sizing, one: SizedContainer) -> str:
    """At its capacity, with the interval: the dearest at the lower bound."""
    prices, rates = sizing.demand.prices, [one.high or one.capacity, one.capacity, one.low or one.capacity]
    shown = [f"{prices.per_million(one.cpus, one.memory, rate):.4g}" for rate in rates if rate]
    return f"{shown[1]} ({shown[0]} to {shown[2]})" if len(shown) == len(rates) else ""


def _in_words(sizing: Sizing, one: SizedContainer | None) -> str:
    if one is None:
        return "none of the tried containers serves it: allow more CPUs or memory, or relax the objective"
    memory = quantity(one.memory, Unit.BYTES) if one.memory else "memory not found"
    demand = sizing.demand
    money = ""
    if demand.prices.given:
        hour = demand.prices.per_hour(one.cpus, one.memory)
        money = f"; {hour:.4g} per hour, {demand.prices.per_million(one.cpus, one.memory, demand.rate):.4g} per million"
    return f"{one.cpus:g} CPUs, {memory}{money}"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("size")(size_command)
