"""Checks before a run whether the machine allows the requested limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from touchstone.failure import UsageError
from touchstone.isolation.delegation import lab_limits, lacking
from touchstone.isolation.limits import GroupLimit
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.plan.plan import RunRequest
from touchstone.record.run import Environment, Plan
from touchstone.report.sections.environment import cpus_in_words
from touchstone.vocabulary.phase import PHASES

_MIB = 2**20


def refuse_impossible_limits(
    cpus: float | None, request: RunRequest, loads: Mapping[str, Load], contenders: Sequence[Contender], plan: Plan
) -> None:
    """Raise UsageError for a limit that cannot be set on this machine or has no effect.

    A load that was not named may have a limit that cannot be set: its measurement then fails, and the others go on.
    """
    # A container's runtime sets its limits; a service that runs already gets none.
    started = [c for c in contenders if c.outside is None and c.variant.image is None]
    named = [load for name, load in loads.items() if name in request.loads] or (
        [*loads.values()] if all(_is_limited(load) for load in loads.values()) and _loads_alone(request) else []
    )
    asked = {
        "--cpus": (cpus, None),
        "--phase floor": (None, 1 if "floor" in request.phases else None),
        **{f"load {load.title!r}": (load.cpus, load.memory_limit_mb) for load in named},
    }
    limits = lab_limits()
    for what, (cpu_limit, memory_mb) in asked.items():
        needed = [name for name, limit in (("cpu", cpu_limit), ("memory", memory_mb)) if limit is not None]
        if started and needed and (refusal := lacking(*needed)):
            raise UsageError(f"{what} needs cgroups: {refusal.why}", fix=refusal.fix)
        _refuse_more_than_the_lab_has(what, cpu_limit, limits.cpus, "CPUs")
        if memory_mb is not None and limits.memory is not None:
            own = GroupLimit(limits.memory.most / _MIB, limits.memory.by)
            _refuse_more_than_the_lab_has(what, memory_mb, own, "MiB")
    _refuse_more_than_there_is(cpus, plan)


def _is_limited(load: Load) -> bool:
    return load.cpus is not None or load.memory_limit_mb is not None


def _loads_alone(request: RunRequest) -> bool:
    """Whether the request contains only loads."""
    return bool(request.phases) and all(PHASES[name].by_load for name in request.phases)


def _refuse_more_than_the_lab_has(what: str, asked: float | None, own: GroupLimit | None, unit: str) -> None:
    if asked is not None and own is not None and asked > own.most:
        raise UsageError(
            f"{what}: {asked:g} {unit} are more than the {own.most:g} {unit} that touchstone itself has, by {own.by}",
            fix="ask for less, or raise the limit of the container, service or slice that touchstone runs in",
        )


def _refuse_more_than_there_is(cpus: float | None, plan: Plan) -> None:
    """Refuse a quota above a contender's number of CPUs, because it has no effect."""
    own = len(plan.placement.server_cpus)
    if cpus is not None and cpus > own:
        raise UsageError(
            f"--cpus {cpus:g}: a contender has {own} of this machine's CPUs, so this is not a limit",
            fix=f"give at most {own}, or measure on a machine with more; engine and dependencies need CPUs as well",
        )


def limits_in_force(environment: Environment) -> Iterator[str]:
    """Return a note on the CPU and memory limits of touchstone itself."""
    if environment.cpu_quota is not None and environment.cpu_quota < environment.cpus:
        yield f"touchstone had {cpus_in_words(environment)}, which generator, contenders and dependencies shared"
