"""Containers of a user who is not root: bound to their CPUs all the same, and promised no limit that nobody keeps."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run.images import image_sources, podman

SCRIPT = """
import os, sys
from pathlib import Path
from touchstone.isolation.container import ContainerRuntime, ContainerSpec, start_container
from touchstone.isolation.process import StartError

runtime, sources, home = ContainerRuntime(Path(sys.argv[1])), sys.argv[2], Path.home()
image = runtime.ask("build", "--quiet", sources).splitlines()[-1]
cpu = max(os.sched_getaffinity(0))
env = {"HOST": "127.0.0.1", "PORT": "0"}
process = start_container(runtime, ContainerSpec(image, env, cpus=[cpu]), log=home / "log")
try:
    assert os.sched_getaffinity(process.pid) == {cpu}, os.sched_getaffinity(process.pid)
    assert (process.cgroup is not None) == ("memory" in runtime.controllers), process.cgroup
    assert process.pid in [member.pid for member in process.tree()]
finally:
    process.stop(5.0)
for limit, controller in (({"memory_limit": 64 << 20}, "memory"), ({"cpu_limit": 0.5}, "cpu")):
    if controller in runtime.controllers:
        continue
    try:
        start_container(runtime, ContainerSpec(image, env, **limit), log=home / "log")
    except StartError as error:
        assert f"cannot limit by the controller {controller} here" in error.what
    else:
        raise AssertionError(f"{controller} was not kept, and nobody said so")
runtime.ask("rmi", "--force", image)
print("seen")
"""

pytestmark = pytest.mark.slow


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may read, and everybody may go to."""
    made = Path(tempfile.mkdtemp(prefix="touchstone-test-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def ordinary_user() -> pwd.struct_passwd:
    """A user with ids of its own for containers (subuid(5)); skips the test where there is none, or where it is us."""
    if os.geteuid() != 0:
        pytest.skip("becomes another user, which root alone may")
    names = [line.split(":")[0] for line in Path("/etc/subuid").read_text().splitlines()]
    known = [user for user in pwd.getpwall() if user.pw_name in names and user.pw_uid >= 1000]
    if not known:
        pytest.skip("needs a user with a line in /etc/subuid and /etc/subgid: `useradd --create-home NAME` makes one")
    return known[0]


def test_a_user_without_root_has_its_containers_bound_and_is_promised_nothing(folder: Path) -> None:
    runtime, user = podman(), ordinary_user()
    sources = image_sources(folder / "image")
    (folder / "run").mkdir()
    os.chown(folder / "run", user.pw_uid, user.pw_gid)
    paths = [str(Path(__file__).resolve().parents[2] / "src"), *(path for path in sys.path if "site-packages" in path)]
    env = {
        "PATH": os.environ["PATH"],
        "HOME": user.pw_dir,
        "PYTHONPATH": ":".join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    env["XDG_RUNTIME_DIR"] = str(folder / "run")
    who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        try:
            subprocess.run([python, "-c", "import psutil"], env=env, check=True, **who)  # type: ignore[call-overload]
            break
        except (OSError, subprocess.CalledProcessError):
            continue
    else:
        pytest.skip(f"{user.pw_name} may not run this Python")
    done = subprocess.run(  # type: ignore[call-overload]
        [python, "-c", SCRIPT, str(runtime.path), str(sources)],
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        **who,
    )
    assert done.stdout == "seen\n", done.stderr
