"""One variant's build: its folders, its sources and its tools, and the key of all that its result depends on."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.bench.artifact_files import artifact_files, artifact_paths
from touchstone.bench.artifact_identity import is_compiled
from touchstone.failure import TouchstoneError
from touchstone.manifest.sources import source_files
from touchstone.manifest.stack import Stack, Variant
from touchstone.phase.build import seclusion
from touchstone.phase.build.command import build_environment, command_line, fill_build_places
from touchstone.phase.build.metering import Meter, run_metered
from touchstone.phase.build.packages import as_fetched
from touchstone.toolchain.tool import FoundTool

_CACHES = {"GOCACHE": "go-build", "CCACHE_DIR": "ccache", "SCCACHE_DIR": "sccache"}
"""Compiler caches whose usual place outlives a build, and so would warm the next one that is called cold."""
_ROUNDED_S = 1.0
"""File systems round times, some of them to seconds."""


class BuildError(TouchstoneError):
    """A build command failed, or left no artifact."""


@dataclass
class Workshop:
    """One variant's build: its folders and its tools."""

    stack: Stack
    variant_name: str
    tools: Mapping[str, FoundTool]
    home: Path
    base: Path | None
    log: Path
    laid: set[Path] = field(default_factory=set)
    """What lay in the work folder before the build."""
    made: list[str] = field(default_factory=list)
    """The words of `artifacts` for which the cold build made something."""
    aside: dict[Path, Path] = field(default_factory=dict)
    """Where what the cold build left lies while a second one makes it again, by its place in the work folder."""

    @property
    def variant(self) -> Variant:
        """The variant as the manifest has it, without what it takes from its base."""
        return self.stack.variants[self.variant_name]

    @property
    def work(self) -> Path:
        """The folder that it is built and run in."""
        return self.home / "work"

    @property
    def cache(self) -> Path:
        """Where compilers may keep what they like, until the build is over."""
        return self.home / "cache"

    @property
    def places(self) -> dict[str, Path | None]:
        """What the places of a command stand for."""
        return {"work": self.work, "cache": self.cache, "source": self.stack.folder, "base": self.base}

    @property
    def named(self) -> str:
        """The stack and the variant, for an error."""
        return f"stack {self.stack.name}, variant {self.variant_name}"

    @property
    def artifacts(self) -> tuple[Path, ...]:
        """Files and folders that are shipped."""
        return artifact_paths(self.work, self.variant.artifacts)

    def fresh(self) -> list[str]:
        """Make empty folders and lay the sources in; what was seen to be empty, in words."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.cache.mkdir(parents=True)
        proof = [f"the compile cache was empty ({len(list(self.cache.iterdir()))} entries)"]
        proof.append(seclusion.PROOF if seclusion.is_whole() else seclusion.NO_PROOF)
        proof.append(
            f"the work folder was newly made ({'it did not exist' if not self.work.exists() else 'it existed'})"
        )
        if self.base is not None:
            shutil.copytree(self.base, self.work, symlinks=True)
            proof.append("it starts from the finished build of its base, whose time is added")
        else:
            self.lay_sources()
        return proof

    def lay_sources(self) -> None:
        """Copy the sources into the work folder."""
        self.work.mkdir(parents=True, exist_ok=True)
        for path, relative in source_files(self.stack):
            copy_into(path, self.work / relative)

    def begin(self) -> None:
        """Remember what lies in the work folder: all else is the build's."""
        self.laid = set(artifact_files([self.work]))

    def older_than(self, start: float) -> list[str]:
        """Compiled files of the build that last changed before `start`, in seconds of Unix time.

        A packer such as UPX gives what it writes the time of what it read: a file of that time is no older one. Nor is
        a package that lies next to the program as it was fetched.
        """
        times = {int(path.stat().st_mtime) for path in self.laid if path.exists()}
        made = (path for path in artifact_files(self.artifacts) if path not in self.laid and not path.is_symlink())
        early = [path for path in made if path.stat().st_mtime < start - _ROUNDED_S and is_compiled(path)]
        old = [path for path in early if int(path.stat().st_mtime) not in times]
        packages = as_fetched(old, seclusion.package_stores())
        return [str(path.relative_to(self.work)) for path in old if path not in packages]

    def set_artifacts_aside(self) -> None:
        """Take away what this build left, so that a warm build must make it again."""
        self.made = [word for word in self.variant.artifacts if self._made(word)]
        for number, path in enumerate(self._made(*self.variant.artifacts)):
            self.aside[path] = self.home / "aside" / str(number)
            self.aside[path].parent.mkdir(exist_ok=True)
            path.rename(self.aside[path])

    def made_again(self) -> bool:
        """Whether the second build has left something wherever the first one did. If not, the first one's is put back.

        A compiler that keeps account of what is up to date in a file of its own, as `tsc` does in `*.tsbuildinfo`,
        makes nothing again.
        """
        again = all(self._made(word) for word in self.made)
        if not again:
            for path, kept in self.aside.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                kept.replace(path)
        shutil.rmtree(self.home / "aside", ignore_errors=True)
        return again

    def _made(self, *words: str) -> list[Path]:
        """What these words of `artifacts` stand for, of what was not there before the build."""
        return [path for path in artifact_files(artifact_paths(self.work, words)) if path not in self.laid]

    def run(self, commands: Sequence[list[str]], env: Mapping[str, str], meter: Meter, what: str) -> None:
        """Carry out commands one after the other. `env` may name places. Raises BuildError that names the log.

        A build is secluded: nothing that was not installed for it can shorten it. An installation fills the user's own
        stores.
        """
        whole = build_environment(self.tools) | {name: str(self.cache / folder) for name, folder in _CACHES.items()}
        places = None
        if what == "build":
            whole["HOME"] = str(seclusion.empty_home(self.cache / "home"))
            whole.pop("XDG_CACHE_HOME", None)
            kept = [self.home, self.stack.folder, *([self.base] if self.base else [])]
            places = seclusion.private_places(self.cache / "private", kept, self.tools)
        whole |= {name: fill_build_places(text, self.places, self.tools) for name, text in env.items()}
        for words in commands:
            argv = command_line(words, self.places, self.tools)
            code = run_metered(argv, env=whole, cwd=self.work, log=self.log, meter=meter, places=places)
            if code != 0:
                raise BuildError(
                    f"{what} command ended with code {code}: {' '.join(words)}",
                    where=self.named,
                    fix=f"read the log: {self.log}",
                )


