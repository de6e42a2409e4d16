"""A file is written whole. Devices, pipes and links stay in their places."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from touchstone.whole_file import write_whole


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    file, link = tmp_path / "kept/report.json", tmp_path / "report.json"
    file.write_text("older", encoding="utf-8")
    link.symlink_to(file)
    write_whole(link, "newer")
    assert (link.is_symlink(), file.read_text(encoding="utf-8")) == (True, "newer")
    assert [one.name for one in (tmp_path / "kept").iterdir()] == ["report.json"]


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    write_whole(pipe, "whole")
    reader.join()
    assert (read, stat.S_ISFIFO(pipe.stat().st_mode)) == (["whole"], True)


@pytest.mark.parametrize("to_file", [True, False])
def test_standard_output_is_written_to(tmp_path: Path, *, to_file: bool) -> None:
    script = "from pathlib import Path; from touchstone.whole_file import write_whole; print(1, flush=True)"
    script += "; write_whole(Path('/dev/stdout'), 'whole')"
    with (tmp_path / "out").open("w+", encoding="utf-8") as out:
        done = subprocess.run(
            [sys.executable, "-c", script], stdout=out if to_file else subprocess.PIPE, text=True, check=True
        )
        out.seek(0)
        assert (out.read() if to_file else done.stdout).endswith("whole")


def test_what_cannot_be_written_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=str(tmp_path)):
        write_whole(tmp_path, "whole")
    with pytest.raises(OSError, match="full"):
        write_whole(Path("/dev/full"), "whole")
    assert not tmp_path.with_name(tmp_path.name + ".unfinished").exists()
