"""`touchstone load`: runs the engine's load generator. The exit code shows whether the service managed the load."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import typer
from pydantic import ValidationError
from rich.console import Console

from touchstone.check.mix import read_mix
from touchstone.cli.engine_command import PASS_ON
from touchstone.cli.metrics_option import LIVE_PLACE
from touchstone.engine.fail_if import FailIf, failed_share, parse_fail_if
from touchstone.engine.http2 import speaks_http2
from touchstone.engine.job import sent
from touchstone.engine.locate import engine_path
from touchstone.engine.tls_port import speaks_tls
from touchstone.failure import ExitCode, TouchstoneError, UsageError
from touchstone.judge.reading.acknowledgements import NEXT_STEP, waiting
from touchstone.manifest.mix import Mix
from touchstone.record.engine import LoadResult
from touchstone.report.latency_bars import latency_bars
from touchstone.report.load_advice import advice
from touchstone.whole_file import write_whole

if TYPE_CHECKING:
    from touchstone.cli.load_export import LoadExport

_HELP = "Put load on a URL, as wrk does, and check every response. The engine's own options: touchstone load --help"
_OWN = """
Options of touchstone load alone:
      --metrics <PLACE>      Export live figures: to a port of this machine (OpenMetrics), a file FILE.ndjson, or a
                             collector's URL (OTLP over HTTP); may be repeated. The live line is not drawn then
      --live                 Draw the curves while it loads, on a page of this machine; short for --metrics 0
      --fail-if <CONDITION>  Exit with 3 if it holds: "errors > 1%", "p99 > 20ms", "rate < 1000"; may be repeated
      --histogram            Draw the latencies as bars
      --mix <FILE>           Send a weighted mix of [[requests]], or [[journeys]], from a TOML file, with the words
                             that a load of a scenario has (docs/templates.md); the URL is the server's, and -H is
                             added to each request that has no such field

