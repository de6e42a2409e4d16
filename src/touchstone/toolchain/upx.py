"""UPX, from Debian's backports, for machines that have none on the PATH."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from touchstone.failure import TouchstoneError
from touchstone.toolchain.apt import PrivateApt
from touchstone.toolchain.cache import cache_folder

_SUITE = "bookworm-backports"
"""Debian 12 itself has no UPX; its backport needs nothing newer than Debian 12's libc."""
_PACKAGE = "upx-ucl"


class UpxError(TouchstoneError):
    """UPX was fetched and does not work here."""


def fetch_upx() -> Path:
    """Download Debian's package, unpack it into the cache, and try it. Raises AptError or UpxError.

    Nothing is installed: apt downloads with folders of its own, and dpkg-deb unpacks.
    """
    home = cache_folder() / "upx"
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="touchstone-upx-") as folder:
        work = Path(folder)
        apt = PrivateApt(work / "apt", _SUITE, "deb")
        apt.update()
        apt.get("download", _PACKAGE, cwd=work)
        package = next(work.glob(f"{_PACKAGE}_*.deb"))
        subprocess.run(["dpkg-deb", "--extract", str(package), str(work / "root")], check=True)
        # The package's `upx` is a link into the system's list of alternatives, which is not touched.
        target = home / "upx"
        shutil.copy2(work / "root/usr/bin/upx-ucl", home / "upx.new")
        (home / "upx.new").replace(target)
    _try(target)
    return target


def _try(upx: Path) -> None:
    """Pack a program of the system's and run it."""
    with tempfile.TemporaryDirectory(prefix="touchstone-upx-") as folder:
        packed = Path(folder) / "echo"
        shutil.copy2("/bin/echo", packed)
        steps = ([str(upx), "-q", "--force", str(packed)], [str(packed), "packed"])
        for command in steps:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise UpxError(
                    f"`{' '.join(command[:2])}` ended with code {done.returncode}: {done.stderr.strip()[-400:]}",
                    fix="install upx-ucl with the distribution's package manager",
                )
        if done.stdout != "packed\n":
            raise UpxError(f"a packed program printed {done.stdout!r}", fix="use another version of UPX")
