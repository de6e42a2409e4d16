"""What is told at once of a service that ended while it was measured."""

from __future__ import annotations

from pathlib import Path

from tests.judge.sound import first_load, sound_run
from touchstone.run.failure_lines import death_lines


def test_a_death_is_told_with_its_last_words(tmp_path: Path) -> None:
    sample = first_load(sound_run())
    (tmp_path / "server.log").write_text("listening\nFatal: out of unicorns\n")
    sample.files["log"] = "server.log"
    assert not list(death_lines(sample, tmp_path))
    sample.server_exit = "exited with code 3"
    told = list(death_lines(sample, tmp_path))
    assert told[0].endswith("the server exited with code 3 while it was measured (load)")
    assert told[-1] == "    | Fatal: out of unicorns"
