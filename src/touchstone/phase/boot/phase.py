"""The boot phase: from exec to the first valid response, caught by the engine."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, ClassVar

from touchstone.bench.base import Bench, attempt, blank_sample
from touchstone.bench.readiness import check_readiness
from touchstone.bench.service import contender_environment, limit_cpus, reset_dependencies, shown_environment
from touchstone.bench.waiting import READY_WITHIN_S
from touchstone.engine.client import run_job
from touchstone.engine.job import request
from touchstone.isolation.cgroup import create_cgroup
from touchstone.isolation.port import free_port
from touchstone.manifest.catalogue import Contender
from touchstone.phase.base import Phase
from touchstone.record.engine import BootResult, BootRun
from touchstone.record.sample import Failure, Sample
from touchstone.vocabulary.phase import PHASES, PhaseKind

_FIGURES = {
    "boot_first_response": "first_response_s",
    "boot_port_open": "port_open_s",
    "boot_cpu": "cpu_s",
    "boot_rss": "held",
    "boot_pss": "pss",
    "boot_anon": "anon",
}


class BootPhase(Phase):
    """Starts a contender several times; a sample's figures are the medians of its starts."""

    kind: ClassVar[PhaseKind] = PHASES["boot"]

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """Let the engine start it, and take what it saw."""
        sample = blank_sample(bench, self.name, contender.name, round_number=round_number, position=position)
        log = bench.store.logs / f"{sample.id}.log"
        sample.files["log"] = str(log.relative_to(bench.store.folder))

        def action(sample: Sample) -> None:
            bench.watcher.step(f"starting {contender.name}")
            reset_dependencies(bench, {})
            built = bench.builds[contender.name]
            port = free_port(bench.generators.host)
            env = contender_environment(bench, built, port)
            sample.argv, sample.env = list(built.argv), shown_environment(env)
            cgroup = create_cgroup(sample.id)
            limit_cpus(cgroup, sample, bench.cpu_limit)
            job: dict[str, Any] = {
                "argv": list(built.argv),
                "env": env,
                "cwd": str(built.work),
                "url": f"http://{bench.generators.host}:{port}",
                "request": request(bench.scenario.ready),
                "repeats": bench.profile.boots,
                "timeout_s": READY_WITHIN_S,
                "poll_interval_s": 0.0001,
                "cpus": bench.placement.server_cpus,
                "cgroup_paths": [str(folder) for folder in cgroup.folders] if cgroup else [],
                "drop_page_cache": False,
                "settle_s": 0.0,
                "log": str(log),
                "stop_timeout_s": 10.0,
            }
            try:
                sample.boot = run_job("boot", job, BootResult, on_event=bench.watcher.event)
                sample.figures, sample.failure = boot_figures(sample.boot.runs)
                if sample.failure is None:
                    _boot_cold(bench, job, sample)
            finally:
                if cgroup:
                    cgroup.remove()
            if sample.failure is None and (round_number or 1) == 1:
                check_readiness(bench, built, sample)

        return [attempt(sample, action, log)]


def _boot_cold(bench: Bench, job: dict[str, Any], sample: Sample) -> None:
    """The same starts with the page cache dropped before each: what the first start after a boot of the machine costs.

    Packed programs show it most: they are read from the disk whole, and unpacked at every start.
    """
    figure = "boot_first_response_cold"
    if bench.profile.cold_boots == 0:
        sample.not_measured[figure] = f"the profile {bench.profile.name} does not drop the page cache"
        return
    reset_dependencies(bench, {})
    cold = job | {"drop_page_cache": True, "repeats": bench.profile.cold_boots}
    cold["env"] = job["env"] | {k: v for dep in bench.dependencies.values() for k, v in dep.environment().items()}
    sample.cold_boot = run_job("boot", cold, BootResult, on_event=bench.watcher.event)
    runs = sample.cold_boot.runs
    good = [run.first_response_s for run in runs if run.cold_cache and run.failure is None and run.first_response_s]
    if good:
        sample.figures[figure] = statistics.median(good)
        return
    reasons = [text for run in runs if (text := run.warm_reason or run.failure)]
    sample.not_measured[figure] = reasons[0] if reasons else "no start gave a correct response"


def boot_figures(runs: Sequence[BootRun]) -> tuple[dict[str, float], Failure | None]:
    """The medians over the starts that gave a correct response, and the failure if none did."""
    good = [run for run in runs if run.failure is None]
    if not good:
        first = runs[0] if runs else None
        what = (
            f"no start gave a correct response: {first.failure} {first.evidence or ''}"
            if first
            else "the engine made no start"
        )
        return {}, Failure(what=what.strip(), mend="read the log")
    figures: dict[str, float] = {}
    for name, attribute in _FIGURES.items():
        values = [float(value) for run in good if (value := getattr(run, attribute)) is not None]
        if values:
            figures[name] = statistics.median(values)
    return figures, None
