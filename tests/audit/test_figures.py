"""Result files of other benchmarks become figures: repetitions, verdicts of the audit, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.audit.files import arena, benchmarker, techempower
from touchstone.audit.figures import published_figures
from touchstone.failure import UsageError
from touchstone.record.published import PublishedFigures, load_published


def written(folder: Path, *documents: Any, name: str = "baseline-512") -> list[Path]:
    """The documents as files of one name, as a benchmark publishes them again and again."""
    paths = [folder / str(at) / f"{name}.json" for at in range(len(documents))]
    for path, document in zip(paths, documents, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document), encoding="utf-8")
    return paths


def values(figures: PublishedFigures, figure: str = "throughput") -> dict[str, list[float]]:
    return {f"{one.entry}, {one.test}": one.values for one in figures.figures if one.figure == figure}


def test_a_file_of_httparena_gives_rate_p99_and_cpu(tmp_path: Path) -> None:
    figures, left_out = published_figures(written(tmp_path, [arena()]), "httparena")
    found = {one.figure: (one.values, one.verdict) for one in figures.figures}
    assert found == {
        "throughput": ([20_000.0], "valid"),
        "latency_p99": ([0.0091], "valid"),
        "cpu_per_request": ([0.0001], "valid"),
    }
    assert (figures.machine, figures.measured_at, left_out) == (None, None, [])


def test_a_round_holds_its_profiles(tmp_path: Path) -> None:
    round_ = {"baseline-512": [arena()], "json-512": [arena(rps=10_000, avg_latency="10ms", status_2xx=50_000)]}
    figures, _ = published_figures(written(tmp_path, round_, name="1"), "httparena")
    assert values(figures) == {"alpha, baseline-512": [20_000.0], "alpha, json-512": [10_000.0]}


def test_several_files_are_repetitions_and_one_measurement_counts_once(tmp_path: Path) -> None:
    beta = arena(framework="beta", p99_latency="9.00ms")
    files = [[arena(rps=rate), beta] for rate in (20_000, 20_100, 20_200)]
    figures, _ = published_figures(written(tmp_path, *files), "httparena")
    assert values(figures) == {
        "alpha, baseline-512": [20_000.0, 20_100.0, 20_200.0],
        "beta, baseline-512": [20_000.0],
    }


def test_techempower_names_its_machine_and_its_time(tmp_path: Path) -> None:
    document = techempower() | {"environmentDescription": "Citrine"}
    figures, _ = published_figures(written(tmp_path, document), "techempower")
    assert values(figures) == {"alpha, json, 64 connections": [20_000.0], "alpha, json, 128 connections": [20_000.0]}
    assert figures.machine == "Citrine"
    assert figures.measured_at is not None
    assert figures.measured_at.timestamp() == 1_700_000_015


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "valid"),
        ({"status_5xx": 5_000}, "suspect"),
        ({"avg_latency": "50ms", "p99_latency": "91ms"}, "suspect"),
        ({"avg_latency": "-5ms", "p99_latency": "9ms", "connections": -1}, "invalid"),
    ],
)
def test_the_audit_gives_the_verdict(tmp_path: Path, changed: dict[str, Any], verdict: str) -> None:
    figures, _ = published_figures(written(tmp_path, [arena(**changed)]), "httparena")
    assert {one.verdict for one in figures.figures} == {verdict}


def test_a_rate_that_was_offered_is_no_throughput(tmp_path: Path) -> None:
    figures, _ = published_figures(written(tmp_path, [arena(target_rate=20_000)]), "httparena")
    assert values(figures) == {}
    assert values(figures, "latency_p99") == {"alpha, baseline-512": [0.0091]}


def test_a_file_beside_the_results_is_left_out_and_named(tmp_path: Path) -> None:
    files = written(tmp_path, [arena()], {"cpu": "a CPU"}, [], benchmarker())
    _, left_out = published_figures(files, "httparena")
    assert [word.partition(": ")[0] for word in left_out] == [str(path) for path in files[1:]]
    assert "is of the-benchmarker" in left_out[-1]


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ([{"cpu": "a CPU"}], "a shape that no known format has"),
        ([benchmarker()], "is of the-benchmarker"),
        ([techempower()], "is of TechEmpower"),
        ([[arena()], [arena()]], "the same bytes"),
        ([[arena(rps=0, status_2xx=0, p99_latency="0us", cpu="0%")]], "has a rate"),
    ],
)
def test_what_gives_no_board_is_refused(tmp_path: Path, documents: list[Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        published_figures(written(tmp_path, *documents), "httparena")


def test_two_machines_are_no_repetitions(tmp_path: Path) -> None:
    files = [techempower() | {"environmentDescription": name} for name in ("Citrine", "Azure")]
    with pytest.raises(UsageError, match="several machines: Citrine, Azure"):
        published_figures(written(tmp_path, *files), "techempower")


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        ({"values": []}, "values"),
        ({"values": ["fast"]}, "values.0"),
        ({"figure": "speed"}, "figure"),
        ({"verdict": "good"}, "verdict"),
    ],
)
def test_a_kept_file_that_was_edited_is_refused(tmp_path: Path, figure: dict[str, Any], said: str) -> None:
    one = {"entry": "a", "test": "b", "figure": "throughput", "values": [1.0]} | figure
    kept = {"schema": "touchstone.published/1", "benchmark": "HttpArena", "files": [], "figures": [one]}
    path = tmp_path / "published.json"
    path.write_text(json.dumps(kept), encoding="utf-8")
    with pytest.raises(UsageError, match=f"figures.0.{said}"):
        load_published(path)
