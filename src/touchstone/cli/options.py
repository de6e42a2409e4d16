"""Arguments and options that mean the same in several commands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from touchstone.cli import completion
from touchstone.failure import UsageError
from touchstone.manifest.spoken import TlsSettings


def split_names(words: list[str] | None) -> list[str]:
    """The names in options that each hold one, or several separated by commas."""
    return [name for word in words or () for name in word.split(",") if name]


def refuse_without(other: str, is_given: bool, wanted: Mapping[str, object]) -> None:
    """Refuse options that have no effect without the option `other`.

    Raises UsageError. `wanted` holds the options' values, false where one is not given.
    """
    for name, value in wanted.items():
        if value and not is_given:
            raise UsageError(f"{name} has no effect without {other}", fix=f"add {other}, or leave {name} out")


def refuse_both(*pairs: tuple[str, object, str, object]) -> None:
    """Refuse options that exclude each other. In each pair: two options, each with its value, falsy if not given."""
    for one, value, other, other_value in pairs:
        if value and other_value:
            raise UsageError(f"{one} and {other} exclude each other", fix="give one of them")


Verify = Annotated[
    bool, typer.Option("--verify", help="TLS: the service's certificate must be valid, even on this machine.")
]
Insecure = Annotated[bool, typer.Option("--insecure", "-k", help="TLS: any certificate will do, even elsewhere.")]
CaCert = Annotated[
    Path | None,
    typer.Option(help="TLS: authorities to trust in place of the system's, or the service's certificate (PEM)."),
]
Cert = Annotated[
    Path | None, typer.Option(help="TLS: the client's certificate, with those that lead to its authority (PEM).")
]
Key = Annotated[Path | None, typer.Option(help="TLS: its private key, not encrypted (PEM); by default in --cert.")]
Sni = Annotated[
    str | None,
    typer.Option(metavar="NAME", help='TLS: the name sent to the service (SNI); "" sends none.'),
]
TlsMin = Annotated[str | None, typer.Option(metavar="VERSION", help="TLS: the oldest version offered, 1.2 or 1.3.")]


def tls_settings(
    *,
    verify: bool,
    insecure: bool,
    cacert: Path | None,
    cert: Path | None,
    key: Path | None,
    sni: str | None,
    tls_min: str | None,
) -> TlsSettings:
    """Return the TLS settings of the options. Raises UsageError for options that exclude each other."""
    refuse_both(("--verify", verify, "--insecure", insecure), ("--insecure", insecure, "--cacert", cacert))
    if key is not None and cert is None:
        raise UsageError("--key belongs to the client's certificate", fix="name that by --cert")
    if tls_min not in (None, "1.2", "1.3"):
        raise UsageError(f"--tls-min {tls_min} is not a version that can be asked for", fix="give 1.2 or 1.3")
    files = {"ca_file": cacert, "cert": cert, "key": key}
    given = {name: str(file.resolve()) for name, file in files.items() if file is not None}
    wanted: dict[str, Any] = {"verify": True if verify else False if insecure else None}
    return TlsSettings.model_validate({**given, **wanted, "sni": sni, "min_version": tls_min})


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
