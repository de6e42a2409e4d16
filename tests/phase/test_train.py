"""The training run of an AOT cache: its cache is made of the program that runs, and by this training run."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from touchstone.bench.base import Bench, Built
from touchstone.manifest.catalogue import find_scenario, select_contenders
from touchstone.phase.build.train import TrainPhase
from touchstone.record.sample import Sample

from .server import server
from .test_peak import bench_of

CACHE = b"\xa2\xab\x0b\xf0"
_SERVER = server("""
if os.environ.get("TRAINS"):
    atexit.register(lambda: open("app.aot", "wb").write(b"\\xa2\\xab\\x0b\\xf0"))


def answer(method, target):
    return (b"404 Not Found", b"") if target == b"/nowhere" else (b"200 OK", b"pong")
""")


def trained(bench: Bench, folder: Path, trains: str = "yes") -> Sample:
    (contender,) = select_contenders(find_scenario(str(folder.parent), folder.parent.parent), [], exhibits=False)
    command = ("/usr/bin/env", "python3", "server.py")
    artifacts = (folder / "app.jar", folder / "app.aot")
    built = Built(folder, artifacts, command, {"PATH": "/usr/bin:/bin", "TRAINS": trains}, train=command)
    (sample,) = TrainPhase().measure(replace(bench, builds={contender.name: built}), contender, None, 0)
    return sample


@pytest.fixture
def laid(tmp_path: Path) -> tuple[Bench, Path]:
    bench = bench_of(tmp_path)
    folder = tmp_path / "demo/slow"
    (folder / "server.py").write_text("import atexit, os\n" + _SERVER)
    (folder / "app.jar").write_bytes(b"PK\x03\x04 first")
    return bench, folder


def was_cached(sample: Sample) -> bool:
    assert sample.failure is None, sample.failure
    assert sample.train is not None
    return sample.train.cached


def test_it_is_trained_again_when_the_program_is_another_one_of_the_same_size_and_time(
    laid: tuple[Bench, Path],
) -> None:
    bench, folder = laid
    assert not was_cached(trained(bench, folder))
    assert (folder / "app.aot").read_bytes() == CACHE
    assert was_cached(trained(bench, folder))
    before = (folder / "app.jar").stat()
    (folder / "app.jar").write_bytes(b"PK\x03\x04 other")
    os.utime(folder / "app.jar", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not was_cached(trained(bench, folder))


def test_a_cache_from_before_is_not_taken_for_that_of_the_training_run(laid: tuple[Bench, Path]) -> None:
    bench, folder = laid
    (folder / "app.aot").write_bytes(CACHE + b"old")
    sample = trained(bench, folder, trains="")
    assert sample.failure is not None
    assert "left no app.aot" in sample.failure.what
