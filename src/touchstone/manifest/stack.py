"""stack.toml: one implementation of a scenario, and the ways to build and run it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from touchstone.manifest.base import Name, Part

Command = Annotated[list[str], Field(min_length=1)]
"""Words, not a shell line. A first word that is one of the needed tools is replaced by the path of that tool.
`{source}`, `{work}`, `{cache}`, `{base}` and `{tool:NAME}` are filled in (see docs/add-a-stack.md)."""


class MemorySetting(Part):
    """One way to run under a memory limit; the floor search tries each. `{heap_mb}` is the limit times `heap_share`."""

    title: str
    args: list[str] = []
    """Arguments behind the program's name, in place of the variant's own heap flags."""
    env: dict[str, str] = {}
    heap_share: Annotated[float, Field(gt=0, le=1)] = 0.6


class Variant(Part):
    """One way to build or run a stack. Keys that are left out are taken from the variant named by `base`, if any."""

    title: str
    base: Name | None = None
    """Another variant whose finished build this one starts from; its folder is `{base}`."""
    needs: dict[Name, str] = {}
    """Tools beyond the stack's own, as version ranges: `{"go" = ">=1.24"}`."""
    fetch: list[Command] = []
    """Fetches what the build needs from package registries; not part of a build time."""
    build: list[Command] = []
    build_env: dict[str, str] = {}
    artifacts: list[str] = []
    """Files that the build leaves, relative to the work folder: what is shipped."""
    footprint: list[str] = []
    """What an empty Linux needs beside the artifacts and their libraries: `jre`, `module:NAME` (a module of the JDK
    that only reflection finds), `library:NAME` (one that no program is linked with, but loads while it runs),
    `certificates`, `zoneinfo`, or a file's absolute path."""
    run: Command | None = None
    env: dict[str, str] = {}
    memory_settings: list[MemorySetting] = []
    """Heap flags that the floor search sweeps with the limit; the variant as it is if there are none."""
    exhibit: str | None = None
    """If this variant holds a defect on purpose: which, in a sentence. Exhibits run only with --exhibits."""
    sound_twin: Name | None = None
    """For an exhibit: the variant (of the same stack) that lacks the defect."""
    train: Command | None = None
    """For an AOT cache: the run command of the training run, made by the lab with the contract as its load."""
    native: bool = False
    """True if this is a long native-image build, made one at a time."""
    extra_configuration: list[str] = []
    """Files of hand-written reachability metadata; their lines are counted and shown."""


class Stack(Part):
    """The whole of stack.toml."""

    schema_: Literal[1] = Field(alias="schema")
    name: Name
    scenario: Name
    title: str
    language: str
    summary: str = ""
    needs: dict[Name, str] = {}
    sources: list[str] = ["**/*"]
    """Glob patterns of the files that the build needs, relative to this folder."""
    extra_sources: dict[str, str] = {}
    """Folders outside this one that the build needs: name in the work folder -> path relative to this folder."""
    default_variants: list[Name] = []
    """The variants that run when none is asked for; all that are neither native nor exhibits if it is empty."""
    variants: Annotated[dict[Name, Variant], Field(min_length=1)]
    folder: Path = Path()
    """Where stack.toml lies; set by the reader."""

    @model_validator(mode="after")
    def _variants_fit(self) -> Stack:
        for name, variant in self.variants.items():
            if variant.base is not None and variant.base not in self.variants:
                raise ValueError(f"variants.{name}.base is {variant.base!r}, which is no variant of this stack")
            if variant.sound_twin is not None and variant.sound_twin not in self.variants:
                raise ValueError(
                    f"variants.{name}.sound_twin is {variant.sound_twin!r}, which is no variant of this stack"
                )
            if variant.run is None and variant.base is None:
                raise ValueError(f"variants.{name} has no `run` and no `base` to take it from")
        for name in self.default_variants:
            if name not in self.variants:
                raise ValueError(f"default_variants names {name!r}, which is no variant of this stack")
        return self
