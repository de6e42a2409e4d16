"""Equal runs give equal bundles, and a doctored one is caught by its hashes, its records or its verdicts."""

from __future__ import annotations

import io
import json
import lzma
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.golden.golden import HERE, RUNS
from touchstone.bundle.again import Answer, compare_answers, headline, refuse_unrepeatable
from touchstone.bundle.archive import JUDGEMENT, MANIFEST, is_bundle, lay_out, packed, unpack
from touchstone.bundle.consistency import contradictions
from touchstone.bundle.pack import manifest_of, pack
from touchstone.bundle.verdicts import departures
from touchstone.failure import InvalidRunError, TouchstoneError, UsageError
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison
from touchstone.judge.statistics.decision import Interval
from touchstone.record.store import load_run

from .doctored import FORGERIES, Edit

FORGED = [*(("users", forgery) for forgery in FORGERIES), *(("newcomer", forgery) for forgery in list(FORGERIES)[::13])]
"""Runs in slices: one that an earlier version recorded, and some of the forgeries on one of today's."""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a recorded run, which is not to be changed."""
    top = tmp_path_factory.mktemp("recorded")

    def folder(name: str) -> Path:
        if not (top / name).exists():
            with tarfile.open(HERE / "runs" / f"{name}.tar.xz") as archive:
                archive.extractall(top / name, filter="data")
        return top / name

    return folder


@pytest.mark.parametrize("name", RUNS)
def test_an_honest_bundle_holds(name: str, recorded: Callable[[str], Path], tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    manifest = pack(recorded(name), first)
    pack(recorded(name), second)
    assert first.read_bytes() == second.read_bytes()
    assert is_bundle(first) and first.stat().st_size < 5_000_000
    again, files = unpack(first)
    assert again == manifest and set(files) == set(manifest.files)
    run = lay_out(files, tmp_path / "out")
    assert run == load_run(recorded(name))
    assert contradictions(run) == []
    assert departures(run, files) == []
    assert set(manifest.sources) == {s.contender for s in run.samples if s.build}


@pytest.fixture(scope="session")
def rewritten(recorded: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a recorded run, its samples written as today's version writes them."""
    top = tmp_path_factory.mktemp("rewritten")

    def folder(name: str) -> Path:
        if not (top / name).exists():
            shutil.copytree(recorded(name), top / name)
            for sample in load_run(top / name).samples:
                (top / name / "samples" / f"{sample.id}.json").write_text(sample.model_dump_json(by_alias=True))
        return top / name

    return folder


@pytest.mark.parametrize(("name", "forgery"), FORGED)
def test_a_forger_who_makes_new_hashes_and_verdicts_is_caught(
    name: str, forgery: str, rewritten: Callable[[str], Path], tmp_path: Path
) -> None:
    forged: Edit = FORGERIES[forgery]
    folder = tmp_path / "run"
    shutil.copytree(rewritten(name), folder)
    forged(folder)
    assert contradictions(load_run(folder)), forgery


def reworded(files: dict[str, bytes], change: Callable[[Any], None]) -> dict[str, bytes]:
    document = json.loads(files[JUDGEMENT])
    change(document)
    return files | {JUDGEMENT: json.dumps(document).encode()}


def _first_outcome(judgement: Any) -> None:
    first = next(c for c in judgement["comparisons"] if c["outcome"] == "undecided")
    first["outcome"] = "better"


def _first_interval(judgement: Any) -> None:
    first = next(c for c in judgement["comparisons"] if c["low"])
    first["low"] *= 0.9


def _first_estimate(judgement: Any) -> None:
    first = next(e for e in judgement["estimates"] if e["median"])
    first["median"] *= 1.1


