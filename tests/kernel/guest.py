"""Runs pytest within the kernel that `boot` started, by the words of its command line."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_TOP = Path(__file__).parents[2]


def main() -> None:
    """Set up what an init usually does, and run the tests."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        fcntl.ioctl(plain, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    env = os.environ | {"HOME": "/run/home", "TMPDIR": "/run/tmp", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--junitxml=/mnt/report.xml", *sys.argv[1:]]
    subprocess.run(command, cwd=_TOP, env=env, check=False)


if __name__ == "__main__":
    main()
