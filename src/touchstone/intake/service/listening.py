"""What a service is told, as its own sources have it: where it listens, by a variable of its environment or an option
or always, and what else it reads from there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from touchstone.intake.service.base import DraftStack

_SOURCES = (
    *(".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".cs", ".go", ".rs"),
    *(".java", ".kt", ".py", ".js", ".cjs", ".mjs", ".ts"),
)
_NOT_ITS_OWN = ("test", "doc", "bench", "script", "example", "venv", "vendor", "third_party")
_MADE = ("node_modules", "target", "build", "dist", "out")
_PORTS = 2**16
_MOST_FILES, _MOST_BYTES = 2_000, 200_000

_READERS = (
    r"[gG]etenv(?:\(\)\.\w+)?",
    "LookupEnv",
    "GetEnvironmentVariable",
    r"env::var(?:_os)?",
    r"environ(?:\.get)?",
    r"(?:process|Bun|import\.meta)\.env",
    r"Deno\.env\.get",
    r"(?<![\w.])env(?:\.\w+)?",
)
"""What reads a variable in Go, C, Java, C#, Rust, Python (also by django-environ) and JavaScript."""
_VARIABLE = re.compile(
    rf"""(?:{"|".join(_READERS)})\s*[(\[.]\s*["']?([A-Z][A-Z0-9_]*)|\benv\s*=\s*"([A-Z][A-Z0-9_]*)\""""
)
_SETTINGS = re.compile(r"^class \w+\([^)]*\bBaseSettings\b[^)]*\):[^\n]*\n((?:[ \t]+[^\n]*\n|[ \t]*\n)*)", re.MULTILINE)
"""What pydantic-settings fills from the environment, each field by its name in capitals."""
_PREFIX = re.compile(r"""\benv_prefix["']?\s*[=:]\s*["'](\w*)["']""")
_TYPE = r"[\w.]+(?:\[[^=\n]*\])?"
_FIELD = re.compile(
    rf"^(?:\t| {{1,4}})([a-z]\w*)[ ]*:[ ]*{_TYPE}(?:[ ]*\|[ ]*{_TYPE})*[ ]*"
    r"(?P<required>(?:=[ ]*Field\([ ]*\.\.\..*)?(?:#.*)?$)?",
    re.MULTILINE,
)
_OPTION = re.compile(r"""["'](--[a-z][a-z-]*=?)(?:[ <][^"'\n]*)?["']""")
_TAKEN_APART = re.compile(r"\{([^{}]*)\}\s*=\s*process\.env\b")
"""`const { PORT = 3000, DATABASE_URL } = process.env`."""
_EXAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", "env.example", "example.env")
_ASSIGNED = re.compile(r"^(?:export[ ]+)?([A-Z][A-Z0-9_]*)=", re.MULTILINE)
_TAKEN = re.compile(r"(?:^|,)\s*([A-Z][A-Z0-9_]*)")
_GO_FLAG = re.compile(r"""(?:\bp?flag\.\w+|\bFlags\(\)\.\w+|\.\w*VarP?)\(\s*(?:&[\w.]+,\s*)?"([a-z][a-z-]*)\"""")
"""`flag.String("addr"`, also of a set: `fs.StringVar(&c.addr, "addr"`. A set's `String` alone is a log's, too."""
_TWO_DASHES = re.compile(r'"github\.com/spf13/(?:pflag|cobra)"')
"""Where one dash stands before letters, and not before a word."""
_CLAP = re.compile(
    r"""#\[(?:arg|clap)\([^\]]*\blong\b(?:\s*=\s*"(?P<long>[a-z-]+)")?[^\]]*\)\]\s*(?:pub\s+)?(?P<field>\w+)"""
)
_FIXED = re.compile(
    r"""(?:\b(?:listen|serve)\(\s*(?:\{[^}]*\bport:\s*)?|export default \{[^}]*\bport:\s*|ListenAndServe\(\s*["']"""
    r"""|InetSocketAddress\(\s*|\bbind\(\s*["']|\bport\s*=\s*)(?:[\w.\[\]]*:)?(\d{4,5})\b""",
    re.IGNORECASE,
)
"""`listen(3000)`, `serve({ port: 3000 })`, `ListenAndServe(":8080")`, `bind("0.0.0.0:8080")`, `port = 5000`."""
_OF_OTHERS = frozenset((1433, 3306, 5432, 5672, 6379, 9042, 9092, 9200, 11211, 27017))
"""Where databases and brokers listen."""

