"""Environment variables that a service's sources read, and those that it requires."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from touchstone.intake.service.reading import read_source
from touchstone.intake.service.sources import Source

_READERS = (
    r"[gG]etenv(?:\(\)\.\w+)?",
    "LookupEnv",
    "BindEnv",
    "GetEnvironmentVariable",
    r"env::var(?:_os)?",
    r"(?:\bos\.|(?<![\w.]))environ(?:\.get)?",
    r"(?:process|Bun|import\.meta)\.env",
    r"Deno\.env\.get",
    r"(?<![\w.])env(?:\.\w+)?",
)
"""What reads a variable in Go, C, Java, C#, Rust, Python (also by django-environ) and JavaScript."""
_NAME = r"[A-Z][A-Z0-9_]*"
_VARIABLE = re.compile(
    rf"""(?:{"|".join(_READERS)})\s*[(\[.]\s*(?:"[\w.]+",\s*)?["']?({_NAME})\b(?!\()|"""
    rf"""(?:(?<![\w.])config|\b[cC]onfig(?:Service)?\.get\w*(?:<[^>()]*>)?|\bviper\.Get\w*)\(\s*["']({_NAME})["']"""
)
_OF_OPTION = re.compile(
    r"""(?:\benv(?:var)?\s*=\s*\[?|\.env\(\s*(?="\w+"\s*\))|\bEnvars?\(\s*|\bEnvVars?(?::\s*(?:\[\]string\{\s*)?|\(\s*))"""
    rf"""["']({_NAME})["']"""
)
"""Where an option may also be given by a variable: clap, click and typer, kingpin, urfave/cli."""
_WHOLE = re.compile(r"\bos\.Environ\(\)")
_NAMED = re.compile(rf'"({_NAME})"')
"""Where Go reads the environment as a whole, as for a table of options, and where such a table names a variable."""
_OF_STORES = re.compile(r"(?:\w+_)?(?:DATABASE|DB|POSTGRES\w*|PG|MYSQL|REDIS|MONGO\w*)_?(?:URL|URI|DSN|HOST)")
"""The names of such a table that are asked for: stores that no service can do without."""
_FROM_OS = re.compile(r"\bfrom os import (?:\([^)]*|[^\n]*)\benviron")
"""Where `environ` by itself is the process's in Python. Elsewhere it is a request's (PEP 3333)."""
_TAG = re.compile(rf"""\b(?:env|envconfig):"({_NAME})\b""")
"""A field of Go that is filled from the environment."""
_REQUIRED_TAG = re.compile(
    rf"""\benv:"({_NAME}),(?:required|notEmpty)|\benvconfig:"({_NAME})"(?=[^`\n]*required:"true")"""
)
_TAGS_BEGIN = re.compile(r"""(?:envconfig\.(?:Must)?Process\(|\bPrefix:|\benv\.New\()\s*"(\w+?)_?\"""")
"""How the names of all such fields begin."""
_PLACED = re.compile(rf"\$\{{\??({_NAME})(:?)[^}}]*\}}")
"""`${{NAME}}` and `${{NAME:otherwise}}` of Spring, Quarkus and Micronaut, `${{?NAME}}` of HOCON."""
_FILLED = re.compile(r".*\.(?:ya?ml|properties|conf)|.*\.(?:java|kt)")
"""Where these stand: in files of settings, and in `@Value`."""
_TEXT = rf"""["']({_NAME})["']"""
_REQUIRED = (
    re.compile(rf"(?:\bos\.|(?<![\w.]))environ\[\s*{_TEXT}\s*\](?!\s*=[^=])"),
    re.compile(rf"(?<![\w.])(?:config|env(?:\.\w+)?)\(\s*{_TEXT}\s*(?:,\s*cast\s*=[^,()]+(?:\([^()]*\))?)?\)"),
    re.compile(rf"env::var(?:_os)?\(\s*{_TEXT}\s*\)\s*(?:\.(?:expect|unwrap|map_err|context|with_context)\(|\?)"),
    re.compile(rf"(?<!option_)\benv!\(\s*{_TEXT}|\bdotenv!\(\s*{_TEXT}"),
    re.compile(rf"\bget[oO]rThrow\w*(?:<[^>()]*>)?\(\s*{_TEXT}|\.get\({_TEXT}\)\s*\.required\("),
    re.compile(rf"\b(?:[mM]ust|[rR]equired?)_?(?:[gG]et)?_?[eE]nv\w*\(\s*{_TEXT}"),
    re.compile(rf"\brequireNonNull\(\s*System\.getenv\(\s*{_TEXT}"),
    re.compile(rf"getenv\(\s*{_TEXT}\s*\)\s*(?:!!|\?:\s*(?:error|throw)\b)"),
    re.compile(
        rf"""[gG]etenv\(\s*{_TEXT}\s*\)[^{{}}]{{0,160}}?==\s*""\s*\{{[^{{}}]{{0,160}}?"""
        r"(?:Fatal|panic\(|os\.Exit|errors\.New|Errorf)"
    ),
    re.compile(
        rf"""LookupEnv\(\s*{_TEXT}\s*\)[^{{}}]{{0,160}}?!\s*\w+\s*\{{[^{{}}]{{0,160}}?(?:Fatal|panic\(|os\.Exit)"""
    ),
)
"""Where a service ends, or fails, without a variable."""
_OF_NODE = re.compile(
    rf"""(?P<before>!|\bif \(|typeof |delete |[&|]\s*)?process\.env(?:\.({_NAME})\b|\[["']({_NAME})["']\])"""
    r"(?!\s*(?:\|\||\?\?|\?|&&|[!=]==?|=(?!=)|\)\s*(?:\|\||\?\?|\{|\?)))"
)
"""A variable that nothing stands in for, and that is not only asked for being there."""
_SETTINGS = re.compile(r"^class \w+\([^)]*\bBaseSettings\b[^)]*\):[^\n]*\n((?:[ \t]+[^\n]*\n|[ \t]*\n)*)", re.MULTILINE)
"""What pydantic-settings fills from the environment, each field by its name in capitals."""
_PREFIX = re.compile(r"""\benv_prefix["']?\s*[=:]\s*["'](\w*)["']""")
_TYPE = r"[\w.]+(?:\[[^=\n]*\])?"
_FIELD = re.compile(
    rf"^(?:\t| {{1,4}})([A-Za-z]\w*)[ ]*:[ ]*{_TYPE}(?:[ ]*\|[ ]*{_TYPE})*[ ]*"
    r"(?P<required>(?:=[ ]*Field\([ ]*\.\.\..*)?$)?",
    re.MULTILINE,
)
_TAKEN_APART = re.compile(r"\{([^{}]*)\}\s*=\s*process\.env\b")
"""`const { PORT = 3000, DATABASE_URL } = process.env`."""
_TAKEN = re.compile(rf"(?:^|,)\s*({_NAME})")
_EXAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", "env.example", "example.env")
_ASSIGNED = re.compile(rf"^(?:export[ ]+)?({_NAME})=", re.MULTILINE)
_WITHOUT_WHICH = frozenset(
    (
        "URL",
        "URI",
        "DSN",
        "HOST",
        "ADDR",
        "BROKERS",
        "SERVERS",
        "HOSTS",
        "USER",
        "USERNAME",
        "PASSWORD",
        "PASS",
        "SECRET",
    )
) | {"KEY", "TOKEN", "DATABASE", "DB", "BUCKET", "ENDPOINT", "CONNECTION"}
"""The last words of variables that name what a service calls, or let it in."""
_OF_THE_MACHINE = re.compile(
    r"PATH|HOME|USER|PWD|TZ|LANG|CI|DEBUG|HOSTNAME|TERM|SHELL|TMPDIR|EDITOR|NODE_ENV|RUST_LOG|RUST_BACKTRACE|NO_COLOR|"
    r"TE?MP|(?:LOCAL)?APPDATA|(?:npm|XDG|JEST|VITEST|PYTEST|VERCEL|GITHUB|CARGO|OTEL|LC)_\w+|\w*(?:TEST|CYPRESS)\w*|(?:\w+_)?(?:TLS|SSL)_\w+|INVOCATION_ID|LISTEN_\w+|"
    r"HTTP_(?:AUTHORIZATION|HOST|COOKIE|USER_AGENT|REFERER|ORIGIN|ACCEPT\w*|X_\w+)|REMOTE_\w+|REQUEST_\w+|CONTENT_\w+|PATH_INFO|QUERY_STRING|SCRIPT_NAME"
)
"""Variables that are there anyway, that only a developer's machine has, that TLS alone needs, or that are a request's
in WSGI and CGI."""


