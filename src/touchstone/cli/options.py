"""Arguments and options that mean the same in several commands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from touchstone.cli import completion
from touchstone.failure import UsageError


def split_names(words: list[str] | None) -> list[str]:
    """The names in options that each hold one, or several separated by commas."""
    return [name for word in words or () for name in word.split(",") if name]


def refuse_without(other: str, is_given: bool, wanted: Mapping[str, object]) -> None:
    """Refuse options that have no effect without the option `other`.

    Raises UsageError. `wanted` holds the options' values, false where one is not given.
    """
    for name, value in wanted.items():
        if value and not is_given:
            raise UsageError(f"{name} is about {other}", fix=f"add {other}, or leave {name} out")


SCENARIO = "A scenario's name, or a folder with a scenario.toml; if left out, the only one here, or users."
Scenario = Annotated[str | None, typer.Argument(help=SCENARIO, autocompletion=completion.scenarios)]
"""`places.usual_scenario` where it is None."""
SCENARIO_WITHIN = "The scenario's folder, within the repository; the only one if left out."
STACK_WITHIN = "The stack, or stack/variant; the only one if left out."
LOAD = "Only these loads, separated by commas; may be given again."
ScenarioWithin = Annotated[str | None, typer.Option(help=SCENARIO_WITHIN)]
StackWithin = Annotated[str | None, typer.Option(help=STACK_WITHIN)]
Loads = Annotated[list[str] | None, typer.Option("--load", help=LOAD, callback=split_names)]
PairMargin = Annotated[str, typer.Option(help="The least change that matters, such as 3% or 0.03.")]
PairMinutes = Annotated[
    float,
    typer.Option(min=0.1, help="Add rounds until all figures are decided, for at most this many minutes."),
]
AllowUndecided = Annotated[
    bool, typer.Option("--allow-undecided", help="End with code 0, not 5, if a figure is undecided.")
]
Out = Annotated[Path | None, typer.Option(help="The folder for the results; results/<run id> if left out.")]
Json = Annotated[bool, typer.Option("--json", help="The result as JSON; progress goes to stderr.")]
Details = Annotated[bool, typer.Option("--details", help="Also every finding, the whole tables and all comparisons.")]