_WHOLE = "{host}:{port}"
_MEANS = {"PORT": "{port}", "HOST": "{host}", **dict.fromkeys(("ADDR", "ADDRESS", "LISTEN", "BIND"), _WHOLE)}
"""By a name's last word."""
_LISTENS = {"LISTEN", "BIND"}
_OWN = frozenset(("HTTP", "SERVER", "APP", "WEB"))
"""A name with another word before it, which is not of the service's own name either, is that of a service which it
calls: `REDIS_ADDR`, `DB_HOST`."""
_Source = tuple[Path, str]
"""A file by its path within the service, and its beginning."""
_UNKNOWN = "nothing was found that says where it listens: does it take PORT, or an option or variable with {port}?"
_GIVEN = ("HOST", "PORT")
"""Variables that a contender has anyway."""
_WITHOUT_WHICH = {
    "URL",
    "URI",
    "DSN",
    "HOST",
    "ADDR",
    "BROKERS",
    "SERVERS",
    "HOSTS",
    "USER",
    "PASSWORD",
    "SECRET",
    "KEY",
    "TOKEN",
}
"""The last words of variables that name what a service calls, or let it in."""


@dataclass(frozen=True)
class _Named:
    """A variable or an option that says where it listens."""

    name: str
    place: str
    file: Path
    """As from the service's folder."""


def told(drafted: DraftStack, service: Path) -> DraftStack:
    """The draft, with where it listens and a mark at what else it asks for, as its sources have both."""
    sources = [(file, held) for file, held in _sources(service) if file.parent.as_posix() not in drafted.others]
    examples = list(_examples(service))
    own = _OWN.union(_parts(drafted.name), _parts(service.resolve().name))
    return _asking(_addressed(drafted, sources, examples, own), [*sources, *examples], own)


def _addressed(
    drafted: DraftStack, sources: Sequence[_Source], examples: Sequence[_Source], own: Set[str]
) -> DraftStack:
    """With what its sources read the address from, or the port that they have; as it was if its command or its
    environment says where it listens.
    """
    if any("{port}" in word for word in (*drafted.run, *drafted.env.values())):
        return drafted
    variables = _places(((file, _variables(held)) for file, held in sources), own)
    options = {} if variables else _places(((file, _options(held)) for file, held in sources), own)
    if not options:
        variables = variables or _places(((file, _variables(held)) for file, held in examples), own)
    if env := {one.name: one.place for one in variables.values() if one.name not in _GIVEN}:
        guessed = [*drafted.guessed, *(f"it reads {one.name}, as {one.file} has it" for one in variables.values())]
        return replace(drafted, env={**drafted.env, **env}, guessed=guessed)
    if not variables and not options:
        return _fixed(drafted, sources)
    words = [word for one in options.values() for word in _given(one)]
    guessed = [*drafted.guessed, *(f"it takes {one.name}, as {one.file} has it" for one in options.values())]
    return replace(drafted, run=[*drafted.run, *words], guessed=guessed)


def _asking(drafted: DraftStack, sources: Sequence[_Source], own: Set[str]) -> DraftStack:
    """With a mark at what its sources read from the environment and nothing gives yet."""
    read = dict.fromkeys(name for _, held in sources for name in _variables(held))
    required = {name for _, held in sources for name, needed in _settings(held) if needed}
    asked = [
        name
        for name in read
        if (name in required or _parts(name)[-1] in _WITHOUT_WHICH)
        and not _place(name, own)
        and name not in drafted.env
    ]
    if not asked:
        return drafted
    guess = f"it reads {', '.join(asked)}: a dependency in scenario.toml gives it (docs/dependencies.md), or `env` here"
    return replace(drafted, guessed=[*drafted.guessed, guess])


