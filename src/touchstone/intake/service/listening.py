"""Where a service listens, as what deploys it and its own sources have it: by a variable of its environment, by an
option, or always on one port; and a mark at what else it needs from its environment.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from touchstone.intake.service.base import DraftStack
from touchstone.intake.service.command import STORE_PORTS, is_of_others
from touchstone.intake.service.deployed import DeployedPort
from touchstone.intake.service.environment import RequiredVariables, example
from touchstone.intake.service.settings_files import FileSetting, settings_of
from touchstone.intake.service.sources import Source, own_sources

_PORTS = 2**16
_OPTION = re.compile(r"""["'](--[a-z][a-z-]*=?)(?:[ <][^"'\n]*)?["']""")
_GO_FLAG = re.compile(r"""(?:\bp?flag\.\w+|\bFlags\(\)\.\w+|\.\w*VarP?)\(\s*(?:&[\w.]+,\s*)?"([a-z][a-z-]*)\"""")
"""`flag.String("addr"`, also of a set: `fs.StringVar(&c.addr, "addr"`. A set's `String` alone is a log's, too."""
_GO_SET = re.compile(r"\b(\w+)\s*:?=\s*p?flag\.NewFlagSet\(")
_OF_SET = r"""\b{}\.\w+\(\s*(?:&[\w.]+,\s*)?"([a-z][a-z-]*)\""""
"""A flag of a set that is called so: `fs := pflag.NewFlagSet(...)`, `fs.Int("port"`."""
_TWO_DASHES = re.compile(r'"github\.com/spf13/(?:pflag|cobra)"')
"""Where one dash stands before letters, and not before a word."""
_GO_CLI = re.compile(r"""\bcli\.\w+Flag\{[^{}]*?\bName:\s*"([a-z][a-z-]*)\"""")
"""A flag of urfave/cli."""
_CLAP = re.compile(
    r"""#\[(?:arg|clap)\([^\]]*\blong\b(?:\s*=\s*"(?P<long>[a-z-]+)")?[^\]]*\)\]\s*(?:pub\s+)?(?P<field>\w+)"""
)
_CLAP_BUILT = re.compile(r"""\.long\(\s*"([a-z][a-z-]*)"\s*\)""")
"""The same without the derive macro: `Arg::new("port").long("port")`."""
_LISTENING = re.compile(
    r"""(?:\b(?:listen|serve)\(\s*(?:\{[^}]*\bport:\s*)?|\b(?:run|run_app|start|embeddedServer)\([^()]*?\bport\s*=\s*|"""
    r"""export default \{[^}]*\bport:\s*|ListenAndServe\(\s*["']|InetSocketAddress\(\s*|"""
    r"""\bbind\(\s*\(\s*"[^"]*",\s*|\bbind\(\s*\(?&?["']|"""
    r"""\b(?:run|bind|serve)\(\s*\(\s*\[[\d\s,]+\]\s*,\s*|\bSocketAddr(?:V4)?::(?:from|new)\([^;]{0,80}?,\s*|\bIpv[46]Addr::\w+(?:\([^()]*\))?,\s*|"""
    r"""\bnet\.Listen\(\s*"tcp",\s*["']|\.Run\(\s*["']|\.Start\(\s*["']|\bAddr:\s*["'])"""
    r"""["']?(?:[\w.\[\]]*:)?(\d{2,5})\b""",
    re.IGNORECASE,
)
"""`listen(3000)`, `serve({ port: 3000 })`, `ListenAndServe(":8080")`, `bind("0.0.0.0:8080")`, `app.run(port=5000)`."""
_LISTENS_WITH_BACKLOG = ("rust", "python", "c", "cpp")
"""Languages whose sockets take the length of a queue in `listen(1024)`, which is a power of two by custom."""
_CALLED_SO = re.compile(r"""\b(?:server[._]?)?port["']?\s*[:=]\s*["']?:?(\d{4,5})\b""", re.IGNORECASE)
"""`port = 5000`, which may be another server's."""
_TAKES_PORT = re.compile(r"\.Run\(\)|\bReadyToRun\b")
"""Gin listens on PORT by default."""

