"""The JDK's C libraries as archives (`libjava.a`, `libnet.a` ...), to be linked into images.

A JDK ships them as shared libraries only. An image has no JDK next to it, so its native methods must be linked in, as
`static-libs` builds of OpenJDK do: the same C files, compiled with STATIC_BUILD, which gives each library's
`JNI_OnLoad` a name of its own.
"""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from touchstone.native_image.command import run_step
from touchstone.native_image.home import BuilderHome
from touchstone.native_image.jdk_source import MODULES
from touchstone.native_image.requirements import AssemblyError, BuildTools, Jdk

LIBRARIES = {
    "java": "java.base",
    "net": "java.base",
    "nio": "java.base",
    "zip": "java.base",
    "management": "java.management",
    "management_ext": "jdk.management",
    "prefs": "java.prefs",
    "extnet": "jdk.net",
    "rmi": "java.rmi",
    "jaas": "jdk.security.auth",
}
"""The module of each library: those that the builder links when the classes that need them are in an image."""

_FLAGS = (
    *("-O2", "-fPIC", "-std=gnu11", "-w", "-fno-strict-aliasing"),
    *("-ffunction-sections", "-fdata-sections", "-fvisibility=hidden"),
    *("-D_GNU_SOURCE", "-D_REENTRANT", "-D_LARGEFILE64_SOURCE", "-DLINUX", "-D_LP64=1", "-D_LITTLE_ENDIAN"),
    *('-DARCH="amd64"', '-DARCHPROPNAME="amd64"', "-Damd64", "-DNDEBUG", "-DSTATIC_BUILD=1"),
)
_NATIVE = re.compile(rb"\bnative\b|@Native")
_PLATFORMS = ("linux", "unix", "share")
"""A file in an earlier folder stands for one of the same name in a later."""


def build_static_libraries(machine: BuildTools, home: BuilderHome, source: Path) -> None:
    """Compile every library of the list. Raises AssemblyError."""
    work = home.work / "static"
    headers = make_jni_headers(machine.jdk, work)
    home.static_libraries.mkdir(parents=True, exist_ok=True)
    for name, module in LIBRARIES.items():
        objects = work / "objects" / name
        objects.mkdir(parents=True, exist_ok=True)
        flags = [*_FLAGS, *_version_flags(machine.jdk), f"-DLIBRARY_NAME={name}"]
        if name == "zip":
            flags += ["-DUSE_MMAP", "-DHAVE_UNISTD_H"]
        includes = [f"-I{folder}" for folder in _include_folders(name, module, source, headers, machine.jdk.home)]
        compile_all(machine.gcc, c_files(source / module, name), objects, [*flags, *includes])
        archive = home.static_libraries / f"lib{name}.a"
        archive.unlink(missing_ok=True)
        run_step(
            ["ar", "rcs", str(archive), *map(str, sorted(objects.glob("*.o")))],
            fix="check that binutils is completely installed",
        )


def make_jni_headers(jdk: Jdk, work: Path) -> Path:
    """JNI headers of classes with native methods, a folder per module, made by javac.

    They are generated files of a JDK build, so that no source archive holds them.
    """
    headers, sources = work / "headers", work / "java"
    with zipfile.ZipFile(jdk.home / "lib/src.zip") as archive:
        wanted = [name for name in archive.namelist() if name.split("/", 1)[0] in MODULES and name.endswith(".java")]
        archive.extractall(sources, wanted)
    for module in MODULES:
        native = [
            str(path)
            for path in sorted((sources / module).rglob("*.java"))
            if path.name not in {"module-info.java", "package-info.java"} and _NATIVE.search(path.read_bytes())
        ]
        if not native:
            continue
        arguments = work / f"{module}.javac"
        arguments.write_text("\n".join(native), encoding="utf-8")
        run_step(
            [
                *(str(jdk.home / "bin/javac"), "-nowarn", "-proc:none", "-implicit:none", "-encoding", "UTF-8"),
                *("-XDignore.symbol.file", f"--patch-module={module}={sources / module}"),
                *("-d", str(work / "classes" / module), "-h", str(headers / module), f"@{arguments}"),
            ],
            fix="use Temurin's own JDK: its src.zip must fit its classes",
        )
    return headers


def c_files(module: Path, library: str) -> list[Path]:
    """The C files of a library; the most specific of each name."""
    chosen: dict[str, Path] = {}
    for platform in _PLATFORMS:
        for path in sorted((module / platform / "native" / f"lib{library}").rglob("*.c")):
            chosen.setdefault(path.name, path)
    return list(chosen.values())


def compile_all(gcc: Path, sources: Iterable[Path], objects: Path, flags: list[str]) -> None:
    """Compile each file to an object file, as many in parallel as CPUs. Raises AssemblyError."""

    def compile_one(source: Path) -> tuple[Path, str]:
        command = [str(gcc), *flags, "-c", str(source), "-o", str(objects / f"{source.stem}.o")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return source, done.stderr if done.returncode else ""

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for source, complaint in pool.map(compile_one, sources):
            if complaint:
                raise AssemblyError(
                    f"{source.name} does not compile: {complaint[:800]}",
                    fix="check that gcc, libc6-dev and zlib1g-dev are completely installed",
                )


def _include_folders(name: str, module: str, source: Path, headers: Path, jdk: Path) -> list[Path]:
    roots = [source / module / platform / "native" / f"lib{name}" for platform in _PLATFORMS]
    own = [Path(folder) for root in roots for folder, _, _ in os.walk(root)]
    base = source / "java.base"
    shared = [
        *(base / "share/native" / folder for folder in ("include", "libjava", "libnet", "libjli", "libzip")),
        *(base / "unix/native" / folder for folder in ("include", "libjava", "libnet")),
        *(base / "linux/native" / folder for folder in ("include", "libjava")),
        source / "java.management/share/native/libmanagement",
        source / "hotspot/share/include",
        source / "hotspot/os/posix/include",
    ]
    generated = [headers / folder for folder in (module, "java.base", "java.management")]
    return [*own, *generated, *shared, jdk / "include", jdk / "include/linux"]


def _version_flags(jdk: Jdk) -> list[str]:
    """What a JDK build defines about itself: libjava answers `java.version` and its kin from these."""
    feature, interim, update, patch = [*jdk.version.split("."), "0", "0", "0"][:4]
    numbers = {
        **{"FEATURE": feature, "INTERIM": interim, "UPDATE": update, "PATCH": patch, "BUILD": jdk.build},
        **{"EXTRA1": "0", "EXTRA2": "0", "EXTRA3": "0"},
        # A class file's major version is the feature release plus 44 (JVMS 4.1).
        **{"CLASSFILE_MAJOR": str(int(feature) + 44), "CLASSFILE_MINOR": "0"},
    }
    texts = {
        **{"VERSION_NUMBER": jdk.version, "VERSION_SHORT": jdk.version, "VERSION_STRING": jdk.full_version},
        **{"VERSION_SPECIFICATION": feature, "VERSION_DATE": jdk.date, "VERSION_PRE": "", "VERSION_OPT": ""},
        **{"VENDOR": "touchstone", "VENDOR_VERSION_STRING": "", "VENDOR_URL": "", "VENDOR_URL_BUG": ""},
        **{"VENDOR_URL_VM_BUG": "", "LAUNCHER_NAME": "openjdk", "PRODUCT_NAME": "OpenJDK", "JDK_RC_NAME": ""},
    }
    return [
        *(f"-DVERSION_{name}={value}" for name, value in numbers.items()),
        *(f'-D{name}="{value}"' for name, value in texts.items()),
    ]
