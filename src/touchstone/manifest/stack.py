"""stack.toml: one implementation of a scenario, and the ways to build and run it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from touchstone.manifest.base import DocumentedAs, ManifestModel, Name
from touchstone.manifest.spoken import Label

Command = Annotated[
    list[str],
    Field(min_length=1),
    DocumentedAs("command (list of words: a program and its arguments)", "commands (each a list of words)"),
]
"""Words, not a shell line. A first word that is one of the needed tools is replaced by the path of that tool.
`{source}`, `{work}`, `{cache}`, `{base}` and `{tool:NAME}` are filled in (see docs/add-a-stack.md)."""


def _within(pattern: str) -> str:
    if pattern.startswith("/") or ".." in Path(pattern).parts or not pattern.strip("./"):
        raise ValueError(f"{pattern!r} does not lie within the work folder: write a path relative to it, without '..'")
    return pattern


Inside = Annotated[
    str,
    AfterValidator(_within),
    Field(json_schema_extra={"pattern": r"^(?!/)(?!(?:.*/)?\.\.(?:/|$))(?=.*[^./])"}),
    DocumentedAs("path within the work folder", "paths within the work folder"),
]
"""A path relative to the work folder, that does not leave it."""


class Install(ManifestModel):
    """Installs the dependencies of a stack before the build. The step has its own folder and is timed separately. The
    result is cached until the files, the commands, their environment or the tools' versions change.
    """

    commands: Annotated[list[Command], Field(min_length=1)]
    """Commands in order. They may use the network. A lock file should fix the versions: `["npm", "ci"]`."""
    files: list[Inside] = []
    """Glob patterns of the source files that the commands read: lock files and their like. All sources if empty."""
    leaves: list[Inside] = []
    """Files and folders that are copied into the work folder before the build: `node_modules`, `.venv`. None if the
    packages stay in the package manager's own store, as with Go, Cargo and Maven."""
    env: dict[str, str] = {}
    """Environment variables of the commands."""


class MemorySetting(ManifestModel):
    """One way to run under a memory limit; the search of the phase `floor` tries each."""

    title: str
    """Its name in the report."""
    args: list[str] = []
    """Arguments behind the program's name, in place of the variant's own heap flags. `{heap_mb}` is the limit in MiB
    times `heap_share`."""
    env: dict[str, str] = {}
    """Environment variables, next to the variant's; `{heap_mb}` as in `args`."""
    heap_share: Annotated[float, Field(gt=0, le=1)] = 0.6
    """The share of the limit that `{heap_mb}` stands for."""

    @model_validator(mode="after")
    def _uses_its_share(self) -> MemorySetting:
        if "heap_share" in self.model_fields_set and "{heap_mb}" not in " ".join([*self.args, *self.env.values()]):
            raise ValueError("`heap_share` is what {heap_mb} stands for, and neither `args` nor `env` says {heap_mb}")
        return self


class Profiled(ManifestModel):
    """How to build a variant's copy for a profiler, which needs symbols and frame pointers."""

    build: Annotated[list[Command], Field(min_length=1)] | None = None
    """Used instead of the variant's own `build`; by default the same commands."""
    build_env: dict[str, str] = {}
    """Environment variables of that build, next to the variant's own `build_env`."""


class Image(ManifestModel):
    """A container image: built from the stack's sources, or an existing one. `image = "NAME"` is short for `image = {
    reference = "NAME" }`.
    """

    reference: (
        Annotated[str, StringConstraints(pattern=r"^[^\s-]\S*$"), DocumentedAs("name of an image", "names of images")]
        | None
    ) = None
    """The name of an existing image: `registry/name:tag`, `name@sha256:...`."""
    dockerfile: Inside | None = None
    """To build an image: the Dockerfile's path in the stack's folder, which is the build context."""
    target: str | None = None
    """The stage to build; by default the last one."""
    args: dict[str, str] = {}
    """Build arguments (`ARG`)."""
    seccomp: Literal["unconfined"] | None = None
    """`unconfined`: system calls are not filtered, as for a plain process. By default the runtime's filter applies,
    which costs a little with each call and may refuse io_uring."""

    @model_validator(mode="before")
    @classmethod
    def _by_its_name(cls, data: Any) -> Any:
        return {"reference": data} if isinstance(data, str) else data

    @model_validator(mode="after")
    def _one_origin(self) -> Image:
        if (self.reference is None) == (self.dockerfile is None):
            raise ValueError("an image has a `dockerfile`, or is a reference: name one of them")
        if self.reference is not None and (self.target is not None or self.args):
            raise ValueError("`target` and `args` are for a `dockerfile`: nothing is built of a reference")
        return self


GrpcPort = Literal["free"] | Annotated[int, Field(ge=1, le=65535)]
"""A port that gRPC has for itself: any free one, or a fixed one."""