STATEMENTS: dict[str, Callable[[Any], None]] = {
    "an outcome": _first_outcome,
    "an interval": _first_interval,
    "an estimate": _first_estimate,
    "a finding left out": lambda judgement: judgement["findings"].pop(),
    "a comparison left out": lambda judgement: judgement["comparisons"].pop(),
    "the margin": lambda judgement: judgement.update(margin=0.2),
    "the confidence": lambda judgement: judgement.update(confidence=0.9),
    "a failure invented": lambda judgement: judgement.update(failed=[{"contender": "go/plain", "reason": "it died"}]),
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_that_does_not_follow_is_caught(
    statement: str, recorded: Callable[[str], Path], tmp_path: Path
) -> None:
    pack(recorded("newcomer"), tmp_path / "b")
    _, files = unpack(tmp_path / "b")
    run = load_run(recorded("newcomer"))
    assert departures(run, reworded(files, STATEMENTS[statement]))
    assert departures(run, {name: content for name, content in files.items() if name != JUDGEMENT})


@pytest.mark.parametrize("kind", ["changed", "removed", "added"])
def test_a_bundle_whose_files_are_not_those_of_its_manifest_is_refused(
    kind: str, recorded: Callable[[str], Path], tmp_path: Path
) -> None:
    pack(recorded("crud"), tmp_path / "b")
    manifest, files = unpack(tmp_path / "b")
    match kind:
        case "changed":
            files["plan.json"] += b" "
        case "removed":
            del files["samples/0003-floor-rust.small-api-async.json"]
        case "added":
            files["samples/0099-load-a.json"] = b"{}"
    (tmp_path / "b").write_bytes(packed(manifest, files))
    with pytest.raises(InvalidRunError, match="was changed after it was made"):
        unpack(tmp_path / "b")


def archive(names: list[str], *, link: bool = False) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            if link:
                member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(member)
    return lzma.compress(stream.getvalue())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\xfd7zXZ\x00 cut off",
        lzma.compress(b"no archive"),
        archive(["plan.json"]),
        archive([MANIFEST, "../escaped.json"]),
        archive([MANIFEST, "/etc/escaped.json"]),
        archive([MANIFEST, "samples/../../escaped.json"]),
        archive([MANIFEST], link=True),
        archive([MANIFEST, "plan.json", "plan.json"]),
        archive([MANIFEST, "notes.txt"]),
    ],
)
def test_what_is_no_bundle_is_refused_by_name(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "b"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is not a bundle"):
        unpack(path)


def test_a_cut_bundle_is_refused(recorded: Callable[[str], Path], tmp_path: Path) -> None:
    pack(recorded("crud"), tmp_path / "b")
    whole = (tmp_path / "b").read_bytes()
    for size in range(0, len(whole), max(1, len(whole) // 12)):
        (tmp_path / "b").write_bytes(whole[:size])
        with pytest.raises(TouchstoneError):
            unpack(tmp_path / "b")


def test_the_manifest_names_the_builds(recorded: Callable[[str], Path]) -> None:
    run = load_run(recorded("users"))
    assert all(len(key) >= 8 for key in manifest_of(run, {}).sources.values())


def compared(ratio: float, low: float, high: float, margin: float = 0.05) -> Comparison:
    blank = Comparison(phase="load", contender="b", baseline="a", load="l", figure="throughput")
    return blank.decided_by(Interval(ratio, low, high), margin)


@pytest.mark.parametrize(
    ("stated", "again", "answer"),
    [
        ((1.2, 1.15, 1.25), (1.22, 1.1, 1.3), Answer.REPRODUCED),
        ((1.0, 0.98, 1.02), (1.0, 0.97, 1.03), Answer.REPRODUCED),
        ((1.2, 1.15, 1.25), (0.9, 0.85, 0.95), Answer.CONTRADICTED),
        ((1.2, 1.15, 1.25), (1.0, 0.98, 1.02), Answer.CONTRADICTED),
        ((1.2, 1.15, 1.25), (1.1, 0.9, 1.3), Answer.UNDECIDED),
        ((1.2, 1.15, 1.25), (1.1, 1.02, 1.12), Answer.REPRODUCED),
        ((1.2, 1.15, 1.25), (1.6, 1.5, 1.7), Answer.UNDECIDED),
        ((1.01, 0.9, 1.1), (1.0, 0.9, 1.1), Answer.UNDECIDED),
    ],
)
def test_a_second_measurement_contradicts_only_what_it_excludes(
    stated: tuple[float, float, float], again: tuple[float, float, float], answer: Answer
) -> None:
    assert compare_answers(compared(*stated), compared(*again), 0.05) is answer


def test_the_headline_is_decided_if_one_is(recorded: Callable[[str], Path]) -> None:
    found = headline(judge(load_run(recorded("newcomer"))))
    assert found.phase == "load" and found.interval is not None and found.decided
    with pytest.raises(InvalidRunError, match="compares no contenders"):
        headline(judge(load_run(recorded("crud"))))


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["touchstone", "run", "--url", "a=http://localhost:1"], "`touchstone run --url a=http://localhost:1`"),
        (["touchstone", "ab", "\x1b[2J"], "the command that made the run"),
        (["rm", "-r", "x"], "the command that made the run"),
        ([], "the command that made the run"),
    ],
)
def test_services_that_ran_already_are_not_built_and_only_a_command_of_touchstone_is_shown(
    command: list[str], shown: str, recorded: Callable[[str], Path]
) -> None:
    run = load_run(recorded("newcomer"))
    refuse_unrepeatable(run, revisions=False)
    services = [one.model_copy(update={"outside": "http://localhost:1"}) for one in run.plan.contenders]
    outside = run.model_copy(update={"plan": run.plan.model_copy(update={"contenders": services, "command": command})})
    with pytest.raises(UsageError, match=r"go/plain, .* ran already") as refused:
        refuse_unrepeatable(outside, revisions=False)
    assert refused.value.fix == f"repeat {shown} where such services run"
    with pytest.raises(UsageError, match="two revisions"):
        refuse_unrepeatable(run, revisions=True)