def copy_into(path: Path, target: Path) -> None:
    """Copy a file with its times, and make the folders that lead to it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, target)


def build_key(stack: Stack, variant_name: str, tools: Mapping[str, FoundTool]) -> str:
    """What the result of a build depends on: sources, installation, commands, environment and tool versions."""
    digest = hashlib.sha256()
    current: str | None = variant_name
    while current is not None:
        variant, install = stack.variants[current], stack.install_of(current)
        steps = [variant.build, variant.build_env, variant.artifacts, variant.train]
        digest.update(json.dumps([install.model_dump() if install else None, *steps]).encode())
        if variant.image is not None:
            digest.update(variant.image.model_dump_json(exclude={"seccomp"}).encode())
        for name in variant.extra_configuration:
            digest.update(name.encode() + b"\0" + _bytes_of(stack.folder / name))
        current = variant.base
    for path, relative in source_files(stack):
        if relative.name != "stack.toml":
            digest.update(str(relative).encode() + b"\0" + path.read_bytes())
    digest.update(tools_in_words(tools))
    return digest.hexdigest()[:16]


def tools_in_words(tools: Mapping[str, FoundTool]) -> bytes:
    """Which tools, in which versions: a part of a key."""
    versions = {name: f"{tool.version} {tool.path} {tool.note}".rstrip() for name, tool in sorted(tools.items())}
    return json.dumps(versions).encode()


def _bytes_of(path: Path) -> bytes:
    """A file's content; nothing if it is absent, which `configuration_lines` complains about."""
    return path.read_bytes() if path.is_file() else b""
