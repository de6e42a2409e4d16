"""The dependency `process`: any program that listens on a port, by the command that starts it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from touchstone.dependency.base import Dependency, DependencyContext, UnknownActError
from touchstone.dependency.process.program import OutsideProgram, OwnProgram
from touchstone.dependency.process.settings import ProgramSettings, moved, read_settings, wrong_settings
from touchstone.manifest.places import fill_places

_NUMBER = re.compile(r"-?\d+(?P<fraction>\.\d+)?")
_ANSWER_S = 30.0


class Program(Dependency):
    """Settings: `run` (its command), `address` (what the service gets, `{host}:{port}`), `prepare` (commands after each
    fresh start), `ask` (the command that answers a question), and `ready_s` (30) within which its port must accept a
    connection. Without `run`, `address` is where somebody else runs it.

    In commands `{port}`, `{host}`, `{folder}` (its own, empty at each fresh start), `{scenario}` (the folder of
    scenario.toml) and in `ask` `{query}` are filled in. Acts: `stop`, and `start` on the same port and folder.
    """

    kind: ClassVar[str] = "process"
    acts: ClassVar[Mapping[str, tuple[str, ...]]] = {"stop": (), "start": ()}

    def __init__(
        self,
        name: str,
        env: str,
        settings: dict[str, Any],
        context: DependencyContext,
        *,
        number: int = 0,
    ) -> None:
        """Make it, not yet started; `number` is 0 for the whole, and counts its parts."""
        super().__init__(name, env, settings, context)
        asked = read_settings(settings)
        label = f"{name}-part-{number}" if number else name
        self._program: OwnProgram | OutsideProgram = (
            OwnProgram(name, label, context, asked) if asked.run else OutsideProgram(name, context, asked)
        )
        self.divisible = not self._program.outside
        self._untouched = False
        self._parts = 0

    @classmethod
    def wrong_settings(cls, settings: dict[str, Any], scenario: Path) -> list[tuple[str, str]]:
        """Unknown keys and places, values of another type, programs and files that are not there."""
        return list(wrong_settings(settings, scenario))

    @classmethod
    def wrong_query(cls, query: str, settings: dict[str, Any]) -> str | None:
        """Whether there is a command to ask it by."""
        return None if settings.get("ask") else "the dependency has no `ask` in its settings, the command that answers"

    def start(self) -> None:
        """Run it and prepare it, or see that it runs. Raises DependencyError with the end of its log."""
        self._make(self._program.settings)

    def part(self) -> Dependency:
        """One more process, with a port and a folder of its own."""
        if not self.divisible:
            return super().part()
        self._parts += 1
        part = Program(self.name, self.env, self.settings, self.context, number=self._parts)
        part.start()
        return part

    def reset(self, settings: dict[str, Any]) -> list[str]:
        """Start the program fresh: new files, new process, new port.

        One that was just started, and whose address nobody has been given, is fresh already.
        """
        wanted = read_settings(self.settings | settings)
        if not self._untouched or wanted != self._program.settings or not self._program.running:
            self._make(wanted)
        return []

    def address(self) -> dict[str, str]:
        """Where it listens, and the address that the settings make of it. Raises DependencyError if it has ended."""
        self._touch()
        host, port = self.reached_at()
        places = {"host": host, "port": port}
        whole = fill_places(self._program.settings.address, places)
        if self._program.outside and self.relay:
            whole = moved(whole, host, port)
        return {"address": whole, "url": whole, **places}

    def listens_at(self) -> tuple[str, str]:
        """Host and port of the program. Raises DependencyError if it has ended."""
        self._touch()
        return self._program.places["host"], self._program.places["port"]

    def ask(self, query: str) -> int | float | str:
        """What the command `ask` says on its standard output, as a number where it is one."""
        self._touch()
        places = {**self._program.places, "query": query}
        words = self._program.settings.ask
        output = self._program.commands.carry_out(words, places, "the command `ask`", _ANSWER_S)
        number = _NUMBER.fullmatch(output)
        if number is None:
            return output
        return float(output) if number["fraction"] else int(output)

    def act(self, act: str, arguments: dict[str, Any]) -> None:
        """`stop` takes it away, `start` brings it back with its folder as it was."""
        if act not in self.acts:
            raise UnknownActError(
                f"dependency {self.name!r} (process) cannot {act!r}", fix=f"its acts are: {', '.join(self.acts)}"
            )
        self._untouched = False
        if act == "stop":
            self._program.stop()
        else:
            self._program.start()

    def observe(self) -> dict[str, float]:
        """The memory of its process tree; nothing of one that somebody else runs."""
        self._program.see_that_it_runs()
        return {} if self._program.outside else {"rss": self._program.memory()}

    def read_settings(self) -> dict[str, Any]:
        """Which program it is."""
        return dict(self._program.described())

    def pids(self) -> list[int]:
        """The root of its process tree; none of one that somebody else runs."""
        return self._program.pids()

    def not_done(self) -> str | None:
        """Actions that are impossible for a program that somebody else runs."""
        if not self._program.outside:
            return None
        fresh = "made fresh by its `prepare` alone" if self._program.settings.prepare else "not made fresh"
        return f"{self.name} was not started by touchstone: it was {fresh}, and its CPU was not counted"

    def stop(self) -> None:
        """End it and remove its folder."""
        self._program.remove()

    def _make(self, settings: ProgramSettings) -> None:
        self._program.make(settings)
        self._untouched = not self._program.outside

    def _touch(self) -> None:
        self._program.see_that_it_runs()
        self._untouched = False
