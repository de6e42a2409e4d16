"""An empty root holds what a program needs and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from touchstone.bench.artifact_identity import is_program
from touchstone.failure import TouchstoneError
from touchstone.phase.build.native_turn import NotEnoughMemoryError, native_turn
from touchstone.phase.footprint.empty_root import (
    EmptyRoot,
    EmptyRootError,
    compressed_bytes,
    find_library,
    libraries,
    mount_prefix,
)

PREFIX = mount_prefix()
may_mount = pytest.mark.skipif(PREFIX is None, reason="this user may not mount")


def run(root: EmptyRoot, argv: list[str], *mounts: Path) -> subprocess.CompletedProcess[str]:
    command = root.command(PREFIX or [], Path("/tmp"), mounts, argv)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_dynamic_program_has_an_interpreter_and_libc() -> None:
    names = [path.name for path in libraries(Path("/bin/ls"))]
    assert any(name.startswith("ld-linux") for name in names)
    assert "libc.so.6" in names


def test_a_static_program_has_no_libraries(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", "-static", "-o", tmp_path / "x", tmp_path / "x.c"], check=True)
    assert is_program(tmp_path / "x")
    assert libraries(tmp_path / "x") == []


@may_mount
def test_a_program_runs_within_and_sees_nothing_outside(tmp_path: Path) -> None:
    root = EmptyRoot(tmp_path / "root")
    root.add(Path("/bin/ls"), "artifacts")
    root.add_libraries(None)
    assert run(root, ["/bin/ls", "/etc"]).returncode != 0
    assert run(root, ["/bin/ls", "/"]).stdout.split() == sorted(p.name for p in root.folder.iterdir())


@may_mount
def test_without_its_libraries_it_does_not_run(tmp_path: Path) -> None:
    root = EmptyRoot(tmp_path / "root")
    root.add(Path("/bin/ls"), "artifacts")
    assert run(root, ["/bin/ls", "/"]).returncode != 0


@may_mount
def test_a_dependencys_folder_is_mounted_and_not_counted(tmp_path: Path) -> None:
    outside = tmp_path / "database"
    outside.mkdir()
    (outside / "file").write_text("x" * 1000)
    root = EmptyRoot(tmp_path / "root")
    root.add(Path("/bin/ls"), "artifacts")
    root.add_libraries(None)
    before = root.bytes_by_kind()
    assert run(root, ["/bin/ls", str(outside)], outside).stdout.split() == ["file"]
    assert root.bytes_by_kind() == before


def test_bytes_are_those_of_the_files_by_kind(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a").write_bytes(b"1" * 300)
    (tmp_path / "data/b").write_bytes(b"2" * 700)
    root = EmptyRoot(tmp_path / "root")
    root.add(tmp_path / "data", "zone data")
    assert root.bytes_by_kind() == {"zone data": 1000}
    assert list(root.listing().values()) == [700, 300]


@pytest.mark.skipif(shutil.which("zstd") is None, reason="zstd is not installed")
def test_compressed_bytes_leave_out_what_is_only_mounted(tmp_path: Path) -> None:
    (tmp_path / "zeros").write_bytes(bytes(10**6))
    root = EmptyRoot(tmp_path / "root")
    root.add(tmp_path / "zeros", "artifacts")
    (root.folder / "proc/never").write_bytes(bytes(range(256)) * 4000)
    (root.folder / "tmp/left").write_bytes(bytes(range(256)) * 4000)
    root.archive(tmp_path / "root.tar")
    assert 0 < compressed_bytes(tmp_path / "root.tar", Path(shutil.which("zstd") or "")) < 2000


def test_a_file_that_stands_below_tmp_is_part_of_the_archive(tmp_path: Path) -> None:
    (tmp_path / "server").write_bytes(b"x" * 100)
    root = EmptyRoot(tmp_path / "root")
    root.add(tmp_path / "server", "artifacts", target=Path("/tmp/cache/server"))
    root.archive(tmp_path / "root.tar")
    with tarfile.open(tmp_path / "root.tar") as tar:
        sizes = {member.name.removeprefix("./"): member.size for member in tar.getmembers()}
    assert sizes["tmp/cache/server"] == 100
    assert {"proc", "dev", "tmp"} <= sizes.keys()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmptyRootError, match="/no/such/file"):
        EmptyRoot(tmp_path / "root").add(Path("/no/such/file"), "artifacts")


def test_a_native_image_is_not_begun_without_memory(tmp_path: Path) -> None:
    with pytest.raises(NotEnoughMemoryError, match=r"5\.0 GiB are available"), native_turn(tmp_path, 5 * 1024**3):
        pass
    with native_turn(tmp_path, 7 * 1024**3):
        pass
    assert issubclass(NotEnoughMemoryError, TouchstoneError)


def test_a_library_is_found_by_the_name_that_programs_load_it_by() -> None:
    assert is_program(find_library("libc.so.6"))
    with pytest.raises(EmptyRootError, match=r"there is no library libnothing\.so\.1"):
        find_library("libnothing.so.1")
