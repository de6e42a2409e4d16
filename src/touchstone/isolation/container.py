"""A container of ours: made and started by podman or docker, watched by its control group, and ended by its id."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

import psutil

from touchstone.isolation.cgroup import Cgroup, find_cgroup
from touchstone.isolation.child import STARTING, start_child, take_as_ours
from touchstone.isolation.process import ServerProcess, StartError, describe_exit

_LAB = "touchstone.lab"
"""The label that tells whose a container is: touchstone's process id."""
_MADE = "touchstone.made"
"""The label that no other container has: by it one is found whose making was interrupted."""
_STARTED_WITHIN_S = 30.0
_SIGNALLED = 128
"""Exit codes of runtimes beyond this are those of programs that a signal ended."""


@dataclass(frozen=True)
class ContainerRuntime:
    """podman or docker, called so that it works here."""

    path: Path

    @property
    def is_podman(self) -> bool:
        """Whether it is podman, which needs no daemon."""
        return self.path.name.startswith("podman")

    def command(self, *words: str) -> list[str]:
        """A command line. Without systemd podman makes control groups itself; crun takes those of version 2 alone."""
        own = [str(self.path)]
        if self.is_podman:
            if not Path("/run/systemd/system").is_dir():
                own.append("--cgroup-manager=cgroupfs")
            if not Path("/sys/fs/cgroup/cgroup.controllers").is_file():
                own += ["--runtime", "runc"]
        return [*own, *words]

    def ask(self, *words: str) -> str:
        """The runtime's output, without the final line end. Raises StartError with its message if it fails."""
        # A session of its own: Ctrl-C ends touchstone's work, and this may be what ends a container.
        child = start_child(
            self.command(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            answer, complaint = child.communicate()
        except BaseException:
            # The runtime continues by itself: a container must exist before it can be removed.
            child.wait()
            raise
        if child.returncode != 0:
            raise StartError(
                f"`{self.path.name} {words[0]}` ended with code {child.returncode}: {complaint.strip()[-400:]}",
                fix=f"see what {self.path.name} says: {' '.join(self.command(*words[:2]))} ...",
            )
        return str(answer).strip()

    @property
    def controllers(self) -> frozenset[str]:
        """The available limits among `cpuset`, `cpu` and `memory`; without root perhaps none."""
        return _controllers(self)

    def image_id(self, reference: str) -> str | None:
        """The id of an image that is on this machine; None if it is not."""
        with contextlib.suppress(StartError):
            return self.ask("image", "inspect", "--format", "{{.Id}}", reference)
        return None

    def image_bytes(self, image: str) -> int:
        """The size of all files of an image. Raises StartError."""
        return int(self.ask("image", "inspect", "--format", "{{.Size}}", image))


@lru_cache
def _controllers(runtime: ContainerRuntime) -> frozenset[str]:
    if runtime.is_podman:
        return frozenset(runtime.ask("info", "--format", "{{.Host.CgroupControllers}}").strip("[]").split())
    has = runtime.ask("info", "--format", "{{.CPUSet}} {{.CPUCfsQuota}} {{.MemoryLimit}}").split()
    return frozenset(name for name, answer in zip(("cpuset", "cpu", "memory"), has, strict=True) if answer == "true")


@dataclass(frozen=True)
class ContainerSpec:
    """What a container is made of. Limits are its control group's."""

    image: str
    env: Mapping[str, str]
    folders: Sequence[Path] = ()
    """Folders of this machine that it finds at the same place."""
    cpus: Sequence[int] = ()
    memory_limit: int | None = None
    """In bytes, swap included."""
    cpu_limit: float | None = None
    """CPU quota, in CPUs."""
    seccomp: str | None = None
    """The filter of its system calls, as the runtime names it; its usual one if None."""


def create_container(runtime: ContainerRuntime, spec: ContainerSpec) -> str:
    """Make a container on this machine's network; its id. Raises StartError, also for a limit that would not be kept.

    Where the runtime has no CPU sets, `start_command` is to be started on the container's CPUs: they are inherited.
    """
    for limit, controller in ((spec.memory_limit, "memory"), (spec.cpu_limit, "cpu")):
        if limit is not None and controller not in runtime.controllers:
            raise StartError(
                f"not measured: {runtime.path.name} cannot limit by the controller {controller} here",
                fix=f"run as root, or delegate {controller} to this user; or leave the limit out",
            )
    once = f"{_MADE}={uuid4()}"
    words = ["create", "--network=host", "--pull=never", "--label", f"{_LAB}={os.getpid()}", "--label", once]
    if runtime.is_podman:
        # Its monitor would be counted with it.
        words.append("--cgroups=no-conmon")
    words += _limits()
    if spec.cpus and "cpuset" in runtime.controllers:
        words += ["--cpuset-cpus", ",".join(map(str, spec.cpus))]
    if spec.memory_limit is not None:
        words += ["--memory", str(spec.memory_limit), "--memory-swap", str(spec.memory_limit)]
    if spec.cpu_limit is not None:
        words += ["--cpus", f"{spec.cpu_limit:g}"]
    if spec.seccomp is not None:
        words += ["--security-opt", f"seccomp={spec.seccomp}"]
    for folder in spec.folders:
        words += ["--volume", f"{folder}:{folder}"]
    with _environment(spec.env) as environment:
        try:
            return runtime.ask(*words, *environment, spec.image).splitlines()[-1]
        except BaseException:
            for container in _labelled(runtime, once):
                remove_container(runtime, container)
            raise


@contextlib.contextmanager
def _environment(env: Mapping[str, str]) -> Iterator[list[str]]:
    """The options by which a container gets an environment: a file, since any user reads another's command line.

    A file holds a line for each, and some runtimes take quotes off a value; what these would change is an option.
    """
    by_file = {name for name, value in env.items() if not {"\n", "\r"}.isdisjoint(value) or value[:1] in ("'", '"')}
    with tempfile.NamedTemporaryFile("w", prefix="touchstone-env-", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in env.items() if name not in by_file)
        file.flush()
        yield [f"--env-file={file.name}", *(f"--env={name}={env[name]}" for name in sorted(by_file))]


def _limits() -> list[str]:
    """Touchstone's own process limits, which replace those that the runtime would set."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # podman has lowered its own to the largest process id, and nobody may raise one again.
    largest = int(Path("/proc/sys/kernel/pid_max").read_text())
    processes = [
        largest if limit == resource.RLIM_INFINITY else min(limit, largest)
        for limit in resource.getrlimit(resource.RLIMIT_NPROC)
    ]
    return ["--ulimit", f"nofile={soft}:{hard}", "--ulimit", f"nproc={processes[0]}:{processes[1]}"]


def remove_container(runtime: ContainerRuntime, container: str) -> None:
    """End and remove a container, whatever state it is in."""
    with contextlib.suppress(StartError):
        runtime.ask("rm", "--force", "--volumes", container)


def remove_image(runtime: ContainerRuntime, name: str) -> None:
    """Take its name from an image, and remove it if it has no other. Nothing happens where there is none."""
    with contextlib.suppress(StartError):
        runtime.ask("image", "rm", name)


def start_command(runtime: ContainerRuntime, container: str) -> list[str]:
    """What starts a container and stays until it has ended. Its output is the container's, and so is its exit code."""
    return runtime.command("start", "--attach", container)


def group_places(container: str) -> list[Path]:
    """Where a container's memory cgroup appears, by runtime and cgroup manager."""
    names = (
        f"libpod_parent/libpod-{container}",
        f"machine.slice/libpod-{container}.scope",
        f"docker/{container}",
        f"system.slice/docker-{container}.scope",
    )
    unified = Path("/sys/fs/cgroup/cgroup.controllers").is_file()
    home = Path("/sys/fs/cgroup") if unified else Path("/sys/fs/cgroup/memory")
    return [home / name for name in names]


def remove_leftovers(runtime: ContainerRuntime) -> list[str]:
    """Remove containers of labs that no longer live; their ids."""
    removed = []
    for container in _labelled(runtime, _LAB):
        with contextlib.suppress(StartError):
            lab = runtime.ask("inspect", "--format", f'{{{{index .Config.Labels "{_LAB}"}}}}', container)
            if lab.isdigit() and not Path("/proc", lab).exists():
                remove_container(runtime, container)
                removed.append(container)
    return removed


def _labelled(runtime: ContainerRuntime, label: str) -> list[str]:
    return runtime.ask("ps", "--all", "--no-trunc", "--filter", f"label={label}", "--format", "{{.ID}}").split()


@dataclass(kw_only=True)
class ContainerProcess(ServerProcess):
    """A container that runs: `popen` is the runtime's client, which ends when it does."""

    runtime: ContainerRuntime
    container: str
    program: int
    """The container's first process, as this machine numbers it."""

    @property
    def pid(self) -> int:
        """The root of what is measured: neither the client nor the monitor."""
        return self.program

    def exited(self) -> str | None:
        """How its first process ended, in words; None while it lives."""
        code = self.popen.poll()
        return None if code is None else _ended(code)

    def strays(self, members: Collection[int]) -> list[int]:
        """None: what leaves its session stays in the container, and the monitor is the runtime's."""
        return []

    def oom_kills(self) -> int | None:
        """As a process's. A group that has gone with its container is asked for by what the runtime remembers."""
        if (kills := super().oom_kills()) is not None:
            return kills
        with contextlib.suppress(StartError):
            return int(self.runtime.ask("inspect", "--format", "{{.State.OOMKilled}}", self.container) == "true")
        return None

    def stop(self, patience_s: float = 10.0, stopped_for_s: float | None = None) -> str:
        """End and remove the container by its id: SIGTERM first, SIGKILL after `patience_s`. Says how it ended.

        One that has had SIGTERM for `stopped_for_s` seconds gets no more time.
        """
        running = self.popen.poll() is None
        try:
            began = time.monotonic()
            if stopped_for_s is not None:
                patience_s, began = stopped_for_s, began - (stopped_for_s if running else 0.0)
            elif running:
                with contextlib.suppress(StartError):
                    self.runtime.ask("stop", "--time", str(max(1, round(patience_s))), self.container)
            in_time = time.monotonic() - began < patience_s
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.popen.wait(5.0)
        finally:
            remove_container(self.runtime, self.container)
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()
            return "removed: it had not ended"
        return _ended(self.popen.returncode) if in_time else f"killed: it had not ended {patience_s:g} s after SIGTERM"


def start_container(runtime: ContainerRuntime, spec: ContainerSpec, *, log: Path) -> ContainerProcess:
    """Make a container and start it, with its output in `log`. Raises StartError."""
    log.parent.mkdir(parents=True, exist_ok=True)
    container = create_container(runtime, spec)

    def bind() -> None:
        if spec.cpus:
            os.sched_setaffinity(0, spec.cpus)

    try:
        began = time.monotonic()
        # Its monitor falls to touchstone before touchstone can know it.
        with STARTING:
            with log.open("ab") as stream:
                popen = start_child(
                    start_command(runtime, container),
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    preexec_fn=None if "cpuset" in runtime.controllers else bind,
                )
            program = _program(runtime, container, popen)
            with contextlib.suppress(psutil.NoSuchProcess):
                take_as_ours(psutil.Process(program).ppid())
    except BaseException:
        remove_container(runtime, container)
        raise
    return ContainerProcess(
        popen, log, _group_of(program, container), exec_s=began, runtime=runtime, container=container, program=program
    )


def _program(runtime: ContainerRuntime, container: str, popen: subprocess.Popen[bytes]) -> int:
    """The container's first process, once it runs."""
    deadline = time.monotonic() + _STARTED_WITHIN_S
    while time.monotonic() < deadline:
        pid = int(runtime.ask("inspect", "--format", "{{.State.Pid}}", container))
        if pid > 0 and psutil.pid_exists(pid):
            return pid
        if (code := popen.poll()) is not None:
            raise StartError(f"the container {_ended(code)} at once", fix="read its log")
        time.sleep(0.02)
    raise StartError(f"the container did not run within {_STARTED_WITHIN_S:g} s", fix="read its log")


def _group_of(pid: int, container: str) -> Cgroup | None:
    """The container's own group. None if it was put into the one that touchstone is in, which says nothing of it."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            is_of_memory = "memory" in controllers.split(",") or not controllers
            if container in path and is_of_memory and (found := find_cgroup(Path(path))):
                return found
    return None


def _ended(code: int) -> str:
    return describe_exit(_SIGNALLED - code if code > _SIGNALLED else code)
