"""Signs that a program was built or started for its developers: without optimisation, with checks, under a debugger.

What a command line and an environment say is read here. A build script may hide anything; the programs that it leaves
are looked at by `bench/binary_signs.py`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath

Words = Sequence[str]

_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh"})
_BEFORE_A_PROGRAM = frozenset(
    {"exec", "time", "command", "then", "do", "{", "(", "env", "nice", "nohup", "taskset", "stdbuf", "tini"}
    | {"dumb-init", "ccache", "sccache", "distcc"}
)
_SOURCE = re.compile(r"\.(?:c|cc|cpp|cxx|c\+\+|m)$")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_YES = re.compile(r"1|true|yes|on", re.I)
_JAVA = re.compile(
    r"-Xint|-Xdebug|-agentlib:jdwp.*|-Xrunjdwp.*|-ea|-enableassertions|-XX:TieredStopAtLevel=[0-3]|-javaagent:.*jacoco.*"
)
_NODE = re.compile(r"--(?:inspect(?:-brk|-wait)?(?:=.*)?|watch|hot|(?:cpu-|heap-)?prof|jitless|no-opt|max-lazy)")

_BUILD_TOOLS = frozenset(
    {"npm", "npx", "pnpm", "yarn", "pip", "uv", "poetry", "mvn", "mvnw", "gradle", "gradlew", "cmake", "cargo", "go"}
)
"""Programs whose own log says nothing of the service's."""
_LOG_OPTION = re.compile(r"(?:--?|-D)(?:[\w.]+[-.])?log(?:ging|ger)?(?:[-_.]?level)?(?:\.[\w.]+)?", re.I)
_VERBOSE = re.compile(r"(?:\w+=)?(?:debug|trace|verbose|silly|all)", re.I)

_LESS_COMPILED = re.compile(r".*(?:-Xint|-XX:TieredStopAtLevel=\d|--(?:jitless|no-opt|max-lazy))")

_DEVELOPMENT = re.compile(r"dev|development|debug|local", re.I)
_JAVA_VALUES = frozenset(
    ("-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-opens", "--add-exports", "--add-modules")
)

_ENVIRONMENT: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (re.compile(r"(?:NODE|RAILS|RACK|MIX)_ENV"), re.compile(r"dev|development|test", re.I)),
    (re.compile(r"(?:APP|FLASK|SYMFONY)_ENV|(?:ASPNETCORE|DOTNET)_ENVIRONMENT"), _DEVELOPMENT),
    (re.compile(r"GIN_MODE"), re.compile(r"debug|test")),
    (re.compile(r"(?:(?:FLASK|DJANGO|APP)_)?DEBUG|PYTHON(?:DEVMODE|ASYNCIODEBUG)"), _YES),
    (
        re.compile(r"(?:\w+_)?LOG(?:_?LEVEL)?|LOGGING_LEVEL_ROOT"),
        re.compile(r"(?:\w+=)?(?:debug|trace)", re.I),
    ),
    (re.compile(r"MALLOC_PERTURB_|MALLOC_CHECK_"), re.compile(r"[1-9]\d*")),
    (re.compile(r"LD_PRELOAD"), re.compile(r".*lib[atm]san.*")),
    (re.compile(r"PYTHONTRACEMALLOC"), re.compile(r"[1-9]\d*")),
    (re.compile(r"PYTHONMALLOC"), re.compile(r".*debug")),
)
"""Names of variables, and the values of them that are a sign."""
_C_FLAGS = re.compile(r"(?:\w+_)?C(?:XX)?FLAGS")
_RUST_FLAGS = re.compile(r"(?:\w+_)?RUSTFLAGS")
_BUILD_ENVIRONMENT: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (_C_FLAGS, re.compile(r"(?:.*\s)?-O[0g](?!.*\s-O)(?:\s.*)?")),
    (_C_FLAGS, re.compile(r"(?:.*\s)?(?:-fsanitize=|-pg\b|--coverage\b).*")),
    (_RUST_FLAGS, re.compile(r".*(?:opt-level=0|-Z\s?sanitizer=|instrument-coverage).*")),
    (re.compile(r"CARGO_PROFILE_RELEASE_OPT_LEVEL"), re.compile(r"0")),
    (re.compile(r"CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS"), _YES),
    (re.compile(r"GOFLAGS"), re.compile(r"(?:.*\s)?(?:-race|-msan|-asan|-cover|-gcflags=\S*-N)\b.*")),
    (re.compile(r"CMAKE_BUILD_TYPE"), re.compile(r"debug", re.I)),
)
"""The same of variables that compilers and build tools read."""
_OPTIONS = {"JAVA_TOOL_OPTIONS": _JAVA, "JDK_JAVA_OPTIONS": _JAVA, "_JAVA_OPTIONS": _JAVA, "NODE_OPTIONS": _NODE}


