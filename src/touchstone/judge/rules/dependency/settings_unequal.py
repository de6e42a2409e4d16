"""Rule: contenders were given different settings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.apart import minority
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule

TUNING = re.compile(
    r"POOL|TIMEOUT|KEEP_?ALIVE|SYNCHRONOUS|JOURNAL|DURAB|BUSY|MAX_|LIMIT|THREADS|WORKERS|LOG_?LEVEL|COMPRESS|GZIP"
)
PLACES = re.compile(r"PATH|URL|HOST|PORT|BOOTSTRAP|FOLDER|DIR|HOME")


class SettingsUnequal(RunRule):
    """A larger pool or a longer timeout changes the result and not the code.

    The scenario fixes them for all.
    """

    code = "settings-unequal"
    severity = Severity.SUSPECT
    title = "Contenders were given different settings"
    threshold = (
        "an environment variable about pools, threads, timeouts, keep-alive, durability, limits, compression or log "
        "levels that all contenders have, with different values; where most agree, only those who differ are suspect"
    )
    threshold_reason = "only variables that every contender gets are the scenario's; those of one stack are its own"
    next_step = "Set it once, in the scenario's `settings`, and take it out of stack.toml."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for load in case.loads:
            env: dict[str, dict[str, str]] = {}
            for group in case.groups_of("load"):
                if group.load == load and group.samples and group.samples[-1].env:
                    env[group.contender] = group.samples[-1].env
            if len(env) < 2:
                continue
            for name in sorted(set.intersection(*(set(e) for e in env.values()))):
                values = {contender: e[name] for contender, e in env.items()}
                if not TUNING.search(name) or PLACES.search(name):
                    continue
                told = ", ".join(f"{value} for {contender}" for contender, value in values.items())
                for odd in minority(values):
                    yield self.finding(
                        f"{name} was {told}", load=load, contender=odd, evidence={"variable": name, "values": values}
                    )
