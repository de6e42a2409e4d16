"""The C sources of the JDK, of the very version that is installed."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from touchstone.native_image.checksums import known_checksums
from touchstone.native_image.command import run_step
from touchstone.native_image.requirements import AssemblyError, Jdk
from touchstone.toolchain.apt import AptError, PrivateApt

MODULES = (
    "java.base",
    "java.management",
    "jdk.management",
    "java.prefs",
    "jdk.net",
    "java.rmi",
    "jdk.security.auth",
)
"""The modules whose C code an image of a server can need."""

_SUITES = ("trixie", "trixie-updates", "sid")
"""Where Debian has OpenJDK 25, the stable ones first."""

_HOTSPOT = ("hotspot/share/include", "hotspot/os/posix/include")


def fetch_jdk_source(jdk: Jdk, folder: Path, given: Path | None = None) -> Path:
    """The `src` folder of OpenJDK's source of that version, unpacked below `folder`. Raises AssemblyError.

    Java classes and C code of one JDK fit together only within a version: a native method that has gained an argument
    would be called wrongly, and nothing would notice before a crash. So no neighbouring version will do.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tarball = given or _download(jdk, folder)
    wanted = [f"*/src/{path}" for path in (*MODULES, *_HOTSPOT)]
    run_step(
        ["tar", "-xf", str(tarball), "-C", str(folder), "--wildcards", *wanted, "*/make/conf/version-numbers.conf"],
        fix="remove the file and try again",
    )
    numbers = next(folder.glob("*/make/conf/version-numbers.conf"), None)
    if numbers is None or not _is_version(numbers.read_text(encoding="utf-8"), jdk.version):
        raise AssemblyError(
            f"{tarball.name} is not the source of OpenJDK {jdk.version}",
            fix="give the source of the JDK's own version",
        )
    return numbers.parents[2] / "src"


def _is_version(conf: str, version: str) -> bool:
    parts = [
        match[1] if (match := re.search(rf"^DEFAULT_VERSION_{name}=(\d+)", conf, re.MULTILINE)) else "0"
        for name in ("FEATURE", "INTERIM", "UPDATE", "PATCH")
    ]
    return [*version.split("."), "0", "0", "0"][:4] == parts


def _download(jdk: Jdk, folder: Path) -> Path:
    """The upstream archive alone. An archive leaves the suites' indexes months before it leaves the mirror."""
    name = f"openjdk-25_{jdk.full_version}.orig.tar.xz"
    known = known_checksums("jdk_sources.sha256").get(name)
    if known is not None:
        apt = PrivateApt(folder / "apt/pool", _SUITES[0], "deb-src")
        with suppress(AptError):
            return apt.pool_file(f"pool/main/o/openjdk-25/{name}", f"SHA256:{known}", folder)
    return _download_indexed(jdk, folder)


def _download_indexed(jdk: Jdk, folder: Path) -> Path:
    """The archive from the suite that has that version, checked against the suite's signed index."""
    seen: list[str] = []
    for suite in _SUITES:
        apt = PrivateApt(folder / "apt" / suite, suite, "deb-src")
        apt.update()
        versions = re.findall(r"^Version: (\S+)$", apt.cache("showsrc", "openjdk-25"), re.MULTILINE)
        seen += [f"{version} in {suite}" for version in versions]
        for version in versions:
            if version.startswith(f"{jdk.full_version}-"):
                return apt.source_file("openjdk-25", version, ".orig.tar.xz", folder)
    raise AssemblyError(
        f"the Debian mirror has no source of OpenJDK {jdk.full_version}, the JDK at {jdk.home}; it has "
        f"{', '.join(seen) or 'no OpenJDK 25'}",
        fix="install a Temurin JDK of one of these versions, or give the source by --jdk-source FILE",
    )
