"""Boots a Linux kernel as a process (User Mode Linux), with cgroups of version 2, and runs tests in it.

The kernel is Debian's package user-mode-linux: `apt-get install user-mode-linux`. Its root is this machine's,
read-only. What a test writes goes to memory, and its report to a folder of this machine.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

KERNEL = shutil.which("linux.uml")
REASON = "needs the kernel linux.uml, of Debian's package user-mode-linux"
_KEPT = ("PATH", "PYTHONPATH", "TOUCHSTONE_ENGINE")
_TOP = Path(__file__).parents[2]
_INIT = """#!/bin/sh
{exports}
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t tmpfs run /run && mount -t tmpfs shm /dev/shm
mount -t devpts devpts /dev/pts
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t hostfs -o {scratch} scratch /mnt
mkdir /run/home /run/tmp
{python} {guest} {words} >/mnt/out 2>&1
# Nothing is left to run: the kernel ends with its first process's wish.
{python} -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'
"""


def run_tests(words: Sequence[str], scratch: Path, timeout_s: float) -> dict[str, str]:
    """The outcome of each test that pytest finds by these words, within the kernel: passed, skipped, or what failed.

    Raises AssertionError with all that was printed if pytest did not come to its end.
    """
    assert KERNEL is not None, REASON
    init = scratch / "init"
    init.write_text(
        _INIT.format(
            exports="\n".join(f"export {name}={shlex.quote(os.environ[name])}" for name in _KEPT if name in os.environ),
            scratch=scratch,
            python=sys.executable,
            guest=Path(__file__).with_name("guest.py"),
            words=" ".join(words),
        )
    )
    init.chmod(0o755)
    kernel = subprocess.Popen(
        [KERNEL, "mem=1G", "rootfstype=hostfs", "rootflags=/", "ro", f"init={init}", f"uml_dir={scratch}", "con=null"],
        cwd=_TOP,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        console, _ = kernel.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        console = f"not ended within {timeout_s:g} s"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(kernel.pid, signal.SIGKILL)
    report, out = scratch / "report.xml", scratch / "out"
    assert report.is_file(), f"{console[-2000:]}\n{out.read_text() if out.is_file() else ''}"
    return _outcomes(report)


def _outcomes(report: Path) -> dict[str, str]:
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        wrong = [part for part in case if part.tag in ("failure", "error")]
        skipped = [part for part in case if part.tag == "skipped"]
        outcome = wrong[0].text if wrong else f"skipped: {skipped[0].get('message')}" if skipped else "passed"
        found[f"{case.get('classname')}::{case.get('name')}"] = str(outcome)
    return found
