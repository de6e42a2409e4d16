"""The wheel for aarch64, built on any machine that has Rust's standard library for it."""

from __future__ import annotations

import os
import platform
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from tests.packaging.machine import engine_in, newest_glibc

ROOT = Path(__file__).resolve().parents[2]
TARGET = "aarch64-unknown-linux-gnu"
AARCH64 = 183
"""Its number in an ELF header, where two bytes at 18 name the machine."""
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ask = ["rustc", "--print", "target-libdir", "--target", TARGET]
    library = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(library).is_dir():
        pytest.skip(f"no Rust for {TARGET}: see docs/install.md, Building a wheel")
    dist = tmp_path_factory.mktemp("dist")
    make = ["make", "wheel", f"WHEEL_TARGET={TARGET}", f"DIST={dist}"]
    subprocess.run(make, cwd=ROOT, check=True, capture_output=True, timeout=1200)
    (built,) = dist.glob("*.whl")
    return built


def test_its_engine_is_one_for_a_linux_of_2018_on_aarch64(wheel: Path) -> None:
    assert "py3-none-manylinux_2_28_aarch64" in wheel.name
    engine = engine_in(wheel)
    assert struct.unpack_from("<H", engine, 18) == (AARCH64,)
    assert newest_glibc(engine) <= (2, 28)


def test_its_engine_runs(wheel: Path, tmp_path: Path) -> None:
    engine = tmp_path / "touchstone-engine"
    engine.write_bytes(engine_in(wheel))
    engine.chmod(0o755)
    command, env = [str(engine), "--version"], dict(os.environ)
    if platform.machine() != "aarch64":
        emulator = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
        env.setdefault("QEMU_LD_PREFIX", "/usr/aarch64-linux-gnu")
        if emulator is None or not (Path(env["QEMU_LD_PREFIX"]) / "lib/ld-linux-aarch64.so.1").exists():
            pytest.skip("needs qemu-user-static and libc6-arm64-cross")
        command.insert(0, emulator)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("touchstone-engine "), done.stderr
