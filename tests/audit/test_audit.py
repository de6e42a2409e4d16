"""Each check fires on its fault and keeps silent just short of it; each format is read as it is published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.audit.files import arena, benchmarker, techempower
from tests.cli.test_commands import touchstone
from touchstone.audit.audit import Audit, audit
from touchstone.audit.read import read_publication, read_together
from touchstone.failure import UsageError


def audited(folder: Path, document: Any, noise: float = 0.05) -> Audit:
    path = folder / "made-up.json"
    path.write_text(json.dumps(document))
    return audit(read_publication(path), noise)


def codes(made: Audit) -> set[str]:
    return {fault.code for _, wrong in made.by_entry for fault in wrong}


@pytest.mark.parametrize("document", [[arena()], {"framework": "alpha", "results": {"json-100": arena()}}])
def test_both_shapes_of_http_arena_are_read_and_a_sound_entry_has_no_fault(tmp_path: Path, document: Any) -> None:
    made = audited(tmp_path, document)
    assert made.publication.format == "HttpArena"
    assert [r.entry for r, _ in made.by_entry] == ["alpha"]
    assert codes(made) == set()
    assert [cause[0] for cause in made.by_cause] == ["best-of-runs"]


def test_memory_without_its_parts_concerns_all_entries(tmp_path: Path) -> None:
    made = audited(tmp_path, [arena(memory="120MiB")])
    assert {cause[0] for cause in made.by_cause} == {"best-of-runs", "memory-of-container"}


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"avg_latency": "5.60ms"}, "littles-law"),
        ({"avg_latency": "2.40ms"}, "connections-idle"),
        ({"p99_latency": "5.00ms"}, "percentile-is-mean"),
        ({"p99_9_latency": "9.00ms"}, "percentiles-not-monotone"),
        ({"status_5xx": 1}, "errors-not-in-throughput"),
        ({"status_2xx": 115_000}, "rate-unlike-count"),
        ({"cpu_usec": 14_000_000}, "cpu-sampled-late"),
        ({"target_rate": 20_300}, "rate-not-reached"),
    ],
)
def test_a_fault_in_an_entry_is_found(tmp_path: Path, changed: dict[str, Any], code: str) -> None:
    assert codes(audited(tmp_path, [arena(**changed)])) == {code}


@pytest.mark.parametrize(
    "changed",
    [
        {"avg_latency": "5.40ms"},
        {"avg_latency": "2.60ms"},
        {"p99_latency": "5.01ms"},
        {"p99_9_latency": "9.10ms"},
        {"status_2xx": 108_000},
        {"cpu_usec": 12_500_000},
        {"target_rate": 20_100},
        {"pipeline": 16, "avg_latency": "80.0ms", "p99_latency": "91ms"},
        {"target_rate": 20_000, "avg_latency": "900ms", "p99_latency": "2.00s"},
    ],
)
def test_what_is_just_within_its_bounds_is_no_fault(tmp_path: Path, changed: dict[str, Any]) -> None:
    assert codes(audited(tmp_path, [arena(**changed)])) == set()


@pytest.mark.parametrize("rps", [-5.0, float("nan"), float("inf")])
def test_a_number_that_nothing_can_have_measured_is_a_fault_and_ranks_nowhere(tmp_path: Path, rps: float) -> None:
    made = audited(tmp_path, [arena(rps=rps), arena(framework="beta"), arena(framework="gamma", rps=19_000)])
    assert codes(made) == {"impossible-number"}
    assert made.ranks[0].entries == 2
    paths = [tmp_path / f"{number}.json" for number in range(2)]
    for path in paths:
        path.write_text(json.dumps([arena(rps=rps, language=path.stem)]))
    assert audit(read_together(paths), files=2).repeated is None


def test_an_entry_with_all_the_figures_of_another_is_a_copy(tmp_path: Path) -> None:
    made = audited(tmp_path, [arena(), arena(framework="beta"), arena(framework="gamma", rps=20_001)])
    assert [(r.entry, [f.code for f in wrong]) for r, wrong in made.by_entry if wrong] == [("beta", ["figures-copied"])]
    offered = audited(tmp_path, [arena(target_rate=20_000), arena(framework="beta", target_rate=20_000)])
    assert not codes(offered)


def test_percentiles_in_another_unit_than_the_mean_are_found(tmp_path: Path) -> None:
    assert codes(audited(tmp_path, [arena(p99_latency="9.10s")])) == {"mean-unlike-percentiles"}
    assert not codes(audited(tmp_path, [arena(p99_latency="450ms")])), "the slowest of a hundred may hold the mean"


def test_techempower_is_read_level_by_level(tmp_path: Path) -> None:
    made = audited(tmp_path, techempower())
    assert [(r.test, r.connections, r.rate) for r, _ in made.by_entry] == [
        ("json, 64 connections", 64, 20_000.0),
        ("json, 128 connections", 128, 20_000.0),
    ]
    assert codes(made) == set()
    assert made.by_cause[0][:2] == ("measured-once", 2)


def test_techempowers_other_tests_have_levels_of_their_own(tmp_path: Path) -> None:
    plain = audited(tmp_path, techempower("plaintext", latencyAvg="200ms", latencyMax="1.2s")).by_entry[0][0]
    assert (plain.connections, plain.pipeline) == (256, 16)
    query = audited(tmp_path, techempower("query")).by_entry
    assert [(r.test, r.connections) for r, _ in query] == [("query x1", 128), ("query x20", 128)]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"5xx": 1}, "errors-in-throughput"),
        ({"timeout": 1}, "unanswered-not-in-throughput"),
        ({"latencyMax": "3.00ms"}, "percentiles-not-monotone"),
        ({"endTime": 1_700_000_018}, "window-unlike-duration"),
        ({"latencyAvg": "31.0ms"}, "littles-law"),
    ],
)
def test_a_fault_in_techempowers_file_is_found(tmp_path: Path, changed: dict[str, Any], code: str) -> None:
    assert codes(audited(tmp_path, techempower(**changed))) == {code}


def test_the_benchmarkers_metrics_are_put_together_by_framework_and_level(tmp_path: Path) -> None:
    made = audited(tmp_path, benchmarker())
    result = made.by_entry[0][0]
    assert (result.entry, result.connections, result.duration_s) == ("alpha", 64, 15.0)
    assert result.percentiles[0.99] == pytest.approx(0.008)
    assert codes(made) == set()
    assert made.by_cause == []


def test_averaged_percentiles_and_a_mislabelled_unit_concern_all_entries(tmp_path: Path) -> None:
    made = audited(tmp_path, benchmarker(duration_ms=15_000_000.0, percentile_99=8000.333))
    assert {cause[0] for cause in made.by_cause} == {"percentiles-averaged", "unit-mislabelled"}
    assert made.by_entry[0][0].duration_s == pytest.approx(15.0)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"http_errors": 300_000.0}, "errors-in-throughput"),
        ({"request_timeouts": 2.0}, "unanswered-not-in-throughput"),
        ({"percentile_99__999": 7_000.0}, "percentiles-not-monotone"),
    ],
)
def test_a_fault_in_the_benchmarkers_file_is_found(tmp_path: Path, changed: dict[str, float], code: str) -> None:
    assert codes(audited(tmp_path, benchmarker(**changed))) == {code}


def test_ranks_within_noise_are_counted_by_test_and_open_loops_are_not_ranked(tmp_path: Path) -> None:
    rates = {"a": 20_000, "b": 20_800, "c": 22_000}
    entries = [arena(framework=name, rps=rate) for name, rate in rates.items()]
    assert audited(tmp_path, entries).ranks[0].within_noise == 1
    assert audited(tmp_path, entries, noise=0.06).ranks[0].within_noise == 2
    assert audited(tmp_path, [e | {"target_rate": 20_000} for e in entries]).ranks == []


@pytest.mark.parametrize("text", ["{", "[]", '{"metrics": []}', '{"rawData": {}}', "3"])
def test_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"other\.json"):
        read_publication(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_publication(tmp_path / "none.json")


def test_the_command_tells_by_cause_and_by_entry(tmp_path: Path) -> None:
    (tmp_path / "json-100.json").write_text(json.dumps([arena(avg_latency="9.00ms"), arena(framework="beta")]))
    told = touchstone(tmp_path, "audit", "json-100.json")
    assert told.returncode == 0, told.stderr
    for text in (
        "HttpArena: 2 results, 1 of them",
        "littles-law: 1 of 2",
        "alpha, json-100",
        "1 of 1 neighbouring ranks",
    ):
        assert text in told.stdout
    document = json.loads(touchstone(tmp_path, "audit", "json-100.json", "--json", "--entry", "beta").stdout)
    assert document["results"] == [{"entry": "beta", "test": "json-100", "faults": []}]
    assert touchstone(tmp_path, "audit", "json-100.json", "--entry", "gamma").returncode == 2
