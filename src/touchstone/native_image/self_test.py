"""Shows that an assembled builder works: it compiles a program, and the program runs correctly."""

from __future__ import annotations

import shutil
from importlib.resources import files

from touchstone.native_image.command import run_step
from touchstone.native_image.home import SVM_VERSION, BuilderHome
from touchstone.native_image.requirements import AssemblyError, Jdk

_EXPECTED = ["text: héllo 数", "file: 65536 bytes, crc 29142303", "http: 200 pong", "thread: virtual", "zone: Z"]


def self_test(home: BuilderHome, jdk: Jdk) -> None:
    """Build SelfTest.java and compare its output. Raises AssemblyError."""
    work = home.work / "self-test"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    source = work / "SelfTest.java"
    source.write_bytes(files("touchstone.native_image").joinpath("SelfTest.java").read_bytes())
    run_step([str(jdk.home / "bin/javac"), "-d", str(work / "classes"), str(source)], fix="use Temurin's JDK 25")
    version = run_step([str(home.executable), "--version"], fix="assemble it again: --anew")
    if SVM_VERSION not in version:
        raise AssemblyError(f"it printed {version!r} instead of its version", fix="assemble it again: --anew")
    # Quick-build mode: the test asks whether it works, not how fast.
    run_step(
        [
            *(str(home.executable), "-Ob", "-cp", str(work / "classes"), "-o", str(work / "self-test")),
            "SelfTest",
        ],
        cwd=work,
        fix="the builder needs 2 GiB of memory for the self-test; look at its last output",
    )
    printed = run_step(
        [str(work / "self-test"), "-Xmx64m"], cwd=work, env={"TZ": "UTC", "LANG": "C.UTF-8"}, fix="report this"
    )
    if printed.splitlines() != _EXPECTED:
        raise AssemblyError(f"the self-test printed {printed!r} in place of {_EXPECTED}", fix="report this")