def development_signs(
    commands: Iterable[Words], env: Mapping[str, str], build_env: Mapping[str, str] | None = None
) -> list[str]:
    """Signs of development mode in build commands, the run command and environments."""
    found = []
    for words in (simple for command in commands for simple in _simple(command)):
        program = _without_prefix(words)
        before = map(_ASSIGNMENT.fullmatch, words[: len(words) - len(program)])
        set_before = {match[1]: match[2] for match in before if match}
        found += [*_of_environment(set_before), *_of_build_environment(set_before), *_of_command(program)]
    return list(dict.fromkeys([*found, *_of_build_environment(build_env or {}), *_of_environment(env)]))


def compiles_less(sign: str) -> bool:
    """Whether a sign is of a runtime that compiles less: it may start sooner and hold less memory than deployed."""
    return _LESS_COMPILED.fullmatch(sign) is not None


def _simple(command: Words) -> Iterator[list[str]]:
    """A command, or those of the line that a shell is given."""
    words = list(command)
    if len(words) > 2 and PurePath(words[0]).name in _SHELLS and words[1].startswith("-") and words[1].endswith("c"):
        try:
            reader = shlex.shlex(words[2], posix=True, punctuation_chars=";&|\n")
            reader.whitespace_split, reader.whitespace = True, " \t"
            tokens = list(reader)
        except ValueError:
            return
        part: list[str] = []
        for word in [*tokens, ";"]:
            if word and set(word) <= set(";&|\n"):
                if part:
                    yield part
                part = []
            else:
                part.append(word)
    elif words:
        yield words


def _without_prefix(words: Words) -> Words:
    """From the program on, behind assignments and what only starts it."""
    for place, word in enumerate(words):
        of_the_prefix = place > 0 and re.fullmatch(r"-.*|[\d,]+", word)
        if not (_ASSIGNMENT.fullmatch(word) or word in _BEFORE_A_PROGRAM or of_the_prefix):
            return words[place:]
    return ()


def _of_environment(env: Mapping[str, str]) -> Iterator[str]:
    for name, value in env.items():
        if any(names.fullmatch(name) and values.fullmatch(value) for names, values in _ENVIRONMENT):
            yield f"{name}={value}"
        if name in _OPTIONS:
            yield from (f"{name}: {word}" for word in value.split() if _OPTIONS[name].fullmatch(word))


def _of_build_environment(env: Mapping[str, str]) -> Iterator[str]:
    for name, value in env.items():
        if any(names.fullmatch(name) and values.fullmatch(value) for names, values in _BUILD_ENVIRONMENT):
            yield f"{name}={value}"


def _of_command(words: Words) -> Iterator[str]:
    if not words:
        return
    program, rest = PurePath(words[0]).name, list(words[1:])
    if re.search(r"(?:^|/)target/debug/", words[0]):
        yield "a program of target/debug"
    if program not in _BUILD_TOOLS:
        yield from _verbose(rest)
    for names, read in _READERS:
        if names.fullmatch(program):
            yield from read(program, rest)


def _subcommand(rest: Words) -> str:
    return next((word for word in rest if not word.startswith(("-", "+"))), "")


def _value(rest: Words, *names: str) -> str | None:
    """What an option is set to: `--name value` or `--name=value`."""
    for word, following in pairwise([*rest, ""]):
        if word in names:
            return following
        for name in names:
            if word.startswith(f"{name}="):
                return word.removeprefix(f"{name}=")
    return None


def _verbose(rest: Words) -> Iterator[str]:
    """Options that set a log's level to debug or below: `--log-level debug`, `--logging.level.root=DEBUG`."""
    for word, following in pairwise([*rest, ""]):
        name, separator, value = word.partition("=")
        level = value if separator else following
        if _LOG_OPTION.fullmatch(name) and _VERBOSE.fullmatch(level):
            yield f"{name}={level}" if separator else f"{name} {level}"


def _all_known(rest: Words) -> bool:
    """Whether what is missing is missing: a variable or a file of options may hold it."""
    return not any("$" in word or word.startswith("@") for word in rest)


