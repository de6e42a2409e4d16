"""How many CPUs a contender's runtime counts under a quota: runtimes round it up, down, or do not see it.

They choose their numbers of threads by it. A runtime that can be asked is asked, under the contender's own limits. What
is compiled into a program goes by a known rule.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import subprocess
from collections.abc import Mapping, Sequence

from packaging.version import Version

from touchstone.bench.base import Built
from touchstone.bench.program_output import program_name, program_output
from touchstone.record.process import CountedCpus
from touchstone.toolchain.tool import FoundTool

_JAVA_FLAG = re.compile(r"-XX:(ActiveProcessorCount=|[+-]UseContainerSupport)")
_QUESTIONS: Mapping[str, Sequence[str]] = {
    "node": ("-p", "os.availableParallelism()"),
    "bun": ("-e", "console.log(navigator.hardwareConcurrency)"),
    "deno": ("eval", "console.log(navigator.hardwareConcurrency)"),
    "python": ("-c", "import os; print(os.cpu_count())"),
    "ruby": ("-retc", "-e", "puts Etc.nprocessors"),
    "elixir": ("-e", "IO.puts(System.schedulers_online())"),
    "java": ("-XshowSettings:system", "-version"),
}
"""What makes each runtime print how many CPUs there are for it, by its program's name without a version."""
_ANSWER = re.compile(r"^(?:\s*Effective CPU Count: )?(\d+)\s*$", re.MULTILINE)
_NO_CONTAINER = "System not containerized"
"""What JDK 25 says in place of a count where the quota, rounded up, is all the CPUs that there are."""
_GO_ROUNDS_UP = Version("1.25")
"""Since then GOMAXPROCS is the quota rounded up, and 2 at least (release notes of Go 1.25, "Container-aware
GOMAXPROCS")."""


def counted_cpus(
    built: Built, env: Mapping[str, str], tools: Mapping[str, FoundTool], cpus: Sequence[int], quota: float
) -> CountedCpus | None:
    """What the runtime of a contender counts on these CPUs under a quota in CPUs. None where nobody knows."""
    if built.image is not None:
        return None
    if (name := program_name(built)) in _QUESTIONS:
        return _asked(name, built, env, cpus, quota)
    lanes = len(cpus) or os.cpu_count() or 1
    if "go" in tools:
        return _go(built, env, tools["go"], lanes, quota)
    if "cargo" in tools:
        # `std::thread::available_parallelism`, by which tokio and others go.
        return CountedCpus(count=min(lanes, max(1, math.floor(quota))), runtime="rust")
    if blind := next((name for name in ("zig", "cxx") if name in tools and "native-image" not in tools), None):
        # Their standard libraries count the CPUs that a process may run on, and do not look at quotas.
        return CountedCpus(count=lanes, runtime=blind)
    return None


def _asked(name: str, built: Built, env: Mapping[str, str], cpus: Sequence[int], quota: float) -> CountedCpus | None:
    flags = [word for word in built.argv[1:] if _JAVA_FLAG.match(word)] if name == "java" else []
    if fixed := re.search(r"-XX:ActiveProcessorCount=(\d+)", " ".join(flags)):
        return CountedCpus(count=int(fixed[1]), runtime=name)
    output = program_output(built, env, [*flags, *_QUESTIONS[name]], cpus=cpus, quota=quota)
    if output is None:
        return None
    if answer := _ANSWER.search(output.text):
        return CountedCpus(count=int(answer[1]), runtime=name, asked=True)
    if _NO_CONTAINER in output.text:
        return CountedCpus(count=len(cpus) or os.cpu_count() or 1, runtime=name, asked=True)
    return None


def _go(built: Built, env: Mapping[str, str], tool: FoundTool, cpus: int, quota: float) -> CountedCpus | None:
    """`GOMAXPROCS` if it is set. Else by the version that the program was built with, and its GODEBUG settings."""
    if (given := env.get("GOMAXPROCS", "")).isdigit() and int(given) > 0:
        return CountedCpus(count=int(given), runtime="go")
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            [str(tool.path), "version", "-m", built.argv[0]], capture_output=True, text=True, timeout=20, check=False
        )
        version = re.search(r": go(\d+\.\d+)", done.stdout)
        settings = f"{''.join(re.findall('DefaultGODEBUG=(.*)', done.stdout))},{env.get('GODEBUG', '')}"
        if version is None:
            return None
        sees_quota = Version(version[1]) >= _GO_ROUNDS_UP and _last_of(settings, "containermaxprocs") != "0"
        count = min(cpus, max(2, math.ceil(quota))) if sees_quota else cpus
        return CountedCpus(count=count, runtime=f"go {version[1]}")
    return None


def _last_of(settings: str, name: str) -> str | None:
    found = [value for key, _, value in (pair.partition("=") for pair in settings.split(",")) if key == name]
    return found[-1] if found else None
