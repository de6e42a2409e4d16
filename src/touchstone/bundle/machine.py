"""What a run says of its machine in several places: CPUs, kernel, engine, tools."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample


def machine_contradictions(run: Run) -> Iterator[str]:
    """Everything in the environment that contradicts the plan or a sample."""
    yield from _cpus(run)
    env = run.environment
    for contender in run.plan.contenders:
        for name, version in contender.tools.items():
            if env.tools.get(name) != version:
                yield f"environment.json: {name} {env.tools.get(name)}, and {contender.name} was planned with {version}"
    for sample in run.samples:
        if sample.machine:
            if sample.machine.kernel not in (None, env.kernel):
                yield f"{sample.id}: its kernel is {sample.machine.kernel}, and that of the run {env.kernel}"
            for rates in (sample.machine.frequency_mhz_before, sample.machine.frequency_mhz_after):
                if rates and env.frequency_mhz and len(rates) != len(env.frequency_mhz):
                    yield f"{sample.id}: clock rates of {len(rates)} CPUs, and of {len(env.frequency_mhz)} in the run"
        yield from _engine(sample, run)
        yield from _memory(sample, run)
        own, planned = sample.process.placement.server_cpus, run.plan.placement.server_cpus
        if sample.phase == "load" and sample.contender != TARE and own and planned and set(own) != set(planned):
            yield f"{sample.id}: its CPUs are {own}, and those of the plan {planned}"


def _cpus(run: Run) -> Iterator[str]:
    env, placement = run.environment, run.plan.placement
    cpus = env.machine_cpus or env.cpus
    used = {*placement.server_cpus, *placement.engine_cpus, *placement.dependency_cpus}
    if env.cpus > cpus or (not placement.generators and used and len(used) != env.cpus):
        yield f"environment.json: {env.cpus} of {cpus} CPUs, and the plan uses {len(used)}"
    if env.frequency_mhz and len(env.frequency_mhz) != cpus:
        yield f"environment.json: {cpus} CPUs, and clock rates of {len(env.frequency_mhz)}"


def _engine(sample: Sample, run: Run) -> Iterator[str]:
    named = run.environment.engine_version
    version = sample.result.engine.version if sample.result else ""
    if version and named and version not in named.split():
        yield f"{sample.id}: measured by the engine {version}, and the run names {named}"


def _memory(sample: Sample, run: Run) -> Iterator[str]:
    held = sample.figures.get("rss_peak", 0.0)
    if run.environment.memory and held > run.environment.memory:
        yield f"{sample.id}: {held:.0f} bytes of memory, on a machine of {run.environment.memory}"
