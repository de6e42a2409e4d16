"""The probe phase: HTTP/1.1 conformance, case by case, by the engine."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from touchstone.engine.client import EngineError
from touchstone.engine.locate import engine_path
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.scenario import Scenario
from touchstone.phase.base import Bench, Phase, attempt, blank_sample
from touchstone.phase.service import running
from touchstone.record.sample import Sample

_PATIENCE_S = 600


class ProbePhase(Phase):
    """Plays every conformance case against a contender. Nothing is timed, so one pass is enough."""

    name: ClassVar[str] = "probe"
    title: ClassVar[str] = "Conformance"

    def applies(self, scenario: Scenario) -> bool:
        """Only where the scenario names a resource to probe."""
        return scenario.probe is not None

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample with the whole matrix in its detail."""
        sample = blank_sample(bench, self.name, contender.name)

        def action(sample: Sample) -> None:
            bench.watcher.step(f"probing {contender.name}")
            with running(bench, bench.builds[contender.name], sample) as contender_running:
                report = _probe(contender_running.url, bench.scenario)
            sample.detail["probe"] = report
            levels = report["levels"]
            sample.figures = {
                "probe_right": float(report["counts"]["right"]),
                "probe_must_wrong": float(_breaches(levels, "MUST")),
                "probe_should_wrong": float(_breaches(levels, "SHOULD")),
            }

        return [attempt(sample, action, bench.store.logs / f"{sample.id}.log")]


def _breaches(levels: dict[str, dict[str, int]], level: str) -> int:
    counts = levels.get(level, {})
    return counts.get("wrong", 0) + counts.get("crash", 0)


def _probe(url: str, scenario: Scenario) -> dict[str, Any]:
    assert scenario.probe is not None  # `applies` has seen to it
    with tempfile.TemporaryDirectory(prefix="touchstone-probe-") as folder:
        out = Path(folder) / "probe.json"
        command = [str(engine_path()), "probe", url, "--path", scenario.probe.path, "--out", str(out)]
        if scenario.probe.post_path:
            command += ["--post-path", scenario.probe.post_path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
        if done.returncode != 0 or not out.exists():
            raise EngineError(
                f"the probe ended with code {done.returncode}: {done.stderr.strip()[-300:]}",
                mend="run it by hand: " + " ".join(command),
            )
        report: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return report