_WHOLE = "{host}:{port}"
_AT_PORT = re.compile(r"(?:(?:0\.0\.0\.0|127\.0\.0\.1|localhost|\[::1?\]|\*)?:)?(?P<port>\d{2,5})")
"""A port, or an address of this machine with one."""
_MEANS = {"PORT": "{port}", "HOST": "{host}", **dict.fromkeys(("ADDR", "ADDRESS", "LISTEN", "BIND"), _WHOLE)}
"""By a name's last word."""
_LISTENS = {"LISTEN", "BIND"}
_OWN = frozenset(("HTTP", "SERVER", "APP", "WEB", "API", "APPLICATION", "SERVICE"))
"""A name with another word before it, which is not of the service's own name either, is that of a service which it
calls: `REDIS_ADDR`, `DB_HOST`."""
_UNKNOWN = "nothing was found that says where it listens: does it take PORT, or an option or variable with {port}?"
_GIVEN = ("HOST", "PORT")
"""Variables that a contender has anyway."""


@dataclass(frozen=True)
class _Named:
    """A variable or an option that says where it listens."""

    name: str
    place: str
    file: Path
    """As from the service's folder."""


@dataclass(frozen=True)
class _Found:
    """What is known of a service's address and environment."""

    sources: Sequence[Source]
    read: RequiredVariables
    shown: RequiredVariables
    """What its sources read, and what its examples show next to that."""
    settings: Sequence[FileSetting]
    ports: Sequence[DeployedPort]
    own: Set[str]


def with_listening_address(
    drafted: DraftStack, service: Path, ports: Sequence[DeployedPort], given: Collection[str] = ()
) -> DraftStack:
    """The draft with its listening address, and a mark for each other variable read.

    `ports` are those on which what deploys it reaches it, `given` the variables that a scenario gives it.
    """
    sources = list(own_sources(service, drafted.language, drafted.folders))
    settings = settings_of(service, sources)
    own = _OWN.union(_parts(drafted.name), _parts(service.resolve().name))
    read, shown = RequiredVariables(sources), RequiredVariables([*sources, *example(service)])
    numbers = {one.number for one in ports}
    env = {name: _own_place(name, value, own, numbers) for name, value in drafted.env.items()}
    drafted = replace(drafted, env=env)
    found = _Found(sources, read, shown, settings, ports, own)
    return _asking(_addressed(drafted, found), shown, own, given)


def _own_place(name: str, value: str, own: Set[str], ports: Collection[int]) -> str:
    """What a variable of an image gets: touchstone's address in place of the service's own.

    That is its own under a name of its own, or if the image is reached on that port.
    """
    port = _AT_PORT.fullmatch(value)
    if not port:
        return value
    parts = _parts(name)
    reached = int(port["port"]) in ports and parts[-1:] and parts[-1] in (*_MEANS, "PORTS")
    if _place(name, own) is None and (not reached or any(is_of_others(part) for part in parts)):
        return value
    return "{port}" if value.isdigit() else _WHOLE


def _addressed(drafted: DraftStack, found: _Found) -> DraftStack:
    """With what its sources read the address from, or the port that they have. As it was if its command or its
    environment says where it listens.
    """
    if any("{port}" in word for word in (*drafted.run, *drafted.env.values())):
        return drafted
    own = found.own
    variables = _places(found.read.read.items(), own)
    variables = variables or _above(found.settings, own)
    takes = ((name, one.file) for one in found.sources for name in _options(one))
    options = {} if variables else _places(takes, own)
    if not options:
        variables = variables or _places(found.shown.read.items(), own)
    if env := {one.name: one.place for one in variables.values() if one.name not in _GIVEN}:
        guessed = [*drafted.guessed, *(f"it reads {one.name}, as {one.file} has it" for one in variables.values())]
        return replace(drafted, env={**drafted.env, **env}, guessed=guessed)
    if not variables and not options:
        return _fixed(drafted, found)
    words = [word for one in options.values() for word in _given(one)]
    guessed = [*drafted.guessed, *(f"it takes {one.name}, as {one.file} has it" for one in options.values())]
    return replace(drafted, run=[*drafted.run, *words], guessed=guessed)


def _asking(drafted: DraftStack, shown: RequiredVariables, own: Set[str], given: Collection[str]) -> DraftStack:
    """The draft with a mark at variables that it needs and nothing sets yet."""
    wanted = dict.fromkeys((*drafted.wanted, *shown.wanted))
    asked = [name for name in wanted if not _place(name, own) and name not in {*drafted.env, *given}]
    if not asked:
        return drafted
    guess = f"it reads {', '.join(asked)}: a dependency in scenario.toml gives it (docs/dependencies.md), or `env` here"
    return replace(drafted, guessed=[*drafted.guessed, guess])


