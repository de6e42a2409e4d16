"""The MCP server: tools that list runs, show and explain figures, compare, check, and run after a confirmation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel, Field

import touchstone
from touchstone.assistant.command import plain, run_command
from touchstone.failure import UsageError
from touchstone.record.store import runs_in

_INSTRUCTIONS = """\
touchstone measures network services and refuses bad numbers. Quote a figure with interval and verdict, and never an
invalid one. Say better or worse only where touchstone does. Undecided means that more rounds are needed. `explain`
gives the samples, commands and findings behind a figure. Names are those of `show`: a run's id or `last`, contenders
as stack/variant, figures as `throughput` or `latency_p99`.
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


def _plain(words: list[str]) -> list[str]:
    try:
        return plain(words)
    except UsageError as error:
        raise ToolError(str(error)) from error


async def list_runs(folder: str = "results") -> str:
    """List the runs in a folder, the newest last."""
    found = [run.name for run in runs_in(Path(folder))]
    return "\n".join(found) or f"no runs in {Path(folder).resolve()}"


async def show(run: str = "last") -> str:
    """Show a run: its answer, the figures of all contenders with intervals and verdicts, and its findings."""
    return await run_command("show", *_plain([run]))


async def explain(run: str, id: str) -> str:
    """Explain where a figure (`go/plain:throughput`), a sample's id or a finding's code comes from."""
    return await run_command("explain", *_plain([run, id]))


async def why(run: str = "last", baseline: str = "", contender: str = "") -> str:
    """Explain two contenders' difference of CPU per request by functions and system calls."""
    names = [name for name in (baseline, contender) if name]
    return await run_command("why", *_plain([run, *names]))


async def compare(before: str, after: str = "last") -> str:
    """Compare two runs: which figures are better, worse, equivalent or undecided."""
    return await run_command("compare", *_plain([before, after]))


async def check(scenario: str) -> str:
    """Check the manifests of a scenario, by its name or folder: every error with file, line and fix."""
    return await run_command("check", *_plain([scenario]))


async def list_scenarios() -> str:
    """List the scenarios with their contenders, and the tools that each contender lacks."""
    return await run_command("list")


def _words(scenario: str, stacks: list[str] | None, preset: str) -> list[str]:
    """The command of a run. Raises ToolError if a name is none."""
    names = _plain([scenario, *(stacks or [])])
    chosen = ["--stacks", ",".join(names[1:])] if names[1:] else []
    return ["run", scenario, *chosen, *(["--quick"] if preset == "quick" else [])]


def _question(scenario: str, stacks: list[str] | None = None, preset: str = "quick") -> Elicit[Confirmation]:
    typed = " ".join(["touchstone", *_words(scenario, stacks, preset)])
    return Elicit(
        f"Start `{typed}` in {Path.cwd()}? It builds and starts the programs of this scenario, and loads them on this "
        "machine for minutes.",
        Confirmation,
    )


async def start_run(
    answer: Annotated[ElicitationResult[Confirmation], Resolve(_question)],
    scenario: str,
    stacks: list[str] | None = None,
    preset: Literal["quick", "normal"] = "quick",
) -> str:
    """Start a run of a scenario on this machine, after a person has confirmed it.

    It takes minutes. No other host is loaded: a service that runs elsewhere cannot be named here.
    """
    words = _words(scenario, stacks, preset)
    if answer.action != "accept" or not answer.data.start:
        return f"not started: it was not confirmed. A person can type: {' '.join(['touchstone', *words])}"
    return await run_command(*words)