def _cargo(_: str, rest: Words) -> Iterator[str]:
    built = _subcommand(rest) in ("build", "run", "rustc", "b", "r")
    if built and _all_known(rest) and not {"--release", "-r"} & set(rest):
        profile = _value(rest, "--profile")
        if profile in (None, "dev", "test"):
            yield f"cargo {_subcommand(rest)} without --release"
    if _subcommand(rest) == "install" and "--debug" in rest:
        yield "cargo install --debug"


def _go(_: str, rest: Words) -> Iterator[str]:
    if _subcommand(rest) not in ("build", "install", "run"):
        return
    yield from (f"go {_subcommand(rest)} {word}" for word in rest if word in ("-race", "-msan", "-asan", "-cover"))
    flags = _value(rest, "-gcflags") or ""
    if "-N" in re.split(r"[\s=]", flags):
        yield "go build with -gcflags=-N"


def _c_compiler(program: str, rest: Words) -> Iterator[str]:
    checks = re.compile(r"-fsanitize=.*|-pg|--coverage")
    yield from (f"{program} {word}" for word in rest if checks.fullmatch(word))
    if any(_SOURCE.search(word) for word in rest):
        levels = [word for word in rest if re.fullmatch(r"-O\w*", word)]
        if not levels and _all_known(rest):
            yield f"{program} without -O"
        elif levels and levels[-1] in ("-O0", "-Og"):
            yield f"{program} {levels[-1]}"


def _make(_: str, rest: Words) -> Iterator[str]:
    """Variables on its command line go before those of the makefile."""
    tokens = filter(None, map(_ASSIGNMENT.fullmatch, rest))
    yield from (f"make {sign}" for sign in _of_build_environment({match[1]: match[2] for match in tokens}))


def _unreleased(program: str, rest: Words) -> Iterator[str]:
    """Compilers that optimise when they are asked to alone."""
    release = re.compile(r"--release|-O[1-3s]|-d[:=](?:release|danger)|--define[:=](?:release|danger)")
    built = _subcommand(rest) in ("build", "c", "cc", "cpp", "compile", "compileToC", "compileToCpp")
    if built and _all_known(rest) and not any(release.fullmatch(word) for word in rest):
        yield f"{program} {_subcommand(rest)} without {'--release' if program == 'crystal' else '-d:release'}"


def _cmake(_: str, rest: Words) -> Iterator[str]:
    yield from (word for word in rest if re.fullmatch(r"-DCMAKE_BUILD_TYPE(:\w+)?=Debug", word, re.I))
    if (_value(rest, "--config") or "").lower() == "debug":
        yield "cmake --config Debug"


def _meson(_: str, rest: Words) -> Iterator[str]:
    if "debug" in (_value(rest, "--buildtype"), _value(rest, "-Dbuildtype")):
        yield "meson --buildtype=debug"


def _zig(_: str, rest: Words) -> Iterator[str]:
    if "Debug" in (_value(rest, "-O"), _value(rest, "-Doptimize")):
        yield "zig with Debug"
    elif _subcommand(rest) == "build-exe" and _value(rest, "-O") is None and _all_known(rest):
        yield "zig build-exe without -O"


def _dotnet(_: str, rest: Words) -> Iterator[str]:
    kind = _subcommand(rest)
    configuration = _value(rest, "-c", "--configuration", "-p:Configuration", "/p:Configuration")
    if kind in ("build", "run") and configuration is None and _all_known(rest):
        yield f"dotnet {kind} without -c Release"
    if configuration is not None and configuration.lower() == "debug":
        yield f"dotnet {kind} -c Debug"
    if kind == "watch":
        yield "dotnet watch"


def _swift(_: str, rest: Words) -> Iterator[str]:
    if _subcommand(rest) in ("build", "run") and _value(rest, "-c", "--configuration") != "release":
        yield f"swift {_subcommand(rest)} without -c release"


def _java_builder(program: str, rest: Words) -> Iterator[str]:
    goals = ("spring-boot:run", "quarkus:dev", "mn:run", "bootRun", "quarkusDev")
    yield from (f"{program} {word}" for word in rest if word.removeprefix(":") in goals)


def _java(_: str, rest: Words) -> Iterator[str]:
    """Only what stands before the program: what follows is its own."""
    for before, word in zip(["", *rest], rest, strict=False):
        if word == "-jar" or not (word.startswith("-") or before in _JAVA_VALUES):
            return
        if _JAVA.fullmatch(word):
            yield f"java {word}"


def _script_runtime(program: str, rest: Words) -> Iterator[str]:
    for word in rest:
        if not word.startswith("-") and word != "run":
            return
        if _NODE.fullmatch(word):
            yield f"{program} {word}"


