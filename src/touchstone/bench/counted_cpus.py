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
from pathlib import Path

from packaging.version import Version

from touchstone.bench.base import Built
from touchstone.isolation.cgroup import create_cgroup
from touchstone.isolation.child import start_child
from touchstone.record.process import CountedCpus
from touchstone.toolchain.tool import Found

_ASKED_WITHIN_S = 20.0
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
_GO_ROUNDS_UP = Version("1.25")
"""Since then GOMAXPROCS is the quota rounded up, and 2 at least (release notes of Go 1.25, "Container-aware
GOMAXPROCS")."""


def counted_cpus(
    built: Built, env: Mapping[str, str], tools: Mapping[str, Found], cpus: Sequence[int], quota: float
) -> CountedCpus | None:
    """What the runtime of a contender counts on these CPUs under a quota in CPUs; None where nobody knows."""
    if built.image is not None:
        return None
    name = re.sub(r"[\d.]+$", "", Path(built.argv[0]).name)
    if name in _QUESTIONS:
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
    """The answer of a program of its own, in a group that is limited as the contender's is."""
    flags = [word for word in built.argv[1:] if _JAVA_FLAG.match(word)] if name == "java" else []
    group = create_cgroup()

    def enter() -> None:
        if group is not None:
            group.join(os.getpid())
        if cpus:
            os.sched_setaffinity(0, cpus)

    try:
        if group is not None:
            group.limit_cpus(quota)
        child = start_child(
            [built.argv[0], *flags, *_QUESTIONS[name]],
            env=dict(env),
            cwd=built.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            preexec_fn=enter,
        )
        said = _said_by(child)
    except (OSError, subprocess.SubprocessError):
        return None
    finally:
        if group is not None:
            group.remove()
    answer = _ANSWER.search(said)
    return CountedCpus(count=int(answer[1]), runtime=name, asked=True) if answer else None


def _said_by(child: subprocess.Popen[str]) -> str:
    try:
        return child.communicate(timeout=_ASKED_WITHIN_S)[0]
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return ""


def _go(built: Built, env: Mapping[str, str], tool: Found, cpus: int, quota: float) -> CountedCpus | None:
    """`GOMAXPROCS` if it is set; else by the version that the program was built with, and its GODEBUG settings."""
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
