"""Script runtimes that report function names to perf if asked at their start.

They write a perf map, `/tmp/perf-PID.map`: what lies at which address. The names in it hold the path of the script,
which differs between two contenders, and how far the function was compiled, which changes as it runs. Here a function
is `PLACE:NAME`, and PLACE begins with `./` if it is the contender's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

import psutil

from touchstone.bench.base import Built
from touchstone.isolation.process import ServerProcess
from touchstone.phase.profile.perf_map import perf_map_of
from touchstone.record.evidence.profile import FoldedStacks

OWN = "./"
"""How the names of a contender's own functions begin."""

_JAVASCRIPT = re.compile(
    r"^(?:JS|LazyCompile|Function|Eval|Script|EvalFunction):(?:o?[*+]'?|[~^])?"
    r"(?P<name>.*?) ?(?P<path>(?:/|file:|node:|ext:|https?:).*?)(?P<line>:\d+)?(?::\d+)?$"
)
"""Between type and name stands how far V8 compiled a function: `~ ^ + *`, from V8 13 (Node.js 24, Deno 2) on also `+'`
and `*'` for one that is compiled for its closure, `o+` and `o*` for one that is replaced while its loop runs."""
_EXPRESSION = re.compile(r"^RegExp(?::|\.[<>=] src: ')(?P<source>.*?)(?:' flags: '\w*')?$")
_PYTHON = re.compile(r"^py::(?P<name>.+?):(?P<path>[/<.].*)$")
_PACKAGES = re.compile(r"^.*/(?:node_modules|site-packages|dist-packages)/")
_DENO_PACKAGES = re.compile(r"^.*/npm/[\w.:-]+/(?P<package>(?:@[^/]+/)?[^/]+)/[^/]+/")
"""In Deno's store a package lies below its registry, and its version is a folder."""
_STANDARD = re.compile(r"^.*/lib/python3\.\d+t?/")
_NODE = re.compile(r"node(js)?")
_CPYTHON = re.compile(r"python3\.(?P<minor>\d+)t?")
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?:|\.py:|^(node|ext):")
"""A function of a script, under the name that it has here."""
_FEW = 0.3
"""Share of the samples: a scripted service that spends less in its scripts is not fully seen."""
_TELLS_NAMES = 12
"""CPython 3.12 is the first that tells them."""


@dataclass(frozen=True)
class NamingRuntime:
    """What runs a contender's scripts."""

    table: str
    """Its table of patterns."""
    variable: str
    """The environment variable by which it is asked."""
    asks: str
    """What is added to that variable; empty for a version that cannot be asked."""
    function: re.Pattern[str]
    """A function in its perf map: `name`, `path`, and `line` where a function without a name is known by it."""
    between: str = " "
    """What stands between the values of that variable."""
    unseen: str | None = None
    """What a profile does not show if hardly a stack holds a function with a name."""

    def asked(self, built: Built) -> Built:
        """The contender, to be started so that the runtime tells names."""
        given = built.env.get(self.variable)
        asks = f"{given}{self.between}{self.asks}" if given else self.asks
        return replace(built, env={**built.env, self.variable: asks})

    def names(self, folder: Path) -> Callable[[str], str]:
        """How functions of a process that runs in this folder are called: a symbol of its perf map -> PLACE:NAME."""

        def named(symbol: str) -> str:
            found = self.function.match(symbol)
            if found is None:
                expression = _EXPRESSION.match(symbol)
                return f"RegExp:{expression['source']}" if expression else symbol
            line = found.groupdict().get("line") or ""
            return f"{_place(found['path'], folder)}:{found['name'] or f'(anonymous{line})'}"

        return named

    def unseen_in(self, stacks: FoldedStacks) -> str | None:
        """What these stacks do not show, and why; None where they do."""
        named = sum(count for frames, count in stacks.read() if any(_SCRIPT.search(frame) for frame in frames))
        return self.unseen if named < _FEW * stacks.samples else None


_V8 = NamingRuntime("node", "NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack", _JAVASCRIPT)
_DENO = NamingRuntime(
    "node", "DENO_V8_FLAGS", "--perf-basic-prof,--interpreted-frames-native-stack", _JAVASCRIPT, between=","
)
_PYTHON_3_12 = NamingRuntime(
    "python",
    "PYTHONPERFSUPPORT",
    "1",
    _PYTHON,
    unseen="This CPython is built without frame pointers, so perf shows its C functions but no Python functions. "
    "A build with -fno-omit-frame-pointer shows both.",
)
_PYTHON_BEFORE = replace(
    _PYTHON_3_12,
    asks="",
    unseen="CPython names Python functions from 3.12 on; for this version perf shows only C functions.",
)


def naming_runtime(process: ServerProcess) -> NamingRuntime | None:
    """The runtime of a process tree: that of the first process which is one. None for other programs."""
    for member in sorted(process.tree(), key=lambda one: one.pid):
        try:
            program = PurePath(member.exe()).name
        except psutil.Error:
            continue
        if _NODE.fullmatch(program):
            return _V8
        if program == "deno":
            return _DENO
        if found := _CPYTHON.fullmatch(program):
            return _PYTHON_3_12 if int(found["minor"]) >= _TELLS_NAMES else _PYTHON_BEFORE
    return None


def remove_traces(pids: Collection[int], folder: Path) -> None:
    """Remove what such runtimes wrote for these processes, which ran in this folder."""
    for pid in pids:
        for path in (perf_map_of(pid), *folder.glob(f"isolate-*-{pid}-v8.log")):
            path.unlink(missing_ok=True)


def _place(path: str, folder: Path) -> str:
    """Where a function's script lies, in words that are the same for two contenders."""
    path = path.removeprefix("file://")
    if not path.startswith("/"):
        return path  # part of the runtime: node:events, <frozen importlib._bootstrap>
    if _PACKAGES.match(path):
        return _PACKAGES.sub("", path)
    if _DENO_PACKAGES.match(path):
        return _DENO_PACKAGES.sub(r"\g<package>/", path)
    if _STANDARD.match(path):
        return _STANDARD.sub("python:", path)
    script = PurePath(path)
    inside = script.is_relative_to(folder)
    return OWN + str(script.relative_to(folder) if inside else PurePath(*script.parts[-2:]))
