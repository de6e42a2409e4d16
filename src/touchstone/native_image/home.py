"""Where the assembled builder is, and its parts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from touchstone.toolchain.cache import cache_folder

SVM_VERSION = "25.0.2"
"""The image builder's version on Maven Central. Later ones do not resolve whole."""

PLATFORM = "linux-amd64"


@dataclass(frozen=True)
class BuilderHome:
    """The builder's folder. Its layout is ours, except below `jdk`, where the builder looks for things itself."""

    folder: Path

    @property
    def modules(self) -> Path:
        """The builder's modules."""
        return self.folder / "modules"

    @property
    def upgrade(self) -> Path:
        """The compiler, which takes the place of the JDK's module of the same name."""
        return self.folder / "upgrade"

    @property
    def jdk(self) -> Path:
        """A copy of the JDK, with what the builder expects to find within one."""
        return self.folder / "jdk"

    @property
    def static_libraries(self) -> Path:
        """The JDK's own C libraries, to be linked into images."""
        return self.jdk / "lib/static" / PLATFORM / "glibc"

    @property
    def builder_libraries(self) -> Path:
        """Shared libraries that the builder loads into itself."""
        return self.jdk / "lib/svm/builder/lib"

    @property
    def c_libraries(self) -> Path:
        """Our C libraries, and the headers that the builder's queries include."""
        return self.folder / "clibraries" / PLATFORM

    @property
    def headers(self) -> Path:
        """The headers among them."""
        return self.c_libraries / "include"

    @property
    def exports(self) -> Path:
        """Options that open the JDK's and the compiler's packages to the builder."""
        return self.folder / "builder.options"

    @property
    def executable(self) -> Path:
        """The program that a build calls."""
        return self.folder / "bin/native-image"

    @property
    def work(self) -> Path:
        """Downloads and intermediate files; removed at the end."""
        return self.folder / "work"


def default_home() -> BuilderHome:
    """The home in touchstone's cache, where the tool registry looks."""
    return BuilderHome(cache_folder() / "native-image")
