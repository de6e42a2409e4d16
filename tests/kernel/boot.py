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
_MOUNTS = """#!/bin/sh
{exports}
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t tmpfs run /run
mount -t hostfs -o {scratch} scratch /mnt
mkdir /run/home /run/tmp
"""
_TESTS = """
{python} {guest} {words} >/mnt/out 2>&1
{python} -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'
"""
_INIT = """
mkdir -p /dev/shm /dev/pts
mount -t tmpfs shm /dev/shm && mount -t devpts devpts /dev/pts && mount -t cgroup2 cgroup2 /sys/fs/cgroup
"""
_SYSTEMD = """
mkdir /run/written
mount -t tmpfs written /run/written && mkdir -p /run/written/etc /run/written/var/lib /run/written/var/log
cp -a /etc/. /run/written/etc/ && cp -a /var/lib/dbus /run/written/var/lib/
mount --bind /run/written/etc /etc && mount --bind /run/written/var /var
rm -rf /etc/systemd/system/* && : >/etc/fstab
echo 0123456789abcdef0123456789abcdef >/etc/machine-id
echo 'bench:x:4242:4242::/run/home:/bin/sh' >>/etc/passwd
echo 'bench:x:4242:' >>/etc/group && echo 'bench:*:19000:0:99999:7:::' >>/etc/shadow
cat >/etc/systemd/system/tests.service <<'END'
[Service]
ExecStart=/bin/sh /mnt/tests
END
cat >/etc/systemd/system/default.target <<'END'
[Unit]
Requires=basic.target dbus.service systemd-logind.service
After=basic.target dbus.service systemd-logind.service
Wants=tests.service
END
exec /lib/systemd/systemd --show-status=0
"""


def run_tests(
    words: Sequence[str], scratch: Path, timeout_s: float, *, systemd: bool = False, memory: str = "1G"
) -> dict[str, str]:
    """The outcome of each test that pytest finds by these words, within the kernel: passed, skipped, or what failed.

    With `systemd` it manages the machine, and there is a user `bench`; without it nothing but the tests runs.
    Raises AssertionError with all that was printed if pytest did not come to its end.
    """
    assert KERNEL is not None, REASON
    init = scratch / "init"
    init.write_text(_MOUNTS + (_SYSTEMD if systemd else _INIT + _TESTS))
    (scratch / "tests").write_text("{exports}\n" + _TESTS)
    places = {
        "{exports}": "\n".join(
            f"export {name}={shlex.quote(os.environ[name])}" for name in _KEPT if name in os.environ
        ),
        "{scratch}": str(scratch),
        "{python}": sys.executable,
        "{guest}": str(Path(__file__).with_name("guest.py")),
        "{words}": " ".join(words),
    }
    for script in (init, scratch / "tests"):
        text = script.read_text()
        for place, value in places.items():
            text = text.replace(place, value)
        script.write_text(text)
        script.chmod(0o755)
    kernel = subprocess.Popen(
        [
            KERNEL,
            f"mem={memory}",
            "rootfstype=hostfs",
            "rootflags=/",
            "ro",
            f"init={init}",
            f"uml_dir={scratch}",
            "con=null",
        ],
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
