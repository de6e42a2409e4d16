"""The settings of a program as a dependency: as they are read, and what is wrong with them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from touchstone.manifest.places import fill_places, unknown_place

PLACES = ("port", "host", "folder", "scenario")
"""What is filled in in a command."""
_WHOLE = "{host}:{port}"
_KEYS = ("run", "address", "prepare", "ask", "ready_s")
_READY_S, _LONGEST_S = 30.0, 600.0


@dataclass(frozen=True)
class ProgramSettings:
    """The settings of one dependency, found right by `wrong_settings`."""

    run: tuple[str, ...]
    """The command that starts it; empty if somebody else has."""
    address: str
    prepare: tuple[tuple[str, ...], ...]
    ask: tuple[str, ...]
    ready_s: float


def read_settings(settings: dict[str, Any]) -> ProgramSettings:
    """With what the scenario leaves out filled in."""
    return ProgramSettings(
        run=tuple(settings.get("run", ())),
        address=str(settings.get("address", _WHOLE)),
        prepare=tuple(map(tuple, settings.get("prepare", ()))),
        ask=tuple(settings.get("ask", ())),
        ready_s=float(settings.get("ready_s", _READY_S)),
    )


def host_and_port(address: str) -> tuple[str, int] | None:
    """What an address such as `redis://localhost:6379/0` or `localhost:6379` names; None if it does not name both."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        return (parts.hostname, parts.port) if parts.hostname and parts.port else None
    except ValueError:
        return None


def moved(address: str, host: str, port: str) -> str:
    """An address with another host and port, and the rest as it is written."""
    there = urlsplit(address if "://" in address else f"//{address}").netloc
    user, at, _ = there.rpartition("@")
    return address.replace(there, f"{user}{at}{host}:{port}", 1)


def resolved(program: str, scenario: Path) -> Path | None:
    """Where a program is: a path is taken from the scenario's folder, a name is looked for on the PATH."""
    if "/" in program:
        path = scenario / program
        return path if path.is_file() else None
    found = shutil.which(program)
    return Path(found) if found else None


def wrong_settings(settings: dict[str, Any], scenario: Path) -> Iterator[tuple[str, str]]:
    """Key and sentence for everything that can be known before a start."""
    for key in settings:
        if key not in _KEYS:
            yield key, f"a program has no setting {key!r}; there are: {', '.join(_KEYS)}"
    own = "run" in settings
    if not own and "address" not in settings:
        yield "run", "write the command that starts the program, or the `address` of one that runs already"
    if own:
        yield from (("run", what) for what in _wrong_run(settings["run"], scenario))
    places = PLACES if own else ("host", "port", "scenario")
    prepare = settings.get("prepare", [])
    if not isinstance(prepare, list):
        yield "prepare", f'{prepare!r} is not a list of commands, such as [["redis-cli", "-p", "{{port}}", "flushall"]]'
    else:
        for words in prepare:
            yield from (("prepare", what) for what in _wrong_command(words, places, scenario))
    if "ask" in settings:
        ask = settings["ask"]
        yield from (("ask", what) for what in _wrong_command(ask, (*places, "query"), scenario))
        if _is_command(ask) and not any("{query}" in word for word in ask):
            yield "ask", "no word of it holds {query}, so that every question would be the same"
    yield from (("address", what) for what in _wrong_address(settings.get("address", _WHOLE), own=own))
    ready = settings.get("ready_s", _READY_S)
    if isinstance(ready, bool) or not isinstance(ready, int | float) or not 0 < ready <= _LONGEST_S:
        yield "ready_s", f"{ready!r} is not a number of seconds above 0 and up to {_LONGEST_S:g}"


def _wrong_run(words: Any, scenario: Path) -> Iterator[str]:
    yield from _wrong_command(words, PLACES, scenario)
    if _is_command(words) and not any("{port}" in word for word in words):
        yield "no word of it holds {port}: each start gets a port of its own, and must listen there"


def _wrong_address(address: Any, *, own: bool) -> Iterator[str]:
    if not isinstance(address, str) or not address:
        yield f'{address!r} is not text such as "redis://{{host}}:{{port}}/0"'
    elif own:
        if (why := unknown_place(address, ("host", "port"))) is not None:
            yield why
        elif "{port}" not in address:
            yield "it does not hold {port}, on which the program must listen"
    elif unknown_place(address, ()) is not None:
        yield "without `run` touchstone starts nothing, and so has no places to fill in; write host and port"
    elif host_and_port(address) is None:
        yield f"{address!r} does not name host and port, such as redis://127.0.0.1:6379/0"


def _is_command(words: Any) -> bool:
    return isinstance(words, list) and all(isinstance(word, str) for word in words) and bool(words and words[0])


def _wrong_command(words: Any, places: tuple[str, ...], scenario: Path) -> Iterator[str]:
    """What is wrong with one command: its words, the places in them, its program, its files of the scenario."""
    if not _is_command(words):
        yield f'{words!r} is not a command: write its words as a list, such as ["redis-server", "--port", "{{port}}"]'
        return
    for word in words:
        if (why := unknown_place(word, places)) is not None:
            yield why
    program, *arguments = (fill_places(word, {"scenario": str(scenario.resolve())}) for word in words)
    if unknown_place(program, ()) is None:
        yield from _wrong_program(program, scenario)
    for word, filled in zip(words[1:], arguments, strict=True):
        if word.startswith("{scenario}/") and unknown_place(filled, ()) is None and not Path(filled).exists():
            yield f"there is no {filled}: correct the path"
        elif _file_of_scenario(word, scenario):
            place = f"{{scenario}}/{Path(word)}"
            yield f"{word} is a file next to scenario.toml, and the command runs in a folder of its own: write {place}"


def _file_of_scenario(word: str, scenario: Path) -> bool:
    """Whether a relative path is one of the scenario's folder: it has a folder or a suffix, and is a file there."""
    path = Path(word)
    return not path.is_absolute() and ("/" in word or bool(path.suffix)) and (scenario / path).is_file()


def _wrong_program(program: str, scenario: Path) -> Iterator[str]:
    found = resolved(program, scenario)
    if found is None and "/" in program:
        yield f"there is no program {scenario / program}: correct the path, which begins at scenario.toml"
    elif found is None:
        here = f", or write ./{program} for the one next to scenario.toml" if (scenario / program).is_file() else ""
        yield f"there is no program {program!r}: install it, or write its path{here}"
    elif not os.access(found, os.X_OK):
        yield f"{found} may not be executed: make it executable, or put its interpreter before it"
