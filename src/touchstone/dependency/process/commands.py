"""Carries out the commands of a dependency: with places filled in, in its folder, on its CPUs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.dependency.base import DependencyContext, DependencyError
from touchstone.dependency.process.settings import ProgramSettings, resolved
from touchstone.isolation.affinity import on_cpus
from touchstone.manifest.places import fill_places

_TOLD = 10


@dataclass(frozen=True)
class ProgramCommands:
    """Whose they are, and where they run."""

    name: str
    """The dependency's."""
    context: DependencyContext
    folder: Path

    def line(self, words: Sequence[str], places: Mapping[str, str]) -> list[str]:
        """The command as it is executed."""
        known = {"folder": str(self.folder), "scenario": str(self.context.scenario.resolve()), **places}
        program, *arguments = (fill_places(word, known) for word in words)
        return [str(resolved(program, self.context.scenario.resolve()) or program), *arguments]

    def environment(self) -> dict[str, str]:
        """Bare but for the PATH, on which a program is looked for: nothing else of the user's shell changes it."""
        path = os.environ.get("PATH", os.defpath)
        return {"PATH": path, "HOME": str(self.folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}

    def prepare(self, settings: ProgramSettings, places: Mapping[str, str]) -> None:
        """Carry out what follows a fresh start, one command after the other. Raises DependencyError."""
        for number, words in enumerate(settings.prepare, 1):
            self.carry_out(words, places, f"command {number} of `prepare`", settings.ready_s)

    def carry_out(self, words: Sequence[str], places: Mapping[str, str], what: str, within_s: float) -> str:
        """The command's standard output, stripped. Raises DependencyError that says `what` has failed, and why."""
        line = self.line(words, places)
        try:
            with on_cpus(self.context.cpus):
                done = subprocess.run(
                    line,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    cwd=self.folder,
                    env=self.environment(),
                    timeout=within_s,
                    check=False,
                )
        except subprocess.TimeoutExpired as error:
            raise self._failed(line, f"{what} had not ended after {within_s:g} s") from error
        except OSError as error:
            raise self._failed(line, f"{what} cannot be started: {error.strerror or error}") from error
        output = done.stdout.decode(errors="replace").strip()
        if done.returncode != 0:
            lines = [*output.splitlines(), *done.stderr.decode(errors="replace").strip().splitlines()]
            raise self._failed(line, f"{what} ended with {done.returncode}: {' / '.join(lines[-_TOLD:])}")
        return output

    def _failed(self, line: Sequence[str], what: str) -> DependencyError:
        return DependencyError(
            what, where=f"dependency {self.name}: {' '.join(line)}", fix="correct the command in scenario.toml"
        )
