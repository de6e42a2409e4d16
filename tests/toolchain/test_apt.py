"""Downloads by the machine's own apt, from a mirror that is a folder."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from touchstone.toolchain import apt
from touchstone.toolchain.apt import AptError, PrivateApt

pytestmark = pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt")

_PATH = "pool/main/o/openjdk-25/source.tar.xz"


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "mirror"
    (root / _PATH).parent.mkdir(parents=True)
    (root / _PATH).write_bytes(b"what was published")
    monkeypatch.setattr(apt, "debian_mirror", lambda: f"file://{root}/")
    return root


def test_a_file_that_no_index_names_is_downloaded_by_its_checksum(mirror: Path, tmp_path: Path) -> None:
    checksum = hashlib.sha256((mirror / _PATH).read_bytes()).hexdigest()
    fetched = PrivateApt(tmp_path / "apt", "trixie", "deb-src").pool_file(_PATH, f"SHA256:{checksum}", tmp_path)
    assert fetched == tmp_path / "source.tar.xz"
    assert fetched.read_bytes() == b"what was published"


def test_another_content_is_refused(mirror: Path, tmp_path: Path) -> None:
    with pytest.raises(AptError, match="Hash Sum mismatch"):
        PrivateApt(tmp_path / "apt", "trixie", "deb-src").pool_file(_PATH, f"SHA256:{'0' * 64}", tmp_path)
    assert not (tmp_path / "source.tar.xz").exists()
    assert mirror.is_dir()
