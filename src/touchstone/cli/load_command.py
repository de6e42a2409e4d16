"""`touchstone load`: the engine's load generator, with an exit code that tells whether the load was borne."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import typer
from pydantic import ValidationError
from rich.console import Console

from touchstone.cli.engine_command import PASS_ON, hand_over
from touchstone.engine.fail_if import FailIf, failed_share, parse_fail_if
from touchstone.engine.http2 import speaks_http2
from touchstone.engine.locate import engine_path
from touchstone.failure import ExitCode, UsageError
from touchstone.record.engine import LoadResult
from touchstone.report.latency_bars import latency_bars

_HELP = "Put load on a URL, as wrk does and with more care. The engine's own options: touchstone load --help"
_OWN = """
Options of touchstone load alone:
      --fail-if <CONDITION>  Exit with 3 if it holds: "errors > 1%", "p99 > 20ms", "rate < 1000"; may be repeated
      --histogram            Draw the latencies as bars

Exit codes: 0 the load was borne, 1 more than half of the requests failed, 2 usage, 3 a --fail-if holds, 130 stopped.
"""
_TOO_MANY = 0.5
"""A load of which more than half fails is no measurement of the service, whoever looks at the exit code alone."""


def load(context: typer.Context) -> int:
    """Run the engine, and judge what came of it."""
    words, conditions, histogram = _own_options(context.args)
    if "--help" in words or "-h" in words:
        done = subprocess.run([str(engine_path()), "load", *words], check=False)
        typer.echo(_OWN)
        return done.returncode
    if "--job" in words and not conditions and not histogram:
        hand_over("load", words)
    with tempfile.TemporaryDirectory(prefix="touchstone-load-") as folder:
        given = _value_of("--out", words)
        out = Path(given) if given else Path(folder) / "result.json"
        if given is None:
            words += ["--out", str(out)]
        # Ctrl-C goes to the whole group: the engine ends its load and tells what it has.
        usual = signal.signal(signal.SIGINT, _leave_it_to_the_engine)
        try:
            code = subprocess.run([str(engine_path()), "load", *words], check=False).returncode
        finally:
            signal.signal(signal.SIGINT, usual)
        result = _read(out)
    if result is None or code not in (ExitCode.OK, ExitCode.INTERRUPTED):
        return code
    # With --json standard output is the result's alone.
    console = Console(stderr="--json" in words, highlight=False, soft_wrap=True)
    if histogram:
        console.print(latency_bars(result.latency), markup=False)
    return code or _judged(result, conditions, words, console)


def _leave_it_to_the_engine(_signal: int, _frame: FrameType | None) -> None:
    """A handler, and not SIG_IGN, which the engine would inherit."""


def _judged(result: LoadResult, conditions: Sequence[FailIf], words: Sequence[str], console: Console) -> int:
    breaches = [breach for condition in conditions if (breach := condition.breach(result))]
    for breach in breaches:
        console.print(f"  failed: {breach}", markup=False)
    failed = failed_share(result)
    if failed > _TOO_MANY:
        console.print(f"  failed: {failed:.1%} of the requests had no correct response", markup=False)
        url = next((word for word in words if word.startswith(("http://", "https://"))), None)
        if url and result.counts.ok == 0 and speaks_http2(url):
            console.print(
                "  the server speaks HTTP/2 only; the load is HTTP/1.1: let it accept that, too", markup=False
            )
        return ExitCode.GATE if breaches else ExitCode.FAILED
    return ExitCode.GATE if breaches else ExitCode.OK


def _own_options(words: Sequence[str]) -> tuple[list[str], list[FailIf], bool]:
    """What is left for the engine, the conditions, and whether bars are wanted. Raises UsageError."""
    left: list[str] = []
    conditions: list[FailIf] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--fail-if":
            if not rest:
                raise UsageError("--fail-if has no condition", fix="write it like --fail-if 'p99 > 20ms'")
            conditions.append(parse_fail_if(rest.pop(0)))
        elif word.startswith("--fail-if="):
            conditions.append(parse_fail_if(word.partition("=")[2]))
        elif word != "--histogram":
            left.append(word)
    return left, conditions, "--histogram" in words


def _value_of(option: str, words: Sequence[str]) -> str | None:
    for place, word in enumerate(words):
        if word == option and place + 1 < len(words):
            return words[place + 1]
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None


def _read(out: Path) -> LoadResult | None:
    try:
        return LoadResult.model_validate_json(out.read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("load", help=_HELP, context_settings=PASS_ON)(load)
