"""A runtime's own log gives its pauses on the engine's clock."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import pytest

from touchstone.bench.base import Built, ImageBuilt
from touchstone.isolation.process import ServerProcess
from touchstone.phase.tail import runtime_log
from touchstone.phase.tail.runtime_log import go_collections, hooked_collections, hotspot_pauses, with_log
from touchstone.record.evidence.tail import RuntimePause

HOTSPOT = (
    '[100250000000ns] Safepoint "G1CollectForAllocation", Time since last: 5 ns, Reaching safepoint: 50000 ns, '
    "Cleanup: 1 ns, At safepoint: 12450000 ns, Total: 12500000 ns\n"
    '[100300000000ns] Safepoint "Cleanup", Time since last: 5 ns, Reaching safepoint: 50 ns, Cleanup: 1 ns, '
    "At safepoint: 950 ns, Leaving safepoint: 10 ns, Total: 1000 ns, Threads: 0 runnable, 12 total\n"
)
GO = "gc 7 @2.500s 3%: 0.10+4.0+0.25 ms clock, 0.1+1/2/3+0.2 ms cpu, 7->8->4 MB, 8 MB goal, 0 MB stacks, 1 P\n"


def test_a_jvms_safepoints_end_when_they_are_logged() -> None:
    first, second = hotspot_pauses(HOTSPOT, 100.0)
    assert (first.begin, first.end, first.stops) == (237_500, 250_000, True)
    assert (second.name, second.end - second.begin) == ("Cleanup", 1)


def test_a_go_collection_stops_the_program_twice_and_marks_between() -> None:
    found = list(go_collections(GO, begins_s=-1.0))
    assert [(one.begin, one.end, one.stops) for one in found] == [
        (1_500_000, 1_500_100, True),
        (1_500_100, 1_504_100, False),
        (1_504_100, 1_504_350, True),
    ]


def test_without_a_jvms_log_its_pauses_are_not_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_log, "is_jvm", lambda _: True)
    process = cast(ServerProcess, None)
    pauses, why = runtime_log.read_pauses(process, "java", tmp_path / "none", 0.0)
    assert (pauses, why) == ([], "the runtime's pauses: the JVM wrote no log to the run's folder")
    (tmp_path / "some").write_text(HOTSPOT)
    pauses, why = runtime_log.read_pauses(process, "java", tmp_path / "some", 100.0)
    assert (len(pauses), why) == (2, None)


def test_other_lines_are_none() -> None:
    assert list(hotspot_pauses("[1ns] Entering safepoint region: Cleanup\nhello", 0.0)) == []
    assert list(go_collections("gc forced\nlistening on 127.0.0.1:1\n", 0.0)) == []


@pytest.mark.skipif(shutil.which("java") is None, reason="needs a JDK")
def test_a_jvm_writes_its_log_whatever_the_folders_name_is(tmp_path: Path) -> None:
    folder = tmp_path / "my runs: new"
    folder.mkdir()
    built = Built(tmp_path, (), ("java", "-version"), {"JAVA_TOOL_OPTIONS": "-Dmine=1"})
    env = with_log(built, "kotlin", folder / "one.pauses.log").env
    done = subprocess.run(built.argv, env={**os.environ, **env}, capture_output=True, text=True, check=True)
    assert "-Dmine=1" in done.stderr
    assert (folder / "one.pauses.log").is_file()


def test_a_go_program_logs_its_collections_next_to_its_own_settings(tmp_path: Path) -> None:
    built = Built(tmp_path, (), ("./server",), {"GODEBUG": "http2debug=1"})
    assert with_log(built, "go", tmp_path / "log").env == {"GODEBUG": "http2debug=1,gctrace=1"}
    assert with_log(built, "rust", tmp_path / "log") is built


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_node_logs_its_collections_next_to_its_own_options(tmp_path: Path) -> None:
    program = "let kept = []; for (let i = 0; i < 3e6; i++) kept.push({ i }); setTimeout(() => {}, 20)"
    built = Built(tmp_path, (), ("node", "-e", program), {"NODE_OPTIONS": "--max-old-space-size=512"})
    pauses = _collections(built, "typescript", tmp_path / "a log")
    assert {"Scavenge"} <= {pause.name for pause in pauses}


def test_python_logs_its_long_collections_and_imports_its_own_sitecustomize(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('mine')")
    program = "import gc; kept = [[] for _ in range(300_000)]; gc.collect()"
    built = Built(tmp_path, (), (sys.executable, "-c", program), {"PYTHONPATH": str(tmp_path)})
    pauses = _collections(built, "python", tmp_path / "log", says="mine")
    assert "generation 2" in {pause.name for pause in pauses}


def _collections(built: Built, language: str, log: Path, says: str = "") -> list[RuntimePause]:
    hooked = with_log(built, language, log)
    begin = time.monotonic()
    done = subprocess.run(hooked.argv, env={**os.environ, **hooked.env}, capture_output=True, text=True, check=True)
    assert says in done.stdout
    lasted = (time.monotonic() - begin) * 1e6
    pauses = list(hooked_collections(log.read_text(), begin))
    assert all(0 <= pause.begin <= pause.end <= lasted and pause.stops for pause in pauses)
    return pauses


def test_a_collection_in_one_of_several_workers_does_not_stop_the_program() -> None:
    (one, other) = hooked_collections("10 2000000 500000 Scavenge\n11 3000000 1000 Scavenge\n", 0.0)
    assert (one.begin, one.end, one.stops, other.stops) == (1500, 2000, False, False)


def test_an_image_has_no_hooks(tmp_path: Path) -> None:
    built = Built(tmp_path, (), (), {}, image=cast(ImageBuilt, object()))
    assert with_log(built, "python", tmp_path / "log") is built
