"""The life of a group under cgroup version 2, as root of the machine, in a group that is ours, and in a container.

`tests/kernel` runs these tests on a kernel that has version 2 where this machine has not.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from touchstone.isolation.cgroup import Cgroup, create_cgroup
from touchstone.isolation.confinement import ConfinementWatch
from touchstone.isolation.delegation import CgroupHome, find_home
from touchstone.isolation.hierarchies import version_2
from touchstone.isolation.process import ServerProcess, start_process
from touchstone.isolation.scope import systemd_runs

MIB = 2**20
SPIN = "while True: pass"
AS_A_USER = (
    *("setpriv", "--reuid=4242", "--regid=4242", "--clear-groups"),
    # The interpreter may lie in a folder that is root's alone.
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)
LOOK = """
import json, os, sys, time
from pathlib import Path
from touchstone.isolation.cgroup import create_cgroup
from touchstone.isolation.delegation import find_home, lab_limits
home = find_home()
group = create_cgroup()
limited = group and (group.limit_memory(64 << 20), group.limit_cpus(0.5), group.memory_limit(), group.cpu_limit())
own = Path("/proc/self/cgroup").read_text().strip()
cpus = lab_limits().cpus
print(json.dumps({"home": str(home), "own": own, "limited": limited, "group": group and str(group.folders[0]),
                  "cpus": cpus and cpus.most, "fix": getattr(home, "fix", "")}), flush=True)
if "wait" in sys.argv:
    sys.stdin.read()
if group:
    group.remove()
