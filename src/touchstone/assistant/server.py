"""The MCP server: tools that list runs, show and explain figures, compare, check, and run after a confirmation."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel, Field

import touchstone
from touchstone.assistant.command import plain, run_command
from touchstone.record.store import runs_in

_INSTRUCTIONS = """\
touchstone measures network services and refuses bad numbers. Quote a figure with its interval and its verdict, and never
an invalid one. Say better or worse only where touchstone does. Undecided means that more rounds are needed. `explain`
gives the samples, commands and findings behind a figure. Names are those of `show`: a run's id or `last`, contenders as
stack/variant, figures as `throughput` or `latency_p99`.
"""


class Confirmation(BaseModel):
    """What a person answers."""

    start: bool = Field(description="Whether the run may start")


def server() -> MCPServer:
    """The server with all of its tools."""
    made = MCPServer("touchstone", instructions=_INSTRUCTIONS, version=touchstone.__version__, log_level="ERROR")
    for tool in (list_runs, show, explain, why, compare, check, list_scenarios, start_run):
        made.tool(structured_output=False)(tool)
    return made


async def list_runs(folder: str = "results") -> str:
    """List the runs in a folder, the newest last."""
    found = [run.name for run in runs_in(Path(folder))]
    return "\n".join(found) or f"no runs in {Path(folder).resolve()}"


async def show(run: str = "last") -> str:
    """Show a run: its answer, the figures of all contenders with intervals and verdicts, and its findings."""
    return await run_command("show", *plain([run]))


async def explain(run: str, id: str) -> str:
    """Explain a figure (`go/plain:throughput`), a sample by its id, or a finding by its code: where it comes from."""
    return await run_command("explain", *plain([run, id]))


async def why(run: str = "last", baseline: str = "", contender: str = "") -> str:
    """Explain a difference of CPU per request between two contenders of a run by functions and system calls."""
    names = [name for name in (baseline, contender) if name]
    return await run_command("why", *plain([run, *names]))


async def compare(before: str, after: str = "last") -> str:
    """Compare two runs: which figures are better, worse, equivalent or undecided."""
    return await run_command("compare", *plain([before, after]))


async def check(scenario: str) -> str:
    """Check the manifests of a scenario, by its name or folder: every error with file, line and fix."""
    return await run_command("check", *plain([scenario]))


async def list_scenarios() -> str:
    """List the scenarios with their contenders, and the tools that each contender lacks."""
    return await run_command("list")


async def start_run(
    context: Context, scenario: str, stacks: list[str] | None = None, preset: Literal["quick", "normal"] = "quick"
) -> str:
    """Start a run of a scenario's own contenders on this machine, after a person has confirmed it. It takes minutes.

    No other host is loaded: a service that runs elsewhere cannot be named here.
    """
    names = plain([scenario, *(stacks or [])])
    words = ["run", scenario, *(["--stacks", ",".join(names[1:])] if names[1:] else [])]
    words += ["--quick"] if preset == "quick" else []
    typed = " ".join(["touchstone", *words])
    question = (
        f"Start `{typed}` in {Path.cwd()}? It builds and starts the programs of this scenario, and loads them on this "
        "machine for minutes."
    )
    try:
        answer = await context.elicit(question, Confirmation)
    except Exception as error:
        return f"not started: no person could be asked ({error}). A person can type: {typed}"
    if answer.action != "accept" or not answer.data.start:
        return f"not started: it was not confirmed. A person can type: {typed}"
    return await run_command(*words)
