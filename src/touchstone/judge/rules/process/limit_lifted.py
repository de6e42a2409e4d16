"""Rule: a limit that was set did not last."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import size
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.evidence.surroundings import Confinement
from touchstone.record.sample import Sample

_LIMITS = {"memory": "the memory limit", "cpu": "the CPU limit"}


class LimitLifted(SampleRule):
    """Figures that were to hold under a limit say nothing if the limit was not there.

    A server may raise its own limit. A service manager that does not know that a cgroup was delegated switches the
    controllers below it off when it is reloaded, and the limits are gone.
    """

    code = "limit-lifted"
    severity = Severity.INVALID
    title = "A limit was lifted"
    threshold = (
        "a memory or CPU limit read back, while the contender runs or at its end, above what was set, or as none"
    )
    threshold_reason = "the kernel rounds a memory limit down, and only the contender and service managers write limits"
    next_step = (
        "See what writes to the cgroup's files: the server itself, or a service manager. In a systemd unit the lab "
        "needs `Delegate=yes`; `touchstone doctor` says which cgroup it uses."
    )
    own_failure = True
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        found = [account for account in sample.confinement if (*_lifted(account),)]
        if found:
            how = "; ".join(dict.fromkeys(text for account in found for text in _lifted(account)))
            yield self.finding(
                f"in {len(found)} of its starts a limit did not last: {how}",
                sample=sample,
                evidence={"accounts": [account.model_dump(exclude_defaults=True) for account in found]},
            )


def _lifted(account: Confinement) -> Iterator[str]:
    for name in account.limits_gone:
        yield f"{_LIMITS[name]} was gone"
    if account.memory_limit is not None:
        yield f"{_LIMITS['memory']} was found at {size(account.memory_limit)}"
    if account.cpu_limit is not None:
        yield f"{_LIMITS['cpu']} was found at {account.cpu_limit:g} CPUs"