class Variant(ManifestModel):
    """One way to build or run a stack. If a variant has a `base`, its missing `run`, `run_in`, `port`,
    `grpc_port`, `artifacts`, `env`, `footprint`, `memory_settings` and `extra_configuration` are the base's.
    """

    title: str
    """Its title in the report."""
    base: Name | None = None
    """Another variant, whose finished build this one starts from; its folder is `{base}`. Without a `build` of its own
    it is the base's finished program, started in another way."""
    needs: dict[Name, str] = {}
    """Tools beyond the stack's own, as version ranges: `{ upx = ">=4" }`."""
    install: Install | None = None
    """In place of the stack's own `install`."""
    build: list[Command] = []
    """The commands that build it, in order, run in the work folder; none if there is nothing to build."""
    build_env: dict[str, str] = {}
    """Environment variables of the build."""
    artifacts: list[Inside] = []
    """All that is shipped, relative to the work folder: files, folders and glob patterns (`server.js`,
    `node_modules`, `dist/**`). A runtime that is one of the tools is not part of it."""
    footprint: list[str] = []
    """What an empty Linux needs next to the artifacts and their libraries: `jre`, `module:NAME` (a module of the JDK
    that only reflection finds), `library:NAME` (a library that a program loads at run time without being linked with
    it), `certificates`, `zoneinfo`, or a file's absolute path."""
    run: Command | None = None
    """The command that starts the service. A variant needs a `run`, a `base` with a `run`, or an `image`."""
    run_in: Inside | None = None
    """The folder in which the service is started, if it reads files there; by default the work folder. In `run`, the
    program's path is relative to the work folder, and its arguments are relative to this folder."""
    image: Image | None = None
    """Instead of `run`: a container image, built from a Dockerfile or fetched by its reference, and run by podman or
    docker. The image has its own command."""
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """The fixed port of a service that ignores `PORT`; that port of this machine must be free. Contenders with the
    same port cannot run at once, and are loaded in whole windows. Leave `port` out if the service takes its port from
    `PORT`, `run` or `env`."""
    grpc_port: GrpcPort | None = None
    """The port of gRPC calls, where it is not the service's one port: `"free"`, the one in `GRPC_PORT`, also
    `{grpc_port}` in `run` and `env`; or a fixed one of a service that ignores `GRPC_PORT`."""
    env: dict[str, str] = {}
    """Environment variables of the service, next to those that the scenario gives."""
    memory_settings: list[MemorySetting] = []
    """Ways to run under a memory limit, all of which the phase `floor` tries; by default only the variant itself."""
    exhibit: str | None = None
    """For a variant with a deliberate defect: a sentence about the defect. Exhibits run only with `--exhibits`."""
    sound_twin: Name | None = None
    """For an exhibit: the variant (of the same stack) that lacks the defect."""
    train: Command | None = None
    """For an AOT cache: the command of the training run, for which touchstone uses the contract as load."""
    native: bool = False
    """Whether its build takes minutes, like that of a native image. Such builds run one at a time, and the variant
    runs only if it is named."""
    profiled: Profiled | None = None
    """A copy for the phase `profile`; without it the variant itself is profiled. A variant without a `build` takes it
    from its base."""
    extra_configuration: list[str] = []
    """Files of metadata that was written by hand for a native image; their lines are counted and shown."""


NOT_OF_IMAGES = (
    "base",
    "needs",
    "install",
    "build",
    "build_env",
    "artifacts",
    "footprint",
    "run",
    "run_in",
    "train",
    "native",
    "profiled",
    "extra_configuration",
)


