"""Puts the builder together, step by step. A finished step runs again only if its inputs have changed."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from touchstone.native_image.command import run_step
from touchstone.native_image.headers import write_headers
from touchstone.native_image.home import SVM_VERSION, BuilderHome
from touchstone.native_image.jars import fetch_jars
from touchstone.native_image.jdk_source import fetch_jdk_source
from touchstone.native_image.requirements import BuildTools, examine_machine
from touchstone.native_image.self_test import self_test
from touchstone.native_image.shims import build_shims
from touchstone.native_image.static_libraries import build_static_libraries

_PACKAGE = "touchstone.native_image"


@dataclass(frozen=True)
class AssemblyStep:
    """One step of the assembly."""

    name: str
    reason: str
    carry_out: Callable[[BuildTools, BuilderHome], None]
    sources: tuple[str, ...] = ()
    """Patterns of our files that the step uses: a change of one repeats the step and later ones."""
    rests_on: str = ""
    """Other inputs whose change repeats the step."""


def steps(jdk_source: Path | None) -> list[AssemblyStep]:
    """All steps in order. `jdk_source` is a source archive given by hand."""

    def static_libraries(machine: BuildTools, home: BuilderHome) -> None:
        source = fetch_jdk_source(machine.jdk, home.work / "source", jdk_source)
        build_static_libraries(machine, home, source)

    return [
        AssemblyStep(
            "jars",
            "the image builder itself, from Maven Central, each compared with its known checksum",
            fetch_jars,
            ("jars.*", "checksums.py"),
        ),
        AssemblyStep(
            "jdk", "a copy of the JDK: the builder looks for its libraries within the JDK that it runs on", _copy_jdk
        ),
        AssemblyStep(
            "static-libraries",
            "the JDK's C libraries as archives, from OpenJDK's source of the same version: images link them",
            static_libraries,
            ("jdk_source*", "static_libraries.py"),
        ),
        AssemblyStep(
            "headers", "C headers of the structs that the builder asks about", _write_headers, ("headers.py",)
        ),
        AssemblyStep(
            "shims",
            "C functions that images and the builder call and that no jar has",
            build_shims,
            ("shim*", "shim/*"),
        ),
        AssemblyStep(
            "exports", "options that open the JDK's inner packages to the builder", _write_exports, ("*.java",)
        ),
        AssemblyStep(
            "driver",
            "bin/native-image, which turns its command line into the builder's",
            _install_driver,
            ("driver/*",),
            rests_on=str(_interpreter()),
        ),
        AssemblyStep(
            "self-test", "a small program, compiled, run, and its answer compared", _self_test, ("self_test.py",)
        ),
    ]


def assemble(
    home: BuilderHome, say: Callable[[str], None], *, jdk_source: Path | None = None, from_scratch: bool = False
) -> None:
    """Put the builder together in `home`. Raises AssemblyError or AptError, which say what is missing.

    A step that was carried out is marked; it is skipped as long as the marks before it and its inputs are the
    same, so an interrupted run continues.
    """
    home.folder.mkdir(parents=True, exist_ok=True)
    with _alone(home):
        if from_scratch:
            for path in home.folder.iterdir():
                if path.name != _LOCK:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        machine = examine_machine(home.folder)
        marks = home.folder / "steps"
        marks.mkdir(exist_ok=True)
        state = f"{SVM_VERSION} {machine.jdk}"
        done = False
        for step in steps(jdk_source):
            state = _state_after(state, step)
            mark = marks / step.name
            if mark.is_file() and mark.read_text(encoding="ascii") == state:
                say(f"{step.name}: done before")
                continue
            say(f"{step.name}: {step.reason}")
            mark.unlink(missing_ok=True)
            step.carry_out(machine, home)
            mark.write_text(state, encoding="ascii")
            done = True
        shutil.rmtree(home.work, ignore_errors=True)
        say("ready" if done else "everything was there")


_LOCK = "lock"


@contextmanager
def _alone(home: BuilderHome) -> Iterator[None]:
    """Keep a second assembly in the same place waiting."""
    with (home.folder / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _state_after(state: str, step: AssemblyStep) -> str:
    """What the result of a step rests on: the steps before it, and the files that it works by."""
    digest = hashlib.sha256(f"{state} {step.name} {step.rests_on}".strip().encode())
    with as_file(files(_PACKAGE)) as folder:
        for pattern in step.sources:
            for path in sorted(folder.glob(pattern)):
                if path.is_file() and path.suffix != ".pyc":
                    digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _copy_jdk(machine: BuildTools, home: BuilderHome) -> None:
    shutil.rmtree(home.jdk, ignore_errors=True)
    shutil.copytree(machine.jdk.home, home.jdk, symlinks=True, ignore=shutil.ignore_patterns("src.zip", "man", "demo"))


def _write_headers(_machine: BuildTools, home: BuilderHome) -> None:
    write_headers(home)


def _write_exports(_machine: BuildTools, home: BuilderHome) -> None:
    with as_file(files(_PACKAGE) / "BuilderExports.java") as program:
        run_step(
            [str(home.jdk / "bin/java"), *map(str, (program, home.upgrade, home.modules, home.exports))],
            fix="use Temurin's own JDK 25",
        )


def _interpreter() -> Path:
    """The Python that the virtual environment was made with: it stays when that goes, and the driver needs no more."""
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    return base if base.is_file() else Path(sys.executable)


def _install_driver(machine: BuildTools, home: BuilderHome) -> None:
    library = home.folder / "lib/native_image_driver"
    shutil.rmtree(library, ignore_errors=True)
    library.mkdir(parents=True)
    for file in (files(_PACKAGE) / "driver").iterdir():
        if file.name.endswith(".py"):
            (library / file.name).write_bytes(file.read_bytes())
    facts = {"svm": SVM_VERSION, "jdk": machine.jdk.implementor}
    (home.folder / "builder.json").write_text(json.dumps(facts), encoding="utf-8")
    home.executable.parent.mkdir(exist_ok=True)
    home.executable.write_text(
        f"#!{_interpreter()}\n"
        "import sys\n"
        "from pathlib import Path\n\n"
        "home = Path(__file__).resolve().parent.parent\n"
        'sys.path.insert(0, str(home / "lib"))\n'
        "from native_image_driver.main import main\n\n"
        "sys.exit(main(home, sys.argv[1:]))\n",
        encoding="utf-8",
    )
    home.executable.chmod(0o755)


def _self_test(machine: BuildTools, home: BuilderHome) -> None:
    self_test(home, machine.jdk)