def _script_runner(program: str, rest: Words) -> Iterator[str]:
    """What a package's scripts are called: a convention that all keep."""
    named = [word for word in rest if not word.startswith("-")]
    script = named[1] if named[:1] == ["run"] and len(named) > 1 else (named or [""])[0]
    if re.fullmatch(r"(?:start:)?(?:dev|watch|debug)(?::.*)?", script):
        yield f"{program} {' '.join(named[:2])}".rstrip()
    if program == "npx" and named:
        yield from _of_command(rest[rest.index(named[0]) :])


def _reloader(program: str, rest: Words) -> Iterator[str]:
    yield " ".join([program, *rest[:1]])


def _next(program: str, rest: Words) -> Iterator[str]:
    if _subcommand(rest) == "dev" or (program == "vite" and _subcommand(rest) in ("", "serve")):
        yield f"{program} dev"


def _nest(program: str, rest: Words) -> Iterator[str]:
    if _subcommand(rest) == "start":
        yield f"{program} start, which compiles as it starts and stays next to the service"


def _tsx(program: str, rest: Words) -> Iterator[str]:
    if _subcommand(rest) == "watch" or "--watch" in rest:
        yield f"{program} watch"


def _python(program: str, rest: Words) -> Iterator[str]:
    if _value(rest, "-X") == "dev" or "-Xdev" in rest:
        yield f"{program} -X dev"
    if "-m" in rest and rest.index("-m") + 1 < len(rest):
        yield from _of_command(rest[rest.index("-m") + 1 :])
    elif (script := _subcommand(rest)) and PurePath(script).name in ("manage.py", "flask", "uvicorn", "gunicorn"):
        yield from _of_command(rest[rest.index(script) :])


def _python_server(program: str, rest: Words) -> Iterator[str]:
    if program in ("flask", "manage.py", "django-admin") and _subcommand(rest) in ("run", "runserver"):
        yield f"{program} {_subcommand(rest)}, a server for development"
    if program == "fastapi" and _subcommand(rest) == "dev":
        yield "fastapi dev"
    yield from (f"{program} {word}" for word in rest if word in ("--reload", "--debug"))


def _php(_: str, rest: Words) -> Iterator[str]:
    if "-S" in rest or rest[:2] == ["artisan", "serve"]:
        yield "PHP's own server, which is for development"


def _rails(program: str, rest: Words) -> Iterator[str]:
    if _value(rest, "-e", "--environment") in ("development", "test"):
        yield f"{program} in its development environment"


def _watcher(program: str, _: Words) -> Iterator[str]:
    yield f"under {program}"


_READERS: tuple[tuple[re.Pattern[str], Callable[[str, Words], Iterator[str]]], ...] = (
    (re.compile(r"cargo"), _cargo),
    (re.compile(r"go(?:\d[\d.]*)?"), _go),
    (re.compile(r"(?:[\w.-]+-)?(?:cc|c\+\+|gcc|g\+\+|clang|clang\+\+)(?:-\d+)?"), _c_compiler),
    (re.compile(r"g?make"), _make),
    (re.compile(r"crystal|nim"), _unreleased),
    (re.compile(r"cmake"), _cmake),
    (re.compile(r"meson"), _meson),
    (re.compile(r"zig"), _zig),
    (re.compile(r"dotnet"), _dotnet),
    (re.compile(r"swift"), _swift),
    (re.compile(r"mvnw?|gradlew?"), _java_builder),
    (re.compile(r"java"), _java),
    (re.compile(r"node|nodejs|bun|deno"), _script_runtime),
    (re.compile(r"npm|pnpm|yarn|bun|npx"), _script_runner),
    (re.compile(r"nodemon|ts-node-dev|rerun|air|watchexec|cargo-watch"), _reloader),
    (re.compile(r"next|nuxt|nuxi|vite|remix|astro"), _next),
    (re.compile(r"nest"), _nest),
    (re.compile(r"tsx|ts-node"), _tsx),
    (re.compile(r"python[\d.]*|pypy[\d.]*"), _python),
    (re.compile(r"flask|manage\.py|django-admin|uvicorn|gunicorn|hypercorn|granian|fastapi|sanic"), _python_server),
    (re.compile(r"php[\d.]*"), _php),
    (re.compile(r"rails|puma|rackup"), _rails),
    (re.compile(r"strace|ltrace|valgrind|gdb|lldb|rr|perf|heaptrack|dlv"), _watcher),
    (re.compile(r"cProfile|profile|pdb|coverage|memory_profiler|pyinstrument|scalene|viztracer|py-spy"), _watcher),
)
"""By the program's name; one that stands in two rows is read twice."""
