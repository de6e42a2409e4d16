"""The wheel, installed on a machine without a compiler: an empty environment, and nothing else on the PATH."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.packaging.machine import bare_path, engine_in, newest_glibc

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Machine:
    """Where the wheel was installed."""

    wheel: Path
    bin: Path
    env: dict[str, str]
    home: Path

    def touchstone(self, *words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bin / "touchstone"), *words],
            cwd=self.home,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    base = tmp_path_factory.mktemp("machine")
    subprocess.run(["make", "wheel", f"DIST={base / 'dist'}"], cwd=ROOT, check=True, capture_output=True, timeout=1200)
    (wheel,) = (base / "dist").glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(base / "venv")], check=True, timeout=120)
    pip = [str(base / "venv/bin/pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    subprocess.run(pip, check=True, timeout=600)
    home = base / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy") or "PIP" in name}
    path = f"{base / 'venv/bin'}:{bare_path(base / 'bin', 'python3')}"
    env = kept | {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8"}
    return Machine(wheel, base / "venv/bin", env, home)


@pytest.fixture
def server(machine: Machine) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(machine.bin / "touchstone-engine"), "null", "--port", str(port)]
    with subprocess.Popen(command, env=machine.env, stdout=subprocess.DEVNULL) as process:
        yield f"http://127.0.0.1:{port}/"
        process.terminate()


def tracked(*folders: str) -> set[str]:
    done = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, check=True, capture_output=True, text=True)
    return {name for name in done.stdout.split("\0") if name}


def test_the_wheel_holds_what_is_tracked_and_no_more(machine: Machine) -> None:
    with zipfile.ZipFile(machine.wheel) as archive:
        held = {name for name in archive.namelist() if name.startswith("touchstone/")}
    left_out = ("mote/tests/", "mote/fuzz/")
    links = {f"src/touchstone/shipped/{name}" for name in ("claims", "mote", "scenarios", "schema")}
    package = {name.removeprefix("src/") for name in tracked("src") - links}
    shipped = {f"touchstone/shipped/{n}" for n in tracked("claims", "mote", "scenarios") if not n.startswith(left_out)}
    schemas = {f"touchstone/shipped/{name.removeprefix('docs/')}" for name in tracked("docs/schema")}
    assert held == package | shipped | schemas


def test_the_wheel_fits_a_linux_of_2018(machine: Machine) -> None:
    assert "py3-none-manylinux_2_28" in machine.wheel.name
    assert newest_glibc(engine_in(machine.wheel)) <= (2, 28)


def test_it_knows_its_scenarios_in_any_folder(machine: Machine) -> None:
    assert machine.touchstone("--version").stdout.startswith("touchstone ")
    listed = machine.touchstone("list").stdout
    for scenario in ("users", "crud", "relay", "hello", "quotes"):
        assert scenario in listed
    for scenario in ("users", "hello"):
        folder = machine.bin.parent / "lib"
        (found,) = folder.glob(f"*/site-packages/touchstone/shipped/scenarios/{scenario}")
        checked = machine.touchstone("check", str(found))
        assert "nothing wrong" in checked.stdout, checked.stdout + checked.stderr


def test_load_and_probe_work(machine: Machine, server: str) -> None:
    loaded = machine.touchstone("load", server, "--duration", "1", "--connections", "4")
    # On a busy machine the generator may withdraw its result, which is what 4 says.
    assert loaded.returncode in {0, 4}, loaded.stdout + loaded.stderr
    assert "requests/s" in loaded.stdout
    probed = machine.touchstone("probe", server)
    assert "MUST" in probed.stdout, probed.stdout + probed.stderr


def test_a_service_of_ones_own_is_measured(machine: Machine) -> None:
    assert machine.touchstone("new", "my-service", "--stack", "python").returncode == 0
    done = machine.touchstone("run", "./my-service", "--quick", "--load", "ping", timeout=900)
    # On a busy machine a figure may be invalid, which is what 4 says.
    assert done.returncode in {0, 4}, done.stdout + done.stderr
    assert "python/plain" in done.stdout
    assert list(machine.home.glob("results/*/report.html"))
