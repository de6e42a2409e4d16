"""A run of the whole lab is scraped while it goes on, and changes nothing of the run."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.command import COMMAND
from tests.metrics.test_export import collector, scraped
from tests.run.demo import add_stack, demo
from tests.run.test_end_to_end import environment


@pytest.mark.slow
def test_a_run_is_scraped_pushed_and_written_down(tmp_path: Path) -> None:
    add_stack(demo(tmp_path / "demo"), "other")
    with collector() as (url, kept):
        places = ("0", "live.ndjson", url)
        words = ["run", "demo", "--quick", "--rounds", "2", "--phase", "load", "--json"]
        command = [*COMMAND, *words, *(word for place in places for word in ("--metrics", place))]
        with (
            (tmp_path / "said").open("w", encoding="utf-8") as said,
            subprocess.Popen(
                command, cwd=tmp_path, env=os.environ | environment(tmp_path), stdout=subprocess.PIPE, stderr=said
            ) as run,
        ):
            found: dict[str, float] = {}
            while run.poll() is None:
                lines = (tmp_path / "said").read_text(encoding="utf-8").splitlines()
                place = next((line.split()[1] for line in lines if line.startswith("metrics: ")), None)
                try:
                    found = scraped(place) if place else {}
                except OSError:
                    break
                if sum("requests_total" in name and " ok " in name for name in found) > 4:
                    break
                time.sleep(0.2)
            out, _ = run.communicate(timeout=300)
    assert run.returncode == 0, (tmp_path / "said").read_text(encoding="utf-8")
    assert json.loads(out)
    requests = [name for name in found if name.startswith("touchstone_requests_total")]
    for contender in ("sound/plain", "other/plain"):
        assert found[f"touchstone_requests_total {contender} ping ok load 1 warmup"] > 0, requests
        assert any(f"touchstone_server_cpu_seconds_total {contender}" in name for name in found)
    events = [json.loads(line) for line in (tmp_path / "live.ndjson").read_text(encoding="utf-8").splitlines()]
    turns = [event for event in events if event["event"] == "slice"]
    assert {event["round"] for event in turns} == {"1", "2"}
    figures = [event for event in events if event["event"] == "figures" and event["contender"] == "sound/plain"]
    assert any("rss_peak" in event["figures"] for event in figures)
    exported = {metric.name for scope in kept[-1].resource_metrics[0].scope_metrics for metric in scope.metrics}
    assert {"touchstone_requests", "touchstone_figure"} <= exported
