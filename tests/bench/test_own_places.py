"""A contender sees the temporary folders as they are, and changes them for itself alone."""

from __future__ import annotations

import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from touchstone.bench.base import Built
from touchstone.bench.own_places import _are_permitted, own_places
from touchstone.isolation.process import start_process

pytestmark = pytest.mark.skipif(not _are_permitted(), reason="no layers are permitted here")
PLACES = ("/tmp", "/var/tmp", "/dev/shm")


@pytest.fixture
def work() -> Iterator[Path]:
    """A work folder below /tmp, where a lab's cache may be."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def said(work: Path, program: str, env: Mapping[str, str] | None = None) -> str:
    """What a contender's program printed in one start."""
    argv = (sys.executable, "-c", f"from pathlib import Path\n{program}")
    log = work / "log"
    log.unlink(missing_ok=True)
    with own_places(Built(work, (), argv, env or {}), env or {}) as places:
        assert places is not None
        process = start_process(argv, env=env or {}, cwd=work, log=log, places=places)
        assert process.popen.wait(20) == 0, log.read_text()
        layers = list(places.layered.values())
    assert not any(layer.exists() for layer in layers)
    return log.read_text().strip()


def test_neither_does_one_in_shared_memory_that_outlives_its_maker(work: Path) -> None:
    key = uuid.uuid4().int & 0x7FFFFFFF
    make = f"import ctypes\nprint(ctypes.CDLL(None).shmget({key}, 4096, 0o1000 | 0o2000 | 0o600) >= 0)"
    assert [said(work, make), said(work, make)] == ["True", "True"]  # IPC_CREAT | IPC_EXCL: it was not there


@pytest.mark.parametrize("place", PLACES)
def test_a_word_to_the_next_start_does_not_arrive(work: Path, place: str) -> None:
    name = f"word-{uuid.uuid4()}"
    program = f"word = Path('{place}').joinpath('{name}')\nprint(word.exists())\nword.touch()\nprint(word.exists())"
    assert [said(work, program).split() for _ in range(2)] == [["False", "True"]] * 2
    assert not Path(place, name).exists()


def test_what_is_there_can_be_read_and_stays_as_it_was(work: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as other:
        file = Path(other) / "settings"
        file.write_text("machine's")
        # Put together there, so that its command does not name it.
        program = f"file = Path('/tmp').joinpath('{file.parent.name}', 'settings')\n"
        program += "print(file.read_text())\nfile.write_text('mine')\nprint(file.read_text())"
        assert said(work, program).split() == ["machine's", "mine"]
        assert file.read_text() == "machine's"


def test_its_work_folder_and_what_its_environment_names_are_shared(work: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as data:
        database = Path(data) / "items.db"
        program = "import os\nPath('left').touch()\nPath(os.environ['DATABASE_PATH'] + '-wal').touch()"
        said(work, program, {"DATABASE_PATH": str(database), "TMPDIR": "/tmp"})
        assert (work / "left").exists()
        assert [path.name for path in Path(data).iterdir()] == ["items.db-wal"]


def test_a_file_that_is_named_directly_below_a_place_takes_the_place_along(work: Path) -> None:
    name = f"items-{uuid.uuid4()}.db"
    with own_places(Built(work, (), ("program",), {}), {"DATABASE_URL": f"sqlite:/var/tmp/{name}"}) as places:
        assert places is not None
        assert list(places.layered) == [Path("/tmp")]


def test_an_image_has_places_of_its_own_already(work: Path) -> None:
    built = Built(work, (), ("image",), {}, image=object())  # type: ignore[arg-type]
    with own_places(built, {}) as places:
        assert places is None
