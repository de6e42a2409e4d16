"""A file is written whole. Devices, pipes and links stay in their places."""

from __future__ import annotations

import os
import subprocess
import sys
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
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as end:
        write_whole(pipe, "whole")
        assert (end.read(), pipe.is_fifo()) == ("whole", True)


_WRITE = """
import sys
from pathlib import Path
from touchstone.whole_file import write_whole
print(1, flush=True)
write_whole(Path(sys.argv[1]), "whole")
"""


def test_a_link_to_a_file_that_is_not_there_yet_stays(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")
    write_whole(link, "whole")
    assert (link.is_symlink(), (tmp_path / "file").read_text(encoding="utf-8")) == (True, "whole")


@pytest.mark.parametrize("to_file", [True, False])
def test_standard_output_is_written_to(tmp_path: Path, *, to_file: bool) -> None:
    with (tmp_path / "out").open("w+", encoding="utf-8") as out:
        done = subprocess.run(
            [sys.executable, "-c", _WRITE, "/dev/stdout"],
            stdout=out if to_file else subprocess.PIPE,
            text=True,
            check=True,
        )
        out.seek(0)
        assert (out.read() if to_file else done.stdout).endswith("whole")


def test_a_link_to_a_pipe_without_a_name_is_written_to(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/stdout")
    for place in ("/proc/self/fd/1", link):
        done = subprocess.run([sys.executable, "-c", _WRITE, place], stdout=subprocess.PIPE, text=True, check=True)
        assert done.stdout == "1\nwhole"


def test_links_in_a_circle_are_no_error(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    write_whole(one, "whole")
    assert one.read_text(encoding="utf-8") == "whole"


def test_what_cannot_be_written_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=str(tmp_path)):
        write_whole(tmp_path, "whole")
    with pytest.raises(OSError, match="full"):
        write_whole(Path("/dev/full"), "whole")
    assert not tmp_path.with_name(tmp_path.name + ".unfinished").exists()