def _fixed(drafted: DraftStack, found: _Found) -> DraftStack:
    """With the port that it has of its own: what deploys it says which, or else its sources; marked if none does."""
    sources, ports = found.sources, found.ports
    if any(source.lexer == "go" and any(source.found(_TAKES_PORT)) for source in sources):
        return drafted
    settings = [one for one in found.settings if _place("_".join(one.keys), found.own) == "{port}"]
    named = dict(_numbers(sources, _LISTENING))
    for port, file in ((one.value, one.file) for one in settings if isinstance(one.value, int)):
        named.setdefault(port, file)
    for port, file in _numbers(sources, _CALLED_SO):
        named.setdefault(port, file)
    chosen = next((one for one in ports if one.number in named), None) or next(iter(ports), None)
    if chosen:
        beside = [one for one in ports if one.source == chosen.source and one.number != chosen.number]
        others = list(dict.fromkeys(str(one.number) for one in beside))
        more = f" (which also has {', '.join(others)})" if others else ""
        port, where = chosen.number, f"{chosen.source} has it{more}"
    elif named:
        port, file = next(iter(named.items()))
        where = f"{file} has it"
    else:
        return replace(drafted, guessed=[*drafted.guessed, _UNKNOWN])
    guess = f"it listens on port {port}, as {where}; better let it take PORT"
    return replace(drafted, port=port, guessed=[*drafted.guessed, guess])


def _numbers(sources: Sequence[Source], pattern: re.Pattern[str]) -> Iterator[tuple[int, Path]]:
    """The ports that sources have, but for those of databases and brokers."""
    found = (
        (int(one[1]), source.file)
        for source in sources
        for one in source.found(pattern)
        if not _is_backlog(source, one)
    )
    return ((port, file) for port, file in found if (port == 80 or 1024 <= port < _PORTS) and port not in STORE_PORTS)


def _is_backlog(source: Source, found: re.Match[str]) -> bool:
    """Whether a number is the length of a socket's queue, and no port."""
    number = int(found[1])
    return source.lexer in _LISTENS_WITH_BACKLOG and found[0].startswith("listen(") and not number & (number - 1)


def _given(option: _Named) -> list[str]:
    return [option.name + option.place] if option.name.endswith("=") else [option.name, option.place]


def _places(found: Iterable[tuple[str, Path]], own: Set[str]) -> Mapping[str, _Named]:
    """The first name for each place. An address next to a port is the host's."""
    places: dict[str, _Named] = {}
    for name, file in found:
        if place := _place(name, own):
            places.setdefault(place, _Named(name, place, file))
    whole, port = places.get(_WHOLE), places.get("{port}")
    if whole and port:
        del places[_WHOLE]
        places.setdefault("{host}", replace(whole, place="{host}"))
    return places


def _above(settings: Sequence[FileSetting], own: Set[str]) -> Mapping[str, _Named]:
    """The variables that stand above what settings say of the address, by its keys."""
    places: dict[str, _Named] = {}
    for one in settings:
        if one.variable and (place := _place("_".join(one.keys), own)):
            places.setdefault(place, _Named(one.variable, place, one.file))
    return places


def _place(name: str, own: Set[str]) -> str | None:
    """What a name stands for. None if it is not known to be the service's own address, by the words of its own."""
    *before, last = _parts(name) or [""]
    if last not in _MEANS:
        return None
    known = all(_is_own(word, own) for word in before) or last in _LISTENS or bool(_LISTENS & set(before))
    return _MEANS[last] if known else None


def _is_own(word: str, own: Set[str]) -> bool:
    """Whether a word is one of the service's own names, or how such a name begins: `SHOP_PORT` of `shop2`."""
    return word in own | _LISTENS or (len(word) > 3 and any(one.startswith(word) for one in own))


def _parts(name: str) -> list[str]:
    return [part for part in re.split(r"[\W_]+", name.upper()) if part]


def _options(source: Source) -> Iterator[str]:
    yield from (one[1] for one in source.found(_OPTION))
    dashes = "--" if _TWO_DASHES.search(source.raw) else "-"
    yield from (dashes + one[1] for one in source.found(_GO_FLAG))
    yield from (f"--{one[1]}" for one in source.found(_GO_CLI))
    for named in source.found(_GO_SET):
        yield from (dashes + one[1] for one in source.found(re.compile(_OF_SET.format(named[1]))))
    yield from (f"--{one[1]}" for one in source.found(_CLAP_BUILT) if source.lexer == "rust")
    yield from (f"--{one['long'] or one['field'].replace('_', '-')}" for one in source.found(_CLAP))