Exit codes: 0 the load was borne, 1 more than half of the requests failed, 2 usage, 3 a --fail-if holds, 4 the result
cannot be trusted, for the named reasons, 130 stopped. If several apply, 3 comes before 1 before 4.
"""
_EXAMPLES = {
    "--fail-if": "--fail-if 'p99 > 20ms'",
    "--mix": "--mix requests.toml",
    "--metrics": "--metrics 9464",
    "--out": "--out result.json",
}
_TOO_MANY = 0.5
"""Above this share of failures a load measures no service, and the exit code says so."""


@dataclass
class _LoadArguments:
    """The parsed command line."""

    words: list[str] = field(default_factory=list)
    """Options of the engine."""
    conditions: list[FailIf] = field(default_factory=list)
    histogram: bool = False
    mix: Path | None = None
    metrics: list[str] = field(default_factory=list)
    out: Path | None = None


def load(context: typer.Context) -> int:
    """Run the engine and judge its result."""
    asked = _read_options(context.args)
    words = asked.words
    if "--help" in words or "-h" in words:
        done = subprocess.run([str(engine_path()), "load", *words], check=False)
        typer.echo(_OWN)
        return done.returncode
    with tempfile.TemporaryDirectory(prefix="touchstone-load-") as folder:
        if asked.mix is not None:
            words += ["--mix", str(_as_job(read_mix(asked.mix), Path(folder) / "mix.json"))]
        out = Path(folder) / "result.json"
        words += ["--out", str(out)]
        if asked.out is not None:
            _must_be_writable(asked.out)
        elif _value_of("--job", words) and "--json" not in words:
            # A job's result goes to standard output unless a file is named.
            words.append("--json")
        export = _export(asked.metrics)
        # Ctrl-C goes to the whole group: the engine ends its load and reports its results so far.
        usual = signal.signal(signal.SIGINT, _leave_it_to_the_engine)
        try:
            code = _run_engine(words, export)
        finally:
            signal.signal(signal.SIGINT, usual)
        result = None if _searches(words) else _read(out)
        if export is not None:
            export.end(result)
        if result is not None:
            _hide_secrets(out, result)
            if "--json" in words:
                typer.echo(out.read_text(encoding="utf-8"), nl=False)
        if asked.out is not None and out.exists():
            _keep(out, asked.out)
    if result is None or code not in (ExitCode.OK, ExitCode.INTERRUPTED):
        return code
    # With --json standard output is the result's alone.
    console = Console(stderr="--json" in words, highlight=False, soft_wrap=True)
    if asked.histogram:
        console.print(latency_bars(result.latency), markup=False)
    _print_notes(result, console)
    return code or _judged(result, asked.conditions, words, console)


def _print_notes(result: LoadResult, console: Console) -> None:
    for request in result.requests:
        if found := waiting(request):
            console.print(f"  note: {found.sentence}", markup=False)
            console.print(f"  do: {NEXT_STEP}", markup=False)


def _must_be_writable(out: Path) -> None:
    """Raise UsageError before the load if a result file cannot be written."""
    if out.is_dir() or not out.parent.is_dir():
        why = "it is a folder" if out.is_dir() else f"there is no folder {out.parent}"
        raise UsageError(f"--out {out} cannot be written: {why}", fix="name a file in a folder that is there")


def _keep(out: Path, place: Path) -> None:
    try:
        write_whole(place, out.read_bytes())
    except OSError as error:
        why = error.strerror or str(error)
        raise TouchstoneError(
            f"the result cannot be written: {why}", where=str(place), fix="name another file: --out FILE"
        ) from error


def _export(wanted: list[str]) -> LoadExport | None:
    if not wanted:
        return None
    # Its libraries load for as long as a short help is read.
    from touchstone.cli.load_export import LoadExport  # noqa: PLC0415

    return LoadExport(wanted)


def _run_engine(words: Sequence[str], export: LoadExport | None) -> int:
    """Print the result and return the exit code. A load's JSON is printed when its secrets are hidden; the result of a
    search holds no request.
    """
    printed_later = "--json" in words and not _searches(words)
    stdout = subprocess.DEVNULL if printed_later else None
    if export is not None:
        return export.run(engine_path(), words, stdout)
    return subprocess.run([str(engine_path()), "load", *words], stdout=stdout, check=False).returncode


def _searches(words: Sequence[str]) -> bool:
    return _value_of("--knee", words) is not None


def _hide_secrets(out: Path, result: LoadResult) -> None:
    """Rewrite the result with quoted requests as `result` shows them, without secrets."""
    shown = result.model_dump(mode="json", by_alias=True, include={"job", "first_errors"})
    whole = json.loads(out.read_text(encoding="utf-8")) | shown
    for request, figures in zip(whole["requests"], result.requests, strict=True):
        request["name"] = figures.name
    out.write_text(json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def _leave_it_to_the_engine(_signal: int, _frame: FrameType | None) -> None:
    """Ignore the signal. This is a handler because the engine would inherit SIG_IGN."""


def _judged(result: LoadResult, conditions: Sequence[FailIf], words: Sequence[str], console: Console) -> int:
    breaches = [breach for condition in conditions if (breach := condition.breach(result))]
    for breach in breaches:
        console.print(f"  failed: {breach}", markup=False)
    failed = failed_share(result)
    if failed > _TOO_MANY:
        console.print(f"  failed: {failed:.1%} of the requests had no correct response", markup=False)
        step = advice(result.first_errors[0]) if result.first_errors else None
        url = next((word for word in words if word.startswith(("http://", "https://"))), None)
        if step is None and url and url.startswith("http://") and result.counts.ok == 0 and speaks_tls(url):
            step = "the port speaks TLS: write https:// in the URL"
        if step is not None:
            console.print(f"  do: {step}", markup=False)
        if url and _may_lack_http1(result, words) and speaks_http2(url):
            wanted = "h2" if url.startswith("https://") else "h2c"
            step = f"the server speaks HTTP/2 only, and the load is HTTP/1.1: --protocol {wanted}"
            console.print(f"  {step}", markup=False)
        return ExitCode.GATE if breaches else ExitCode.FAILED
    if breaches:
        return ExitCode.GATE
    if result.generator.stands:
        return ExitCode.OK
    if "--json" in words:
        for reason in result.generator.reasons:
            console.print(f"  the result cannot be trusted: {reason}", markup=False)
    return ExitCode.INVALID


def _may_lack_http1(result: LoadResult, words: Sequence[str]) -> bool:
    """Whether requests over HTTP/1.1 got no response, for another reason than time."""
    counts = result.counts
    asked = _value_of("--protocol", words) in (None, "h1")
    return asked and counts.completed == 0 and counts.errors.timeout < counts.failed


def _as_job(mix: Mix, place: Path) -> Path:
    """Write a mix as an engine job to `place`."""
    place.write_text(json.dumps(sent(mix)), encoding="utf-8")
    return place


def _read_options(given: Sequence[str]) -> _LoadArguments:
    """Parse the command line. Raises UsageError."""
    asked = _LoadArguments(histogram="--histogram" in given)
    rest = list(given)
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if option in _EXAMPLES:
            if not equals and not rest:
                raise UsageError(f"{option} has no value", fix=f"write it like {_EXAMPLES[option]}")
            value = value if equals else rest.pop(0)
            if option == "--fail-if":
                asked.conditions.append(parse_fail_if(value))
            elif option == "--metrics":
                asked.metrics.append(value)
            elif option == "--out":
                asked.out = _only(option, asked.out, value, fix="name one file")
            else:
                asked.mix = _only(option, asked.mix, value, fix="write all requests into one file")
        elif word == "--live":
            asked.metrics.append(LIVE_PLACE)
        elif word != "--histogram":
            asked.words.append(word)
    if asked.mix is not None and _value_of("--job", asked.words) is not None:
        raise UsageError("a job names its requests itself", fix="leave out --mix or --job")
    if _searches(asked.words) and (asked.conditions or asked.histogram):
        raise UsageError(
            "--knee searches for a rate, so it makes many loads",
            fix="leave out --fail-if and --histogram: they are for one load",
        )
    return asked


def _only(option: str, earlier: Path | None, value: str, *, fix: str) -> Path:
    if earlier is not None:
        raise UsageError(f"{option} is given twice", fix=fix)
    return Path(value)


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
