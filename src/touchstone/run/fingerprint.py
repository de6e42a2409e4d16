"""The machine and tools of a run. Two runs are compared only where these agree."""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import subprocess
from pathlib import Path

import psutil

import touchstone
from touchstone.engine.locate import engine_digest, engine_path
from touchstone.isolation.delegation import find_home, lab_limits
from touchstone.plan.placement import available_cpus
from touchstone.record.run import Environment


def cpus_of_the_lab() -> Environment:
    """The fingerprint's part on touchstone's own CPUs and permitted cgroups."""
    # First of all: touchstone may get a group of its own, which takes its limits along.
    cgroups = str(find_home())
    quota = lab_limits().cpus
    return Environment(
        cpus=len(available_cpus()),
        machine_cpus=os.cpu_count(),
        cpu_quota=quota.most if quota else None,
        cpu_quota_of=str(quota.by) if quota else None,
        cgroups=cgroups,
    )


def fingerprint(tools: dict[str, str]) -> Environment:
    """Read the machine's facts; unknown ones stay empty or None."""
    limits = {
        "open files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "processes": resource.getrlimit(resource.RLIMIT_NPROC),
        "locked memory": resource.getrlimit(resource.RLIMIT_MEMLOCK),
    }
    revision, dirty = _git()
    lab, cpus = cpus_of_the_lab(), available_cpus()
    return Environment(
        cpus=lab.cpus,
        machine_cpus=lab.machine_cpus,
        cpu_quota=lab.cpu_quota,
        cpu_quota_of=lab.cpu_quota_of,
        cgroups=lab.cgroups,
        cpu_model=_cpu_model(),
        memory=psutil.virtual_memory().total,
        swap=psutil.swap_memory().total,
        kernel=platform.release(),
        os=_os_name(),
        virtualisation=_virtualisation(),
        governor=_text(f"/sys/devices/system/cpu/cpu{cpus[0]}/cpufreq/scaling_governor"),
        frequency_mhz=_frequencies(),
        clocksource=_text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        file_limit=limits["open files"][1],
        limits={name: " / ".join(map(_limit, pair)) for name, pair in limits.items()}
        | {
            key: value
            for key in (
                "net.core.somaxconn",
                "net.ipv4.ip_local_port_range",
                "net.ipv4.tcp_tw_reuse",
                "vm.overcommit_memory",
            )
            if (value := _text(f"/proc/sys/{key.replace('.', '/')}")) is not None
        },
        tools=tools,
        engine_version=_engine_version(),
        engine_sha256=engine_digest(),
        touchstone_version=touchstone.__version__,
        git_revision=revision,
        git_dirty=dirty,
        load_average=list(os.getloadavg()),
    )


def _limit(value: int) -> str:
    return "unlimited" if value == resource.RLIM_INFINITY else str(value)


def _text(path: str) -> str | None:
    with contextlib.suppress(OSError):
        return Path(path).read_text(encoding="utf-8").strip()
    return None


def _cpu_field(name: str) -> list[str]:
    lines = (_text("/proc/cpuinfo") or "").splitlines()
    return [line.partition(":")[2].strip() for line in lines if line.startswith(name)]


def _cpu_model() -> str:
    return next(iter(_cpu_field("model name")), platform.machine())


def _frequencies() -> list[float]:
    return [float(value) for value in _cpu_field("cpu MHz")]


def _virtualisation() -> str | None:
    if any("hypervisor" in flags.split() for flags in _cpu_field("flags")[:1]):
        return _text("/sys/class/dmi/id/product_name") or "a hypervisor"
    return None


def _os_name() -> str:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return platform.system()


def _engine_version() -> str:
    done = subprocess.run([str(engine_path()), "--version"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def lab_revision() -> str | None:
    """The commit of touchstone's own sources; None if it is installed."""
    return _git()[0]


def _git() -> tuple[str | None, bool | None]:
    """Touchstone's revision and whether it was changed.

    Unknown if it is installed, also into another's repository.
    """
    here = Path(__file__).resolve().parent
    with contextlib.suppress(OSError):
        tracked = ["git", "ls-files", "--error-unmatch", Path(__file__).name]
        if subprocess.run(tracked, cwd=here, capture_output=True, check=False).returncode:
            return None, None
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=False)
        if head.returncode == 0:
            state = subprocess.run(
                ["git", "status", "--porcelain"], cwd=here, capture_output=True, text=True, check=False
            )
            return head.stdout.strip(), bool(state.stdout.strip())
    return None, None
