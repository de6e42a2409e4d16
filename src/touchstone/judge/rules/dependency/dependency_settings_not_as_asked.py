"""Rule: a dependency was not set as the scenario asks."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.setting import normal
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class DependencySettingsNotAsAsked(SampleRule):
    """The lab asks for settings and reads them back.

    What was measured is the setting that was read.
    """

    code = "dependency-settings-not-as-asked"
    severity = Severity.INVALID
    title = "A dependency was not set as the scenario asks"
    threshold = (
        "a setting read back from a dependency, or from the service's own sessions, differs from the one asked for; "
        "units and spellings of yes and no aside"
    )
    threshold_reason = "settings are exact; spellings are brought to one form before they are compared"
    next_step = "Look at who changed it after the reset: the contender itself, or the dependency's own limits."
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        overrides = sample.load_spec.get("dependency_settings") or {}
        for dependency in sample.dependencies:
            asked = dependency.asked | (overrides.get(dependency.name) or {})
            wrong = {
                key: [value, dependency.settings[key]]
                for key, value in asked.items()
                if key in dependency.settings and normal(value) != normal(dependency.settings[key])
            }
            if wrong:
                told = ", ".join(f"{key} is {found!r} and not {value!r}" for key, (value, found) in wrong.items())
                yield self.finding(f"{dependency.name}: {told}", sample=sample, evidence={"settings": wrong})