class RequiredVariables:
    """Variables that sources read and those required, each with the first file that names it."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.read: dict[str, Path] = {}
        self.wanted: dict[str, Path] = {}
        begins = next((one[1] for source in sources for one in source.found(_TAGS_BEGIN)), "")
        whole = any(any(source.found(_WHOLE)) for source in sources if source.lexer == "go")
        for source in sources:
            tags = [f"{begins}_{tag}".upper() if begins else tag for tag in _tags(source)]
            required = [f"{begins}_{tag}".upper() if begins else tag for tag in _tags(source, required=True)]
            if "env-namespace:" in source.raw:
                # A group's name precedes a tag's, and no single line says which group that is.
                tags = [tag for tag in tags if "_" in tag]
            named = [one[1] for one in source.found(_NAMED)] if whole else []
            read = [*_variables(source), *tags]
            needed = {*_required(source), *required}
            for name in (*read, *needed):
                self.read.setdefault(name, source.file)
                called = name.rpartition("_")[2] in _WITHOUT_WHICH
                if (called or name in needed) and not _OF_THE_MACHINE.fullmatch(name):
                    self.wanted.setdefault(name, source.file)
            for name in named:
                self.read.setdefault(name, source.file)
                if _OF_STORES.fullmatch(name):
                    self.wanted.setdefault(name, source.file)


def _variables(source: Source) -> Iterator[str]:
    """The names of all that a source reads."""
    yield from (one[1] or one[2] for one in _of_process(source, _VARIABLE))
    yield from (one[1] for one in source.found(_OF_OPTION))
    yield from (name for name, _ in _settings(source))
    yield from (name for taken in source.found(_TAKEN_APART) for name in _TAKEN.findall(taken[1]))
    if _FILLED.fullmatch(source.file.name):
        yield from (one[1] for one in source.found(_PLACED))


def _of_process(source: Source, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Where a source has this, without reads of a request's `environ`."""
    ours = source.lexer != "python" or _FROM_OS.search(source.raw)
    return (one for one in source.found(pattern) if ours or not one[0].startswith("environ"))


