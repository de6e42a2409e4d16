"""The commands, and a command group that loads one only when it is called.

Some commands need libraries for statistics, plots and databases, for which nobody should wait who asks for help, lists
scenarios or completes a word. So name and summary of a command stand here, and its module is imported when called.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True)
class Outline:
    """A command that is not yet imported: its module name and the first line of its help."""

    module: str
    summary: str
    group: str
    """Its part of the help, by what the user wants to do."""


MEASURE, COMPARE, UNDERSTAND = "Measure", "Compare", "Understand"
SHARE, MAINTAIN = "Share", "Maintain"
COMMANDS: dict[str, Outline] = {
    "run": Outline(
        "run",
        "Build, check, start and load the contenders of a scenario, and show which differences are real.",
        MEASURE,
    ),
    "load": Outline(
        "load",
        "Put load on a URL, as wrk does, and check every response. The engine's own options: touchstone load --help",
        MEASURE,
    ),
    "probe": Outline(
        "engine",
        "Probe conformance to HTTP/1.1 or HTTP/2. The engine's own options: touchstone probe --help",
        MEASURE,
    ),
    "size": Outline(
        "size", "Find the smallest container that serves a rate within an objective, and its cost.", MEASURE
    ),
    "new": Outline("new", "Make a scenario with a working stack, add a stack, or draft one from a file.", MEASURE),
    "import": Outline(
        "import",
        "Make a stack from a HttpArena or TechEmpower entry, or keep published results for `touchstone site`.",
        MEASURE,
    ),
    "check": Outline(
        "check", "Check manifests: patterns, templates, names, times and files. `run` does it first.", MEASURE
    ),
    "list": Outline("list", "List the scenarios with their contenders, and what each contender still needs.", MEASURE),
    "ab": Outline(
        "ab",
        "Compare two git revisions, or two running services: which figures are better, worse or equivalent.",
        COMPARE,
    ),
    "comment": Outline(
        "comment",
        "Write the result of `ab` as the pull request's comment, which later results replace. For GitHub Actions.",
        SHARE,
    ),
    "compare": Outline("compare", "Compare two runs: which figures have really changed.", COMPARE),
    "bisect": Outline(
        "bisect",
        "Find the commit that made a figure worse, by bisection. Each step is as short as its decision allows.",
        COMPARE,
    ),
    "history": Outline("history", "Keep figures over commits: record, show, export.", COMPARE),
    "claims": Outline(
        "claims", "Compare published statements with measurements: which hold, which do not, and why.", COMPARE
    ),
    "show": Outline("show", "Judge a run again from its records, and show it.", UNDERSTAND),
    "explain": Outline(
        "explain", "Print where a figure comes from: samples, rounds, commands, findings, files.", UNDERSTAND
    ),
    "why": Outline(
        "why",
        "Explain CPU per request, or p99, in parts: a difference, or one contender by itself.",
        UNDERSTAND,
    ),
    "audit": Outline(
        "audit", "Apply to published results every check that needs no rerun, by entry and by cause.", UNDERSTAND
    ),
    "bundle": Outline(
        "bundle",
        "Write a run into one file that others can check: records, plan, environment, verdicts, hashes of sources.",
        SHARE,
    ),
    "verify": Outline(
        "bundle",
        "Check a bundle of another author: its hashes, its records against each other, and its verdicts.",
        SHARE,
    ),
    "report": Outline("report", "Write a run's reports again, or the draft of a post about it.", SHARE),
    "site": Outline(
        "site",
        "Write a site over runs: contenders in rank groups, two side by side, over time, with reports and badges.",
        SHARE,
    ),
    "mcp": Outline(
        "mcp", "Serve tools for assistants over standard input and output (Model Context Protocol).", UNDERSTAND
    ),
    "doctor": Outline("doctor", "Look at the machine and its tools.", MAINTAIN),
    "toolchain": Outline("toolchain", "Get a tool that is missing, without changing the system.", MAINTAIN),
    "schema": Outline("schema", "Write the JSON Schemas of manifests into a folder, for editors.", MAINTAIN),
    "clean": Outline("clean", "Remove old results and unused builds; without --yes only list them.", MAINTAIN),
}
"""In the order of the help. A command's own help begins with its summary: a test holds them together."""
FORMER: dict[str, list[str]] = {"ab-url": ["ab"], "article": ["report", "--format", "article"]}
"""Former names, accepted for one release, and what is called in their place."""


def load_command(name: str) -> Any:
    """The command itself, its module imported."""
    app = typer.Typer()
    app.callback()(lambda: None)  # With a callback typer makes a group, also of a single command.
    import_module(f"touchstone.cli.{COMMANDS[name].module}_command").register(app)
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    _refuse_infinite(group.commands[name])
    return group.commands[name]


def _refuse_infinite(command: Any) -> None:
    """Make all options of a command refuse nan and infinity.

    nan passes every limit, since all comparisons with it are false.
    """

    def checked(usual: Any, context: Any, parameter: Any, value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            raise typer.BadParameter(f"{value} is not a finite number", ctx=context, param=parameter)
        return usual(context, parameter, value) if usual else value

    for parameter in command.params:
        parameter.callback = partial(checked, parameter.callback)
    for inner in getattr(command, "commands", {}).values():
        _refuse_infinite(inner)


class CarriedError(Exception):
    """Carries an error through typer, which would turn some Python errors into a silent exit."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class LazyGroup(TyperGroup):
    """A command group that imports a command only when it is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {
            name: TyperCommand(name, help=outline.summary, rich_help_panel=outline.group)
            for name, outline in COMMANDS.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the called command. For an unknown command, suggest similar names."""
        if args[0] in FORMER:
            args = [*FORMER[args[0]], *args[1:]]
        if args[0] in COMMANDS:
            self.commands[args[0]] = load_command(args[0])
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Call the command. Raises CarriedError for errors that typer would hide: end of input, broken pipe."""
        try:
            return super().invoke(ctx)
        except (OSError, EOFError, KeyboardInterrupt) as error:
            raise CarriedError(error) from error