"""


@pytest.fixture
def top() -> Path:
    """Where version 2 is mounted, with nobody but us to manage it."""
    tree, home = version_2(), find_home()
    if not isinstance(home, CgroupHome) or home.version != 2 or tree is None or systemd_runs():
        pytest.skip("needs root on a machine with cgroup version 2 and no service manager")
    return tree.mounted_at


@pytest.fixture
def bench(top: Path) -> Iterator[Path]:
    """A group as somebody who delegates would make it, removed with all that is left in it."""
    control = top / "cgroup.subtree_control"
    control.write_text("+memory +cpu +pids")
    folder = top / "bench"
    folder.mkdir()
    yield folder
    left = [path for path in folder.iterdir() if path.is_dir()]
    (folder / "cgroup.kill").write_text("1")
    for group in (*left, folder):
        Cgroup(2, {"": group}).remove()
    assert left == []


def started_in(group: Path, command: Sequence[str], stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    """A command that is in a group from its begin on."""
    enter = f'echo $$ > {group}/cgroup.procs && exec "$@"'
    return subprocess.Popen(
        ["/bin/sh", "-c", enter, "sh", *command],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def look_from(group: Path, *before: str, code: str = LOOK) -> dict[str, Any]:
    """What a lab finds that is started in a group; `before` are the words ahead of its command."""
    said, _ = started_in(group, [*before, sys.executable, "-c", code]).communicate(timeout=60)
    return dict(json.loads(said.splitlines()[-1]))


def test_a_group_of_ours_has_limits_and_counts(top: Path, tmp_path: Path) -> None:
    group = create_cgroup()
    assert group is not None
    assert group.folders[0].parent == top
    assert group.limit_memory(64 * MIB)
    assert group.limit_cpus(0.5)
    assert (group.memory_limit(), group.cpu_limit()) == (64 * MIB, 0.5)
    process = busy(tmp_path, group)
    assert group.pids() == [process.pid]
    deadline = time.monotonic() + 20
    while (group.cpu_s() or 0.0) < 0.2 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.stop()
    assert process.cpu_at_end is not None
    assert process.cpu_at_end.before_s >= 0.2
    assert not group.exists()


def test_the_kernel_counts_what_it_killed(top: Path, tmp_path: Path) -> None:
    group = create_cgroup()
    assert group is not None
    assert group.limit_memory(32 * MIB)
    process = start_process(
        [sys.executable, "-c", "x = [b'1' * 2**20 for _ in range(200)]"],
        env={},
        cwd=tmp_path,
        log=tmp_path / "log",
        cgroup=group,
    )
    process.popen.wait(60)
    assert process.exited() == "ended by SIGKILL"
    assert group.oom_kills() == 1
    assert (group.limit_hits() or 0) > 0
    assert (group.memory_peak() or 0) > 30 * MIB
    process.stop()


def busy(tmp_path: Path, group: Cgroup) -> ServerProcess:
    return start_process([sys.executable, "-c", SPIN], env={}, cwd=tmp_path, log=tmp_path / "log", cgroup=group)


def test_limits_that_vanish_are_in_the_account(top: Path, tmp_path: Path) -> None:
    group = create_cgroup()
    assert group is not None
    group.limit_memory(64 * MIB)
    group.limit_cpus(0.5)
    process = busy(tmp_path, group)
    control = top / "cgroup.subtree_control"
    try:
        with ConfinementWatch(process, [], 64 * MIB, 0.5) as watch:
            assert "limits_gone" not in watch.account()
            # As a service manager does that does not know of a delegation.
            control.write_text("-memory -cpu")
            assert watch.account()["limits_gone"] == ["memory", "cpu"]
    finally:
        process.stop()
        control.write_text("+memory +cpu")


def test_a_limit_that_is_lifted_is_in_the_account_with_what_it_is_now(top: Path, tmp_path: Path) -> None:
    group = create_cgroup()
    assert group is not None
    group.limit_cpus(0.5)
    process = busy(tmp_path, group)
    try:
        with ConfinementWatch(process, [], None, 0.5) as watch:
            group.limit_cpus(0.75)
            assert watch.account()["cpu_limit"] == 0.75
    finally:
        process.stop()


def test_everybody_in_the_group_moves_into_the_leaf_and_back(bench: Path) -> None:
    other = started_in(bench, ["sleep", "600"])
    found = look_from(bench)
    assert found["own"] == "0::/bench/touchstone-lab"
    assert found["home"].startswith("version 2 (memory, cpu, pids")
    assert found["home"].endswith(f") in {bench}")
    assert found["limited"] == [True, True, 64 * MIB, 0.5]
    assert Path(found["group"]).parent == bench
    assert Path(f"/proc/{other.pid}/cgroup").read_text() == "0::/bench\n"
    assert (bench / "cgroup.subtree_control").read_text().split() == []
    other.kill()
    other.wait()


def test_two_labs_share_the_leaf_and_the_first_that_ends_leaves_it(bench: Path) -> None:
    first = started_in(bench, [sys.executable, "-c", LOOK, "wait"], stdin=subprocess.PIPE)
    assert first.stdout is not None
    assert json.loads(first.stdout.readline())["own"] == "0::/bench/touchstone-lab"
    assert look_from(bench / "touchstone-lab")["limited"] == [True, True, 64 * MIB, 0.5]
    assert {"cpu", "memory", "pids"} <= {*(bench / "cgroup.subtree_control").read_text().split()}
    first.communicate("", timeout=60)
    assert (bench / "cgroup.subtree_control").read_text().split() == []


def test_a_user_may_have_a_group(bench: Path) -> None:
    for path in (bench, *(bench / name for name in ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads"))):
        shutil.chown(path, 4242, 4242)
    assert look_from(bench, *AS_A_USER)["limited"] == [True, True, 64 * MIB, 0.5]


def test_a_user_without_one_is_told_why(bench: Path) -> None:
    found = look_from(bench, *AS_A_USER)
    assert found["limited"] is None
    assert found["home"] == f"not permitted: {bench} is not writable for this user"
    assert found["fix"].startswith("run as root")


def in_a_container(options: str) -> tuple[str, ...]:
    mount = f'umount /sys/fs/cgroup && mount -t cgroup2 {options} cgroup2 /sys/fs/cgroup && exec "$@"'
    return ("unshare", "--cgroup", "--mount", "/bin/sh", "-c", mount, "sh")


def test_the_root_of_a_containers_namespace_is_ours(bench: Path) -> None:
    found = look_from(bench, *in_a_container(""))
    assert found["own"] == "0::/touchstone-lab"
    assert found["limited"] == [True, True, 64 * MIB, 0.5]
    assert Path(found["group"]).parent == Path("/sys/fs/cgroup")


def test_a_container_in_which_it_cannot_be_written_is_told_how(bench: Path) -> None:
    found = look_from(bench, *in_a_container("-o ro"))
    assert found["home"] == "not permitted: /sys/fs/cgroup is not writable for this user"
    assert "--privileged" in found["fix"]


def test_a_group_without_controllers_says_so(bench: Path) -> None:
    (bench / "inner").mkdir()
    found = look_from(bench / "inner")
    (bench / "inner").rmdir()
    assert found["home"] == f"not permitted: {bench}/inner was given neither of the controllers memory and cpu"


@pytest.mark.parametrize("inside", [(), in_a_container("")])
def test_the_quota_of_the_group_is_the_labs_own(bench: Path, inside: tuple[str, ...]) -> None:
    (bench / "cpu.max").write_text("50000 100000")
    assert look_from(bench, *inside)["cpus"] == 0.5
