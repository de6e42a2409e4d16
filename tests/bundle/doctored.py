"""Forgeries: each changes the records of a run, and then makes hashes and judgement again, as a forger can."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Sample = dict[str, Any]
Edit = Callable[[Path], None]


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def edit(path: Path, change: Callable[[Any], None]) -> None:
    document = read(path)
    change(document)
    path.write_text(json.dumps(document))


def samples(folder: Path, contender: str | None = None, phase: str = "load") -> list[Path]:
    found = sorted((folder / "samples").glob(f"*-{phase}-*.json"))
    return [path for path in found if contender is None or read(path)["contender"] == contender]


def each(change: Callable[[Sample], None], contender: str = "go/plain", phase: str = "load") -> Edit:
    """Change all samples of a contender."""

    def forge(folder: Path) -> None:
        for path in samples(folder, contender, phase):
            edit(path, change)

    return forge


def slices(sample: Sample) -> list[dict[str, Any]]:
    return [one for one in sample["evidence"]["slices"]["slices"] if one["lap_phase"] == "load"]


def result(sample: Sample) -> dict[str, Any]:
    found: dict[str, Any] = sample["evidence"]["result"]
    return found


def faster_figure(sample: Sample) -> None:
    sample["figures"]["throughput"] *= 1.2


def faster_result(sample: Sample) -> None:
    faster_figure(sample)
    result(sample)["rate"]["achieved"] *= 1.2


def faster_slices(sample: Sample) -> None:
    faster_result(sample)
    for one in slices(sample):
        one["rate"] = one["rate"] and one["rate"] * 1.2


def shorter_generations(sample: Sample) -> None:
    """All that states a rate, and the counts as they were."""
    faster_slices(sample)
    for one in slices(sample):
        if one["generations"]:
            one["generations"]["responses"] = one["generations"]["responses"] * 6 // 5


def more_requests(sample: Sample) -> None:
    counts = result(sample)["counts"]
    for name in ("sent", "completed", "ok"):
        counts[name] += 1000


def hidden_errors(sample: Sample) -> None:
    counts = result(sample)["counts"]
    counts["ok"] -= 50
    counts["wrong"] += 50


def fewer_failures(sample: Sample) -> None:
    result(sample)["counts"]["status"] = {"200": result(sample)["counts"]["completed"] - 7}


def lower_median(sample: Sample) -> None:
    result(sample)["latency"]["p50"] *= 0.5
    sample["figures"]["latency_p50"] *= 0.5


def lower_tail(sample: Sample) -> None:
    result(sample)["latency"]["p99"] *= 0.6
    sample["figures"]["latency_p99"] *= 0.6


def lower_tail_everywhere(sample: Sample) -> None:
    lower_tail(sample)
    result(sample)["requests"][0]["latency"]["p99"] *= 0.6


def cheaper_figure(sample: Sample) -> None:
    sample["figures"]["cpu_per_request"] *= 0.8


def cheaper_slices(sample: Sample) -> None:
    sample["figures"]["cpu_per_request"] *= 0.4
    for one in slices(sample):
        one["server_cpu_s"] *= 0.4


def less_memory(sample: Sample) -> None:
    sample["figures"]["rss_peak"] *= 0.7


def gentler_load(sample: Sample) -> None:
    sample["spec"]["connections"] += 7


def later(sample: Sample) -> None:
    sample["started_at"] = "2031-01-01T00:00:00Z"


def other_program(sample: Sample) -> None:
    if sample["round"] == 3:
        sample["process"]["artifacts"] = dict.fromkeys(sample["process"]["artifacts"], "0" * 64)


def other_tools(sample: Sample) -> None:
    sample["evidence"]["tools"] = dict.fromkeys(sample["evidence"]["tools"], "99.0")


def other_cpus(sample: Sample) -> None:
    sample["process"]["placement"]["server_cpus"] = [7]


def last_lap_first(sample: Sample) -> None:
    laps = slices(sample)
    for one in laps:
        one["lap"] = len(laps) - 1 - one["lap"]


def slow_slices_left_out(sample: Sample) -> None:
    own = sample["evidence"]["slices"]["slices"]
    own.remove(min(slices(sample), key=lambda one: one["rate"] or 0.0))


def no_warm_up(sample: Sample) -> None:
    own = sample["evidence"]["slices"]
    own["slices"] = slices(sample)


def stretched_turns(sample: Sample) -> None:
    for one in slices(sample):
        one["end"] += 0.5


def swapped(folder: Path) -> None:
    """Two contenders change places in every sample under load."""
    names = {"go/plain": "rust/plain", "rust/plain": "go/plain"}
    for path in samples(folder):
        sample = read(path)
        if sample["contender"] in names:
            other = names[sample["contender"]]
            own = sample["contender"].replace("/", ".")
            sample["contender"] = sample["process"]["contender"] = other
            sample["id"] = sample["id"].replace(own, other.replace("/", "."))
            path.unlink()
            (path.parent / f"{sample['id']}.json").write_text(json.dumps(sample))


def swapped_in_one_round(folder: Path) -> None:
    """Two samples of one round change their measurements, and keep their names."""
    ours, theirs = (samples(folder, name)[1] for name in ("go/plain", "rust/plain"))
    first, second = read(ours), read(theirs)
    for name in ("evidence", "figures"):
        first[name], second[name] = second[name], first[name]
    ours.write_text(json.dumps(first))
    theirs.write_text(json.dumps(second))


def dropped_round(folder: Path) -> None:
    """The last round is taken away, and the plan knows nothing of it."""
    plan = read(folder / "plan.json")
    last = plan["rounds"]
    for path in (folder / "samples").glob(f"*-r{last:02d}.json"):
        path.unlink()
    for path in (folder / "samples").glob(f"*-r{last + 1:02d}.json"):
        path.unlink()
    # The round before: its numbers are then missing between others.
    plan["rounds"] -= 1
    plan["orders"].pop(0)
    (folder / "plan.json").write_text(json.dumps(plan))


def dropped_middle_round(folder: Path) -> None:
    for path in (folder / "samples").glob("*-r02.json"):
        path.unlink()


def dropped_sample(folder: Path) -> None:
    samples(folder, "go/plain")[0].unlink()


def repeated_round(folder: Path) -> None:
    """A good round is counted twice, under a new number."""
    plan = read(folder / "plan.json")
    last = plan["rounds"]
    for path in sorted((folder / "samples").glob(f"*-load-*-r{last:02d}.json")):
        sample = read(path)
        sample["round"] = last + 1
        number = int(sample["id"][:4]) + 100
        sample["id"] = f"{number:04d}{sample['id'][4:-2]}{last + 1:02d}"
        (path.parent / f"{sample['id']}.json").write_text(json.dumps(sample))
    plan["rounds"] += 1
    plan["orders"].append(plan["orders"][-1])
    (folder / "plan.json").write_text(json.dumps(plan))


def of_file(name: str, **values: Any) -> Edit:
    return lambda folder: edit(folder / name, lambda document: document.update(values))


def other_order(folder: Path) -> None:
    edit(folder / "plan.json", lambda plan: plan["orders"][0].reverse())


def other_target(folder: Path) -> None:
    def change(plan: Any) -> None:
        for spec in plan["load_specs"].values():
            spec["connections"] = 640

    edit(folder / "plan.json", change)


def other_versions(folder: Path) -> None:
    edit(folder / "environment.json", lambda env: env.update(tools=dict.fromkeys(env["tools"], "99.0")))


def more_memory_than_there_is(folder: Path) -> None:
    edit(folder / "environment.json", lambda env: env.update(memory=1_000_000))


FORGERIES: dict[str, Edit] = {
    "a figure": each(faster_figure),
    "a figure and its result": each(faster_result),
    "a figure, its result and its slices": each(faster_slices),
    "all that states a rate, without counts": each(shorter_generations),
    "counts without slices": each(more_requests),
    "wrong responses moved": each(hidden_errors),
    "statuses left out": each(fewer_failures),
    "the median": each(lower_median),
    "the tail": each(lower_tail),
    "the tail of load and request": each(lower_tail_everywhere),
    "CPU per request": each(cheaper_figure),
    "CPU per request and slices": each(cheaper_slices),
    "memory": each(less_memory),
    "a gentler load": each(gentler_load),
    "another day": each(later),
    "another program in one round": each(other_program),
    "other tools of a build": each(other_tools, phase="build"),
    "other CPUs": each(other_cpus),
    "laps in another order": each(last_lap_first),
    "slow slices left out": each(slow_slices_left_out),
    "a warm-up left out": each(no_warm_up),
    "turns that overlap": each(stretched_turns),
    "contenders swapped": swapped,
    "measurements swapped in one round": swapped_in_one_round,
    "a round dropped from the plan": dropped_round,
    "a round dropped": dropped_middle_round,
    "a sample dropped": dropped_sample,
    "a round counted twice": repeated_round,
    "a machine of more CPUs": of_file("environment.json", cpus=64, machine_cpus=64),
    "another engine": of_file("environment.json", engine_version="touchstone-engine 9.9.9"),
    "other versions of tools": other_versions,
    "a machine of less memory": more_memory_than_there_is,
    "another seed": of_file("plan.json", seed=1),
    "another order": other_order,
    "another load in the plan": other_target,
    "another scenario": of_file("plan.json", scenario="crud"),
    "more rounds than there are": of_file("plan.json", rounds=15),
    "the run on another day": of_file("state.json", started_at="2031-01-01T00:00:00Z", ended_at="2031-01-01T01:00:00Z"),
}
