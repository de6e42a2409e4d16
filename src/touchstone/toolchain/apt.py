"""Downloads from the machine's own Debian mirror, by apt, without a change to the machine.

apt is given folders of its own for sources, lists and packages, so that neither the system's configuration nor its
lists are touched. The mirror's address is read from the system's apt configuration, and apt checks downloads
against the archive's signed index by the keys that the system already trusts.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from touchstone.failure import TouchstoneError

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_APT_HELPER = "/usr/lib/apt/apt-helper"
_NO_MIRROR = "name a Debian mirror in /etc/apt (packages of Debian are needed), or give the file by hand"


class AptError(TouchstoneError):
    """apt is not there, knows no Debian mirror, or could not download."""


def debian_mirror() -> str:
    """The address of the Debian archive that this machine's apt is configured for. Raises AptError."""
    if shutil.which("apt-get") is None:
        raise AptError("there is no apt-get on this machine", fix=_NO_MIRROR)
    targets = _run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(COMPONENT)"])
    for line in targets.splitlines():
        address, _, component = line.partition(" ")
        if component.strip() == "main" and re.search(r"/debian/?$", address):
            return address
    raise AptError("apt is configured for no Debian mirror", fix=_NO_MIRROR)


@dataclass(frozen=True)
class PrivateApt:
    """apt for one suite of the configured mirror, with all its state below `folder`."""

    folder: Path
    suite: str
    kind: Literal["deb", "deb-src"]

    def update(self) -> None:
        """Fetch the suite's signed index. Raises AptError."""
        sources = self.folder / "sources"
        for needed in (sources, self.folder / "lists/partial", self.folder / "cache/archives/partial"):
            needed.mkdir(parents=True, exist_ok=True)
        lines = [f"Types: {self.kind}", f"URIs: {debian_mirror()}", f"Suites: {self.suite}", "Components: main"]
        if _KEYRING.is_file():
            lines.append(f"Signed-By: {_KEYRING}")
        (sources / "touchstone.sources").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.get("update")

    def get(self, *words: str, cwd: Path | None = None) -> str:
        """apt-get with our folders. Raises AptError."""
        return _run(["apt-get", "-q", *self._folders(), *words], cwd=cwd)

    def cache(self, *words: str) -> str:
        """apt-cache with our folders; empty if it knows nothing."""
        return _run(["apt-cache", *self._folders(), *words], may_fail=True)

    def source_file(self, package: str, version: str, ending: str, folder: Path) -> Path:
        """Download the one file of a source package whose name ends so; apt checks its hash. Raises AptError."""
        listed = self.get("source", "--download-only", "--print-uris", f"{package}={version}")
        for address, name, _size, checksum in re.findall(r"^'([^']+)' (\S+) (\d+) (\S+:\S+)", listed, re.MULTILINE):
            if name.endswith(ending) and name.startswith(f"{package}_"):
                return self._download(address, checksum, folder / str(name))
        raise AptError(f"the source of {package} {version} has no file *{ending}", fix=_NO_MIRROR)

    def pool_file(self, path: str, checksum: str, folder: Path) -> Path:
        """Download a file by its path on the mirror, whether an index names it or not. Raises AptError.

        `checksum` is what apt compares it with, such as SHA256:2dd6...
        """
        return self._download(f"{debian_mirror().rstrip('/')}/{path}", checksum, folder / Path(path).name)

    def _download(self, address: str, checksum: str, target: Path) -> Path:
        _run([_APT_HELPER, *self._folders(), "download-file", address, str(target), checksum])
        return target

    def _folders(self) -> list[str]:
        settings = {
            "Dir::Etc::SourceList": "/dev/null",
            "Dir::Etc::SourceParts": self.folder / "sources",
            "Dir::State::Lists": self.folder / "lists",
            "Dir::Cache": self.folder / "cache",
            # As root apt would drop to a user that may not write below somebody's home.
            "APT::Sandbox::User": "root",
        }
        return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def _run(command: Sequence[str], *, cwd: Path | None = None, may_fail: bool = False) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0 and not may_fail:
        raise AptError(
            f"`{' '.join([command[0], *(word for word in command[1:] if '::' not in word and word != '-o')])}` "
            f"failed: {done.stderr.strip()[-600:]}",
            fix="see that the mirror can be reached: `apt-get update` must work",
        )
    return done.stdout
