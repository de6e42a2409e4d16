"""What a build does not get to see: the user's home, and what earlier builds left in temporary folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from touchstone.isolation.private_places import PrivatePlaces, are_permitted, outermost
from touchstone.toolchain.cache import cache_folder
from touchstone.toolchain.tool import FoundTool

_TEMPORARY = (Path("/tmp"), Path("/var/tmp"))
_STORES = (
    ".bun",
    ".cache/deno",
    ".cargo",
    ".config/NuGet",
    ".config/pip",
    ".dotnet",
    ".gitconfig",
    ".gradle",
    ".m2",
    ".npm",
    ".npmrc",
    ".nuget",
    ".rustup",
    "go",
)
"""Of the user's home: where package managers keep what `install` fetched, toolchains, and how both are set up."""
PROOF = "/tmp, /var/tmp and the home folder were empty and its own"
NO_PROOF = (
    "the home folder was empty; /tmp and /var/tmp were the machine's, since no mount namespace is permitted here: "
    "a compiler cache in a fixed place would not be seen"
)


def package_stores() -> list[Path]:
    """The package managers' stores that the user's home has."""
    return [Path.home() / name for name in _STORES if (Path.home() / name).is_dir()]


def is_whole() -> bool:
    """Whether a build sees nothing of the machine's temporary folders either."""
    return are_permitted()


def empty_home(folder: Path) -> Path:
    """A home folder that holds nothing but links to the package managers' stores."""
    home = Path.home()
    for name in _STORES:
        link = folder / name
        if (home / name).exists() and not link.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(home / name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def private_places(folder: Path, kept: Iterable[Path], tools: Mapping[str, FoundTool]) -> PrivatePlaces | None:
    """Folders of its own below `folder` in place of the temporary ones and the home. None if that is not permitted.

    `kept` stay where they are, and so do the tools, whatever is on the PATH, and the package managers' stores.
    """
    if not are_permitted():
        return None
    home = Path.home().resolve()
    hidden = [place for place in (*_TEMPORARY, home) if place.is_dir() and place != Path("/")]
    replaced = {}
    for number, place in enumerate(hidden):
        replaced[place] = folder / str(number)
        replaced[place].mkdir(parents=True, exist_ok=True)
        replaced[place].chmod(0o1777)
    named = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    for tool in tools.values():
        named += [tool.path, *(Path(value) for value in tool.environment.values() if value.startswith("/"))]
    roots = {outermost(hidden, path) for name in named for path in (name, name.resolve())}
    stores = {path for name in _STORES for path in (home / name, (home / name).resolve())}
    whole = {*(path.resolve() for path in kept), *stores, cache_folder().resolve(), *(r for r in roots if r)}
    # What lies below another one that is kept is kept with it; a home within /tmp is still replaced.
    tops = [path for path in whole if path not in replaced and not whole.intersection(path.parents)]
    return PrivatePlaces(replaced, tuple(sorted(tops)))
