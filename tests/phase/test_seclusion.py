"""A build finds nothing of what earlier builds left: not in the home folder, nor in the temporary ones."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from touchstone.isolation.private_places import PrivatePlaces, are_permitted
from touchstone.isolation.process import start_process
from touchstone.phase.build.metering import Meter, run_metered
from touchstone.phase.build.seclusion import empty_home, private_places

needs_namespace = pytest.mark.skipif(not are_permitted(), reason="no mount namespace is permitted")


def run(script: str, places: PrivatePlaces | None, cwd: Path) -> str:
    """What a shell said; with private places, of those."""
    log = cwd / "log"
    log.unlink(missing_ok=True)
    code = run_metered(
        ["/bin/sh", "-c", script], env={"PATH": "/usr/bin:/bin"}, cwd=cwd, log=log, meter=Meter(), places=places
    )
    return f"{code}: {' '.join(log.read_text().splitlines()[1:])}"


@needs_namespace
def test_what_one_build_left_behind_another_does_not_find(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as machines:
        script = f"cat {machines}/object || (mkdir -p {machines} && echo compiled > {machines}/object && echo made)"
        kept = [tmp_path]
        for number in (1, 2):
            places = private_places(tmp_path / f"private-{number}", kept, {})
            assert run(script, places, tmp_path).endswith("made")
            # The warm build after it finds its output.
            assert run(script, places, tmp_path).endswith("compiled")
        assert list(Path(machines).iterdir()) == []


@needs_namespace
def test_what_is_kept_stays_and_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("here")
    places = private_places(tmp_path / "private", [tmp_path], {})
    assert run(f"cat source && echo && echo more > {tmp_path}/made && pwd", places, tmp_path) == f"0: here {tmp_path}"
    assert (tmp_path / "made").read_text() == "more\n"


@needs_namespace
def test_a_file_can_be_kept_and_the_tools_are(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    (home / "settings").write_text("kept")
    (home / "rest").write_text("hidden")
    places = PrivatePlaces({home: other}, (home / "settings",))
    log = tmp_path / "log"
    process = start_process(
        [
            sys.executable,
            "-c",
            f"import os; print(sorted(os.listdir({str(home)!r})), open({str(home / 'settings')!r}).read())",
        ],
        env={},
        cwd=tmp_path,
        log=log,
        places=places,
    )
    assert process.popen.wait(20) == 0
    assert log.read_text().strip() == "['settings'] kept"


def test_the_home_holds_links_to_stores_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = tmp_path / "user"
    (user / ".cargo").mkdir(parents=True)
    (user / ".ccache").mkdir()
    monkeypatch.setenv("HOME", str(user))
    home = empty_home(tmp_path / "home")
    assert [path.name for path in home.iterdir()] == [".cargo"]
    assert empty_home(home) == home
