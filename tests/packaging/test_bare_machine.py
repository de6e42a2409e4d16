"""mote's part of `make test` on a machine that has Python and a C compiler, and no more."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.packaging.machine import bare_path

CHECK = Path(__file__).resolve().parents[2] / "mote" / "check.sh"


def check(path: str, build: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(CHECK), str(build)], env={"PATH": path}, capture_output=True, text=True, timeout=600, check=False
    )


def test_without_a_cpp_compiler_mote_is_skipped_by_name(tmp_path: Path) -> None:
    done = check(bare_path(tmp_path / "bin", "python3", "cc"), tmp_path / "build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped: a C++ compiler is not installed" in done.stdout


@pytest.mark.slow
def test_cmake_and_ninja_come_from_pypi(tmp_path: Path) -> None:
    path = bare_path(tmp_path / "bin", "python3", "cc", "c++", "as", "ld", "ar", "ranlib")
    (tmp_path / "bin" / "c++").unlink()
    # As on a machine without GoogleTest, which shortens the check to a build of the library.
    (tmp_path / "bin" / "c++").write_text('#!/bin/sh\ncase "$*" in *-E*) exit 1 ;; esac\nexec /usr/bin/c++ "$@"\n')
    (tmp_path / "bin" / "c++").chmod(0o755)
    done = check(path, tmp_path / "build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cmake and ninja from PyPI" in done.stdout
    assert "skipped: GoogleTest" in done.stdout
    assert list((tmp_path / "build/release").rglob("libmote.a"))
