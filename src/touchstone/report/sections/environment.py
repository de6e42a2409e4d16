"""The machine and the tools."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.record.run import Environment
from touchstone.report.format import plural, size
from touchstone.report.sections.section import PageSection
from touchstone.report.view import View


def build(view: View) -> Iterator[PageSection]:
    """The environment's fingerprint; two runs are compared only where it agrees."""
    yield PageSection("environment", "Environment", "rows.html", {"rows": rows_of(view)})


def cpus_in_words(env: Environment) -> str:
    """How many of the machine's CPUs touchstone could use, such as `0.5 of 2 CPUs, by the quota of GROUP`."""
    if env.cpu_quota is not None and env.cpu_quota < env.cpus:
        return f"{env.cpu_quota:g} of {plural(env.machine_cpus or env.cpus, 'CPU')}, by the quota of {env.cpu_quota_of}"
    if env.machine_cpus is not None and env.cpus < env.machine_cpus:
        return f"{env.cpus} of {plural(env.machine_cpus, 'CPU')}, by its cpuset or affinity"
    return str(env.cpus)


def rows_of(view: View) -> list[tuple[str, str]]:
    """What is known of the machine and the tools, by name."""
    env = view.run.environment
    revision = env.git_revision or ""
    rows = [
        ("CPU", env.cpu_model),
        ("CPUs", cpus_in_words(env)),
        ("frequency", ", ".join(f"{mhz:.0f} MHz" for mhz in env.frequency_mhz)),
        ("governor", env.governor or "not known"),
        ("memory", size(env.memory)),
        ("swap", size(env.swap) if env.swap else "none"),
        ("kernel", env.kernel),
        ("system", env.os),
        ("virtualisation", env.virtualisation or "none found"),
        ("clock source", env.clocksource or "not known"),
        ("cgroups", env.cgroups),
        ("open files, at most", f"{env.file_limit:,}" if env.file_limit else ""),
        ("load average at start", ", ".join(f"{load:.2f}" for load in env.load_average)),
        ("touchstone", env.touchstone_version),
        (
            "engine",
            f"{env.engine_version} (sha256 {env.engine_sha256[:16]}…)" if env.engine_sha256 else env.engine_version,
        ),
        ("revision", f"{revision} with local changes" if env.git_dirty else revision),
        *sorted((f"tool: {name}", version) for name, version in env.tools.items()),
        *sorted((f"limit: {name}", value) for name, value in env.limits.items()),
    ]
    return [(name, value) for name, value in rows if value]
