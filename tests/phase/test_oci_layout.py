"""The image layout that crane writes holds the root that was run, and says how it is started."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import pytest

from tests.phase.oci import image
from touchstone.phase.footprint.empty_root import EmptyRoot, mount_prefix
from touchstone.phase.footprint.oci_layout import ImageConfig, ImageError, write_layout
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

CRANE = find_tool("crane")
PREFIX = mount_prefix()
needs_crane = pytest.mark.skipif(not isinstance(CRANE, FoundTool), reason=str(CRANE))
CONFIG = ImageConfig(["/bin/ls", "-a,b", 'say "x"'], {"A": "1,2=3", "EMPTY": ""}, Path("/srv/work"), 8080)


def root_of(folder: Path) -> EmptyRoot:
    root = EmptyRoot(folder / "root")
    root.add(Path("/bin/ls"), "artifacts")
    root.add_libraries(None)
    (root.folder / "proc/mounted").write_text("not of the image")
    (root.folder / "tmp/left").write_text("not of the image")
    return root


def written(tmp_path: Path, root: EmptyRoot, name: str = "layout") -> tuple[Path, str]:
    assert isinstance(CRANE, FoundTool)
    root.archive(tmp_path / "layer.tar")
    layout = tmp_path / name
    return layout, write_layout(CRANE.path, tmp_path / "layer.tar", CONFIG, layout)


@needs_crane
def test_the_layer_is_the_root_file_by_file(tmp_path: Path) -> None:
    root = root_of(tmp_path)
    layout, digest = written(tmp_path, root)
    told, _, members, contents = image(layout)
    assert told == digest
    assert contents == {str(path): (root.folder / path.relative_to("/")).read_bytes() for path in root.kinds}
    assert members["/bin/ls"].mode & 0o111
    assert members["/tmp"].mode == 0o1777
    assert {(m.uid, m.gid) for m in members.values()} == {(0, 0)}


@needs_crane
def test_the_configuration_says_how_it_is_started(tmp_path: Path) -> None:
    layout, _ = written(tmp_path, root_of(tmp_path))
    _, config, _, _ = image(layout)
    assert config["os"] == "linux"
    assert config["architecture"] == {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    assert config["config"]["Entrypoint"] == list(CONFIG.entrypoint)
    assert config["config"]["Env"] == ["A=1,2=3", "EMPTY="]
    assert config["config"]["WorkingDir"] == "/srv/work"
    assert config["config"]["ExposedPorts"] == {"8080/tcp": {}}


@needs_crane
def test_the_same_root_gives_the_same_image(tmp_path: Path) -> None:
    root = root_of(tmp_path)
    _, first = written(tmp_path, root, "first")
    os.utime(root.folder / "bin/ls", (1, 1))
    _, second = written(tmp_path, root, "second")
    assert first == second


@needs_crane
@pytest.mark.skipif(PREFIX is None, reason="this user may not mount")
def test_the_unpacked_layer_runs(tmp_path: Path) -> None:
    layout, _ = written(tmp_path, root_of(tmp_path))
    _, _, members, contents = image(layout)
    unpacked = EmptyRoot(tmp_path / "unpacked")
    for path, data in contents.items():
        target = unpacked.folder / path.removeprefix("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(members[path].mode)
    command = unpacked.command(PREFIX or [], Path("/tmp"), [], ["/bin/ls", "/"])
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert {"bin", "proc"} <= set(done.stdout.split())


@needs_crane
def test_no_registry_is_left_running(tmp_path: Path) -> None:
    written(tmp_path, root_of(tmp_path))
    left = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue
        if b"registry" in words and b"serve" in words and parent == str(os.getpid()):
            left.append(words)
    assert left == []


@needs_crane
def test_an_archive_that_is_none_is_said(tmp_path: Path) -> None:
    assert isinstance(CRANE, FoundTool)
    with pytest.raises(ImageError, match="crane append"):
        write_layout(CRANE.path, tmp_path / "missing.tar", CONFIG, tmp_path / "layout")


def test_a_crane_that_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="did not start"):
        write_layout(Path("/bin/true"), tmp_path / "x.tar", CONFIG, tmp_path / "layout")