def _tags(source: Source, *, required: bool = False) -> Iterator[str]:
    return (next(filter(None, one.groups())) for one in source.found(_REQUIRED_TAG if required else _TAG))


def _required(source: Source) -> Iterator[str]:
    """The names of what a source does without only by ending, or failing."""
    for pattern in _REQUIRED:
        yield from (next(name for name in one.groups() if name) for one in _of_process(source, pattern))
    yield from (name for name, needed in _settings(source) if needed)
    if source.lexer in ("js", "ts"):
        yield from (one[2] or one[3] for one in source.found(_OF_NODE) if not one["before"])
    if _FILLED.fullmatch(source.file.name):
        yield from (one[1] for one in source.found(_PLACED) if not one[2] and "?" not in one[0])


def _settings(source: Source) -> Iterator[tuple[str, bool]]:
    """The variables that fields of settings are filled from, and whether nothing else fills them."""
    if not _SETTINGS.search(source.raw):
        return
    for settings in _SETTINGS.finditer("\n".join(line.rstrip() for line in f"{source.code}\n".split("\n"))):
        prefix = _PREFIX.search(settings[1])
        for one in _FIELD.finditer(settings[1]):
            yield f"{prefix[1] if prefix else ''}{one[1]}".upper(), one["required"] is not None


def example(service: Path) -> Iterator[Source]:
    """Files that show which variables the service wants, as if it read each: a library may read them for it."""
    for name in _EXAMPLES:
        if named := _ASSIGNED.findall(read_source(service / name)):
            yield Source(Path(name), "\n".join(f'getenv("{one}")' for one in named), "text")
