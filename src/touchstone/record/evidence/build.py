"""How an artifact came about."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from touchstone.record.base import Record


class InstallEvidence(Record):
    """How a build got its dependencies."""

    commands: list[list[str]] = []
    files: list[str] = []
    """Patterns of the files that the commands read; all sources if empty."""
    leaves: list[str] = []
    """What was laid into the work folder."""
    key: str = ""
    seconds: float = 0.0
    cached: bool = False
    """True if an equal installation was there already; `seconds` is what that one took."""
    measured_at: AwareDatetime | None = None


class BuildEvidence(Record):
    """How an artifact came about."""

    kind: Literal["build"] = "build"
    commands: list[list[str]] = []
    env: dict[str, str] = Field(default={}, exclude_if=lambda env: not env)
    """What the manifest sets for the build beyond touchstone's own variables."""
    install: InstallEvidence | None = None
    """What this build itself installed; what its base installed stands with the base."""
    cold: bool = False
    cold_proof: list[str] = []
    """What was looked at to say that the build was cold, a line each."""
    cached: bool = False
    """True if nothing was built: key and artifact were there from before."""
    key: str = ""
    tools: dict[str, str] = {}
    builder: str | None = None
    artifacts: dict[str, int] = {}
    """Bytes by artifact: a file, a folder, or a pattern with all that it stands for."""
    cold_s: float | None = None
    """This and the next figures, up to `steal_s`, are of this build alone, without its base's; kept with the build in
    the cache.
    """
    warm_s: float | None = None
    made_again: bool = Field(default=True, exclude_if=lambda made: made)
    """False if a second build took everything for up to date, and made none of what had been taken away: it has no
    time, and what the first one left is what is measured.
    """
    cpu_s: float | None = None
    memory_peak: int | None = None
    other_cpu_s: float | None = None
    """CPU seconds of everything else on the machine during the cold build."""
    steal_s: float | None = None
    """CPU seconds that the hypervisor gave to others during the cold build."""
    prebuilt: list[str] = []
    """Artifacts in a compiled form that are, byte for byte, a file of the sources."""
    signs: list[str] = Field(default=[], exclude_if=lambda signs: not signs)
    """What the built programs themselves say of a build for developers: sanitizers, and compilers' notes."""
    older: list[str] = []
    """What the cold build left in a compiled form with a time from before the build."""
    measured_at: AwareDatetime | None = None
    """When the figures were measured: earlier than the run if the build came from the cache."""
