"""The lab's own scope under systemd: for root and for a user, in services, scopes and sessions.

`tests/kernel` runs these tests on a kernel that has version 2, with systemd, where this machine has not.
"""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.isolation.test_version_2 import LOOK, MIB
from touchstone.isolation.scope import systemd_runs

SAYS_LINGERING = "from touchstone.isolation.lingering import ends_with_session\nprint(ends_with_session())"


def is_there() -> bool:
    unified = Path("/sys/fs/cgroup/cgroup.controllers").is_file()
    return unified and systemd_runs() and os.geteuid() == 0 and "bench" in {user.pw_name for user in pwd.getpwall()}


pytestmark = pytest.mark.skipif(not is_there(), reason="needs systemd, cgroup version 2, root, and a user `bench`")
AS_BENCH = (
    # PAM opens a session, as a login does. The interpreter may lie in a folder that is root's alone.
    *("-p", "User=bench", "-p", "PAMName=login", "-p", "AmbientCapabilities=CAP_DAC_READ_SEARCH"),
)


def run_as(*options: str, code: str = LOOK) -> str:
    """What a Python program prints that systemd starts with these options."""
    kept = [f"--setenv={name}={os.environ[name]}" for name in ("PYTHONPATH", "PATH") if name in os.environ]
    how = [
        *([] if "--scope" in options else ["--wait", "--pipe"]),
        *options,
        *kept,
        f"--working-directory={Path.cwd()}",
    ]
    # A shell already has the capabilities by which the interpreter is found.
    command = ["/bin/sh", "-c", 'exec "$@"', "sh", sys.executable, "-c", code]
    done = subprocess.run(
        ["systemd-run", "--quiet", *how, *command], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout, done.stderr
    return done.stdout


def look(*options: str) -> dict[str, Any]:
    return dict(json.loads(run_as(*options).splitlines()[-1]))


def test_root_in_a_service_gets_a_scope() -> None:
    found = look()
    assert found["own"].startswith("0::/system.slice/touchstone-")
    assert found["own"].endswith(".scope/touchstone-lab")
    assert found["home"].endswith(" in a scope of systemd's")
    assert found["limited"] == [True, True, 64 * MIB, 0.5]


def test_the_limits_of_the_service_go_along() -> None:
    assert look("-p", "CPUQuota=150%")["cpus"] == 1.5


def test_a_delegated_scope_is_used_as_it_is() -> None:
    found = look("--scope", "-p", "Delegate=yes", "--unit=given")
    assert found["own"] == "0::/system.slice/given.scope/touchstone-lab"
    assert found["limited"] == [True, True, 64 * MIB, 0.5]


def test_a_user_in_a_session_gets_a_scope_of_their_own_manager() -> None:
    found = look(*AS_BENCH)
    assert "/user@4242.service/app.slice/touchstone-" in found["own"]
    assert found["limited"] == [True, True, 64 * MIB, 0.5]


def test_a_user_whose_manager_does_not_run_is_told_what_to_do() -> None:
    subprocess.run(["systemctl", "stop", "user@4242.service"], check=True, timeout=60)
    found = look("-p", "User=bench", "-p", "AmbientCapabilities=CAP_DAC_READ_SEARCH")
    assert found["home"] == "not permitted: systemd's manager does not answer: it has no socket here"
    assert "systemd-run --user --scope -p Delegate=yes touchstone" in found["fix"]
    assert "loginctl enable-linger" in found["fix"]


def test_limits_outlive_a_reload_of_the_manager() -> None:
    reload = 'import os\nos.system("systemctl daemon-reload")\nprint(group.memory_limit(), group.cpu_limit())\n'
    assert run_as(code=LOOK.replace("if group:\n", f"{reload}if group:\n")).split()[-2:] == ["67108864.0", "0.5"]


def test_a_user_is_told_that_a_run_ends_with_the_session() -> None:
    code = f"{LOOK}\n{SAYS_LINGERING}"
    assert "the last session of bench" in run_as(*AS_BENCH, code=code)
    subprocess.run(["loginctl", "enable-linger", "bench"], check=True, timeout=60)
    assert run_as(*AS_BENCH, code=code).splitlines()[-1] == "None"
    subprocess.run(["loginctl", "disable-linger", "bench"], check=True, timeout=60)