class Stack(ManifestModel):
    """The whole of stack.toml."""

    schema_: Literal[1] = Field(alias="schema")
    """The format version of this file."""
    name: Name
    """The stack's name; a contender is called `stack/variant`."""
    scenario: Name
    """The name of the scenario that it implements."""
    title: str
    """Its title in lists and reports."""
    language: str
    """The language that it is written in, for the reader of the report."""
    summary: str = ""
    """Its components, for the reader of the report."""
    needs: dict[Name, str] = {}
    """Tools and version ranges: `{ go = ">=1.24" }`; `touchstone doctor` lists the tools that are known."""
    sources: list[str] = ["**/*"]
    """Glob patterns of the files that the build needs, relative to this folder."""
    extra_sources: dict[str, str] = {}
    """Folders outside this one that the build needs: their name in the work folder, and their path relative to this
    folder."""
    install: Install | None = None
    """How dependencies are installed; for all variants that have no `base` and no `install` of their own."""
    speaks: list[Label] = []
    """The protocols that the stack speaks: `h1`, `h1-tls`, `h2c`, `h2`; by default all that loads use. Loads in other
    protocols leave the stack out."""
    by_default: bool = True
    """Whether the stack runs when no stacks are named. If not, name it, or use `--stacks all`."""
    default_variants: list[Name] = []
    """The variants that run when none is named; by default all that are neither native nor exhibits."""
    variants: Annotated[dict[Name, Variant], Field(min_length=1)]
    """The ways to build and run it, each under a name of your choice."""
    folder: Path = Path()
    """Where stack.toml lies; set by the reader."""

    @model_validator(mode="after")
    def _variants_fit(self) -> Stack:
        for name, variant in self.variants.items():
            if variant.base is not None and variant.base not in self.variants:
                raise ValueError(f"variants.{name}.base is {variant.base!r}, which is not a variant of this stack")
            if variant.sound_twin is not None and variant.sound_twin not in self.variants:
                raise ValueError(
                    f"variants.{name}.sound_twin is {variant.sound_twin!r}, which is not a variant of this stack"
                )
            if variant.image is not None:
                self._is_only_an_image(name)
            elif variant.run is None and variant.base is None:
                raise ValueError(f"variants.{name} has no `run`, no `image` and no `base` to take either from")
            self._uses_what_it_says(name)
            self._ships_what_it_installs(name)
        self._is_installed_for_a_variant()
        for name in self.default_variants:
            if name not in self.variants:
                raise ValueError(f"default_variants names {name!r}, which is not a variant of this stack")
        return self

    def install_of(self, name: str) -> Install | None:
        """What is installed for this variant itself: a variant with a base finds in it what the base installed."""
        variant = self.variants[name]
        return variant.install or (self.install if variant.base is None and variant.image is None else None)

    def _has_grpc_port(self, name: str) -> bool:
        """Whether a free port for gRPC is given to a variant: by itself, or by the base that it has it from."""
        seen = {name}
        while (variant := self.variants[name]).grpc_port is None and variant.base in self.variants.keys() - seen:
            name = variant.base
            seen.add(name)
        return variant.grpc_port == "free"

    def _is_only_an_image(self, name: str) -> None:
        """Refuse other build and run keys in a variant with an image, which defines them itself."""
        variant = self.variants[name]
        for key in NOT_OF_IMAGES:
            if key in variant.model_fields_set:
                raise ValueError(f"variants.{name} is an image, to which `{key}` does not apply: leave it out")
        if any(setting.args for setting in variant.memory_settings):
            raise ValueError(f"variants.{name} is an image, whose command is its own: give memory_settings by `env`")
        for other, one in self.variants.items():
            if one.base == name:
                raise ValueError(f"variants.{other}.base is {name!r}, an image, which nothing can be built upon")

    def _uses_what_it_says(self, name: str) -> None:
        """A key that nothing reads would be taken for one that works."""
        variant = self.variants[name]
        copied = variant.profiled
        if variant.port is not None and "{port}" in " ".join([*(variant.run or []), *variant.env.values()]):
            raise ValueError(
                f"variants.{name} has a `port`, for a service with a fixed port, and uses {{port}}: "
                "leave one of the two out"
            )
        if "{grpc_port}" in " ".join([*(variant.run or []), *variant.env.values()]) and not self._has_grpc_port(name):
            raise ValueError(f'variants.{name} uses {{grpc_port}}: set `grpc_port = "free"`, or leave the place out')
        builds = bool(variant.build or (copied and copied.build))
        if variant.build_env and not builds:
            raise ValueError(
                f"variants.{name} has `build_env` and no `build`, so that nothing is built with it: add `build`, or "
                "write into `env` what the service is to get"
            )
        if copied and copied.build_env and not builds:
            raise ValueError(f"variants.{name} has `profiled.build_env`, and neither it nor `profiled` has a `build`")
        if variant.install and variant.base and not variant.build and not variant.train:
            raise ValueError(
                f"variants.{name} has a `base`, an `install` and no `build`: it is the finished program of its base, "
                "in which nothing is installed any more; leave `install` out, or add `build`"
            )
        if variant.sound_twin is not None and variant.exhibit is None:
            raise ValueError(
                f"variants.{name} has a `sound_twin` and is not an exhibit: add `exhibit`, or leave it out"
            )

    def _is_installed_for_a_variant(self) -> None:
        if self.install is not None and all(self.install_of(name) is not self.install for name in self.variants):
            raise ValueError(
                "`install` is used by no variant: each has one of its own, a `base` or an `image`; leave it out, or "
                "move it into the variant that needs it"
            )

    def _ships_what_it_installs(self, name: str) -> None:
        """Without a build, what the installation leaves is there to be run: its bytes count."""
        variant, install = self.variants[name], self.install_of(name)
        if install is None or variant.build or variant.base is not None:
            return
        for left in install.leaves:
            parents = {str(path) for path in (Path(left), *Path(left).parents)}
            if not any(str(Path(a.removesuffix("/**"))) in parents for a in variant.artifacts):
                raise ValueError(
                    f"variants.{name} has no build, so that it needs {left!r} to run: add it to its `artifacts`"
                )
