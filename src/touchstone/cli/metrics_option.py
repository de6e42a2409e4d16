"""The option `--metrics` of the commands that measure."""

from __future__ import annotations

from typing import Annotated

import typer

from touchstone.run.progress import Display

HELP = (
    "Export live figures: to a PORT of this machine (OpenMetrics; HOST:PORT for another address), to a FILE.ndjson, or "
    "to a collector's URL (OTLP over HTTP; needs the extra `otlp`). Repeatable."
)
Metrics = Annotated[list[str] | None, typer.Option("--metrics", metavar="PORT|FILE|URL", help=HELP, show_default=False)]
Live = Annotated[
    bool,
    typer.Option(
        "--live", help="Draw the curves while it measures, on a page of this machine; short for `--metrics 0`."
    ),
]
LIVE_PLACE = "0"


def exported(display: Display, metrics: list[str] | None, *, live: bool) -> Display:
    """Return the display, which also exports figures if places are given. Raises UsageError for an invalid place."""
    wanted = [*(metrics or ()), *([LIVE_PLACE] if live else ())]
    if not wanted:
        return display
    # Its libraries load for as long as a short help is read.
    from touchstone.metrics.display import ExportingDisplay  # noqa: PLC0415

    return ExportingDisplay(display, wanted)
