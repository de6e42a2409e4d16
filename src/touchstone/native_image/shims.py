"""Compiles our C shims: the C code of GraalVM's distribution. Each file names the part that it replaces."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path

from touchstone.native_image.command import run_step
from touchstone.native_image.home import BuilderHome
from touchstone.native_image.requirements import BuildTools
from touchstone.native_image.static_libraries import compile_all

_ARCHIVES = {
    "libchelper": ("process.c", "signals.c", "locale.c", "cpu_features.c"),
    "jvm": ("vm_entries.c", "vm_missing.c"),
}
"""The archives by the names that the builder links."""

_FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-w", "-ffunction-sections", "-fno-builtin")


def build_shims(machine: BuildTools, home: BuilderHome) -> None:
    """Compile the archives that images link, and the library that the builder loads. Raises AssemblyError."""
    work = home.work / "shims"
    work.mkdir(parents=True, exist_ok=True)
    include = home.jdk / "include"
    flags = [*_FLAGS, *(f"-I{folder}" for folder in (work, home.headers, include, include / "linux"))]
    with ExitStack() as stack:
        shim = stack.enter_context(as_file(files("touchstone.native_image") / "shim"))
        missing = missing_entries(_undefined(home), (shim / "vm_entries.c").read_text(encoding="utf-8"))
        (work / "vm_missing.h").write_text("".join(f"MISSING({name})\n" for name in missing), encoding="utf-8")
        for archive, sources in _ARCHIVES.items():
            compile_all(machine.gcc, [shim / name for name in sources], work, flags)
            target = home.c_libraries / f"lib{archive}.a"
            target.unlink(missing_ok=True)
            objects = [str(work / f"{Path(name).stem}.o") for name in sources]
            run_step(["ar", "rcs", str(target), *objects], fix="check that binutils is completely installed")
        home.builder_libraries.mkdir(parents=True, exist_ok=True)
        run_step(
            [
                *(str(machine.gcc), *flags, "-shared", str(shim / "reporter.c")),
                *("-o", str(home.builder_libraries / "libreporterchelper.so")),
            ],
            fix="check that gcc is completely installed",
        )


def missing_entries(undefined: Iterable[str], written: str) -> list[str]:
    """The `JVM_` names that libraries leave undefined and our source does not write."""
    names = {name for name in undefined if name.startswith("JVM_")}
    return sorted(name for name in names if not re.search(rf"\b{name}\(", written))


def _undefined(home: BuilderHome) -> set[str]:
    archives = sorted(home.static_libraries.glob("*.a"))
    listed = run_step(["nm", "-u", *map(str, archives)], fix="check that binutils is completely installed")
    return {words[1] for line in listed.splitlines() if len(words := line.split()) == 2 and words[0] == "U"}
