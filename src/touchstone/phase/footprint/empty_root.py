"""An empty Linux: a folder with nothing in it but what a program needs, and a way to run the program within it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.bench.artifact_identity import is_program
from touchstone.failure import TouchstoneError

_SYSTEM = ("proc", "dev")
"""What the kernel gives to every program; mounted, and counted nowhere."""

_ENTER = """
root=$1 folder=$2; shift 2
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do mount --bind "$1" "$root$1"; shift; done
shift
exec unshare --root "$root" --wd "$folder" -- "$@"
"""


class EmptyRootError(TouchstoneError):
    """A file that is needed is not there."""


def mount_prefix() -> list[str] | None:
    """The words that give a command mounts of its own; None where that is not permitted."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return None
    for words in ([unshare, "--mount"], [unshare, "--user", "--map-root-user", "--mount"]):
        probe = subprocess.run([*words, "mount", "--bind", "/tmp", "/tmp"], capture_output=True, check=False)
        if probe.returncode == 0:
            return words
    return None


@dataclass
class EmptyRoot:
    """The folder. Every file stands in it at the path that it has outside, so that commands stay as they are."""

    folder: Path
    kinds: dict[Path, str] = field(default_factory=dict)
    """What each copied file is there for, by its path within."""

    def __post_init__(self) -> None:
        for name in (*_SYSTEM, "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "tmp").chmod(0o1777)

    def add(self, path: Path, kind: str, target: Path | None = None) -> None:
        """Copy a file or a whole folder. Raises EmptyRootError if it is not there."""
        if path.is_dir():
            for member in sorted(path.rglob("*")):
                if member.is_file() or member.is_symlink():
                    self.add(member, kind, (target or path) / member.relative_to(path))
            return
        if not path.is_file():
            raise EmptyRootError(
                f"{path} is needed and does not exist", fix="install it, or fix `footprint` in stack.toml"
            )
        within = target or path
        copy = self.folder / within.relative_to("/")
        if within in self.kinds:
            return
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
        self.kinds[within] = kind

    def add_libraries(self, packer: Path | None) -> None:
        """Add the ELF interpreters and shared libraries of all that is there. `packer` is UPX, to look into files."""
        for within in list(self.kinds):
            copy = self.folder / within.relative_to("/")
            if is_program(copy):
                for library in libraries(copy, packer):
                    if not library.is_relative_to(self.folder):
                        self.add(library, "libraries")

    def command(self, prefix: Sequence[str], work: Path, mounts: Iterable[Path], argv: Sequence[str]) -> list[str]:
        """The command that runs `argv` within, in the folder `work`, with further folders mounted from outside."""
        places = [str(path) for path in mounts]
        for place in (*places, str(work)):
            (self.folder / Path(place).relative_to("/")).mkdir(parents=True, exist_ok=True)
        shell = ["/bin/sh", "-e", "-c", _ENTER, "enter", str(self.folder), str(work)]
        return [*prefix, *shell, *places, "--", *argv]

    def bytes_by_kind(self) -> dict[str, int]:
        """The bytes of the files, by what they are there for."""
        summed: dict[str, int] = {}
        for within, kind in self.kinds.items():
            size = (self.folder / within.relative_to("/")).stat().st_size
            summed[kind] = summed.get(kind, 0) + size
        return summed

    def listing(self) -> dict[str, int]:
        """Bytes by file, the largest first."""
        sizes = {str(within): (self.folder / within.relative_to("/")).stat().st_size for within in self.kinds}
        return dict(sorted(sizes.items(), key=lambda item: -item[1]))

    def members(self) -> list[str]:
        """What belongs to it, as paths from its folder: the copied files, their folders, and the empty places to mount.

        What the program wrote while it ran, and the folders that were mounted for it, do not.
        """
        files = {path.relative_to("/") for path in self.kinds}
        folders = {folder for file in files for folder in file.parents} | {Path(name) for name in (*_SYSTEM, "tmp")}
        return sorted(str(path) for path in files | folders)

    def archive(self, target: Path) -> None:
        """Write it as a tar archive, the same for the same files. Raises EmptyRootError."""
        # On the disk and not by a pipe: an argument list has an end, and two pipes at a time need a thread.
        names = self.folder.with_name(f"{self.folder.name}.members")
        names.write_text("".join(f"{name}\0" for name in self.members()), encoding="utf-8")
        settled = ["--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--no-recursion"]
        command = ["tar", "-C", str(self.folder), *settled, "--null", "-T", str(names), "-cf", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        names.unlink()
        if done.returncode != 0:
            raise EmptyRootError(
                f"tar failed: {done.stderr.strip()[-200:]}",
                where=str(self.folder),
                fix="see that there is room on the disk",
            )


def compressed_bytes(archive: Path, zstd: Path) -> int:
    """The bytes of an archive, compressed by zstd -19. Raises EmptyRootError."""
    with subprocess.Popen([str(zstd), "-19", "-q", "-c", str(archive)], stdout=subprocess.PIPE) as packed:
        assert packed.stdout is not None  # it was asked for as a pipe
        total = 0
        while block := packed.stdout.read(1 << 16):
            total += len(block)
    if packed.returncode != 0:
        raise EmptyRootError("zstd failed", where=str(archive), fix="see that there is room on the disk")
    return total


def libraries(path: Path, packer: Path | None = None) -> list[Path]:
    """The interpreter and the libraries that a program is linked with; none if it is static."""
    if packer is not None and _is_packed(path):
        plain = path.with_name(f".{path.name}-unpacked")
        subprocess.run([str(packer), "-q", "-d", "-o", str(plain), str(path)], check=True, capture_output=True)
        try:
            return libraries(plain)
        finally:
            plain.unlink()
    done = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        # "not a dynamic executable": a static program.
        return []
    # What is "not found" is either in the program's own folder and loaded by itself, as libjvm.so is, or belongs to a
    # part that is never used, as X11 does to a server's JRE. If it is needed after all, the run in the root shows it.
    found = re.findall(r"(?:=> |^\s*)(/\S+) \(0x", done.stdout, re.MULTILINE)
    return [Path(name) for name in dict.fromkeys(found)]


def find_library(name: str) -> Path:
    """Where the dynamic linker finds a library, such as libm.so.6. Raises EmptyRootError if it is not there."""
    ldconfig = shutil.which("ldconfig", path="/sbin:/usr/sbin:/bin:/usr/bin")
    listed = ""
    if ldconfig is not None:
        listed = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=False).stdout
    # A name may be listed for several machines: this one's own comes first.
    found = re.search(rf"^\s*{re.escape(name)} \([^)]*\) => (/\S+)$", listed, re.MULTILINE)
    if found is None:
        raise EmptyRootError(f"there is no library {name}", fix="install it, or fix `footprint` in stack.toml")
    return Path(found[1])


def _is_packed(path: Path) -> bool:
    with path.open("rb") as stream:
        return b"UPX!" in stream.read(4096)