def _fixed(drafted: DraftStack, sources: Sequence[_Source]) -> DraftStack:
    """With the port that its sources have; marked if they have none."""
    for file, held in sources:
        for found in _FIXED.finditer(held):
            port = int(found[1])
            if 1024 <= port < _PORTS and port not in _OF_OTHERS:
                guessed = [*drafted.guessed, f"it listens on port {port}, as {file} has it; better let it take PORT"]
                return replace(drafted, port=port, guessed=guessed)
    return replace(drafted, guessed=[*drafted.guessed, _UNKNOWN])


def _given(option: _Named) -> list[str]:
    return [option.name + option.place] if option.name.endswith("=") else [option.name, option.place]


def _places(found: Iterable[tuple[Path, Iterable[str]]], own: Set[str]) -> Mapping[str, _Named]:
    """The first name for each place. An address next to a port is the host's."""
    places: dict[str, _Named] = {}
    for file, names in found:
        for name in names:
            if place := _place(name, own):
                places.setdefault(place, _Named(name, place, file))
    whole, port = places.get(_WHOLE), places.get("{port}")
    if whole and port:
        del places[_WHOLE]
        places.setdefault("{host}", replace(whole, place="{host}"))
    return places


def _place(name: str, own: Set[str]) -> str | None:
    """What a name stands for; none if it is not known to be the service's own address, by the words of its own."""
    *before, last = _parts(name)
    if last not in _MEANS:
        return None
    known = set(before) <= own | _LISTENS or last in _LISTENS or bool(_LISTENS & set(before))
    return _MEANS[last] if known else None


def _parts(name: str) -> list[str]:
    return [part for part in re.split(r"[\W_]+", name.upper()) if part]


def _variables(held: str) -> Iterator[str]:
    yield from (one[1] or one[2] for one in _VARIABLE.finditer(held))
    yield from (name for name, _ in _settings(held))
    yield from (name for taken in _TAKEN_APART.finditer(held) for name in _TAKEN.findall(taken[1]))


def _settings(held: str) -> Iterator[tuple[str, bool]]:
    """The variables that fields of settings are filled from, and whether nothing else fills them."""
    for settings in _SETTINGS.finditer(f"{held}\n"):
        prefix = _PREFIX.search(settings[1])
        for one in _FIELD.finditer(settings[1]):
            yield f"{prefix[1] if prefix else ''}{one[1]}".upper(), one["required"] is not None


def _options(held: str) -> Iterator[str]:
    yield from (one[1] for one in _OPTION.finditer(held))
    dashes = "--" if _TWO_DASHES.search(held) else "-"
    yield from (dashes + one[1] for one in _GO_FLAG.finditer(held))
    yield from (f"--{one['long'] or one['field'].replace('_', '-')}" for one in _CLAP.finditer(held))


def _sources(service: Path) -> Iterator[_Source]:
    """Files that hold the service's code, by their path within it, with their beginnings."""
    left = _MOST_FILES
    for folder, below, files in os.walk(service):
        below[:] = sorted(name for name in below if name not in _MADE and not name.startswith((".", *_NOT_ITS_OWN)))
        for name in sorted(files):
            file = Path(folder, name)
            if file.suffix not in _SOURCES or left == 0:
                continue
            left -= 1
            with file.open("rb") as opened:
                yield file.relative_to(service), opened.read(_MOST_BYTES).decode("utf-8", "ignore")


def _examples(service: Path) -> Iterator[_Source]:
    """Files that show which variables the service wants, as if it read each: a library may read them for it."""
    for name in _EXAMPLES:
        file = service / name
        if file.is_file():
            named = _ASSIGNED.findall(file.read_text(encoding="utf-8", errors="ignore")[:_MOST_BYTES])
            yield Path(name), "\n".join(f'getenv("{one}")' for one in named)
