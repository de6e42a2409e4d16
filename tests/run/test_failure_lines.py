"""The immediate message about a service that ended while measured, or broke its contract."""

from __future__ import annotations

from pathlib import Path

from tests.judge.sound import first_load, loads, sound_run
from touchstone.record.sample import CheckOutcome, Exchange
from touchstone.run.failure_lines import EndedServices, broken_lines


def test_a_death_is_told_with_its_last_words(tmp_path: Path) -> None:
    sample = first_load(sound_run())
    (tmp_path / "server.log").write_text("listening\nFatal: out of unicorns\n")
    sample.process.log = "server.log"
    deaths = EndedServices(tmp_path)
    assert not list(deaths.lines(sample))
    sample.process.server_exit = "exited with code 3"
    told = list(deaths.lines(sample))
    assert told[0].endswith("the server exited with code 3 while it was measured (load)")
    assert told[-1] == "    | Fatal: out of unicorns"


def test_a_process_that_served_several_loads_dies_once(tmp_path: Path) -> None:
    first, second = loads(sound_run(), "go/std")[:2]
    deaths = EndedServices(tmp_path)
    for sample, log in ((first, "round-1.log"), (second, "round-1.log")):
        sample.process.id = sample.process.log = log
        sample.process.server_exit = "exited with code 3"
    assert list(deaths.lines(first))
    assert not list(deaths.lines(second)), "another load on the same process"
    second.process.id = second.process.log = "round-2.log"
    assert list(deaths.lines(second))


def test_a_broken_contract_is_told_with_the_end_of_the_log_that_says_why(tmp_path: Path) -> None:
    sample = first_load(sound_run())
    (tmp_path / "server.log").write_text("listening\nKeyError: 'unicorn'\n")
    sample.process.log = "server.log"
    assert not list(broken_lines(sample, tmp_path))
    broken = Exchange(request="GET /", expected="200", received="500")
    sample.checks = [CheckOutcome(id="root", says="it answers", passed=False, broken=[broken])]
    told = list(broken_lines(sample, tmp_path))
    assert told[0].endswith("breaks its contract: it answers: GET /: expected 200; received 500")
    assert told[-2:] == ["    | KeyError: 'unicorn'", f"  its log: {tmp_path / 'server.log'}"]


def test_a_broken_contract_of_a_service_that_wrote_nothing_or_has_no_log(tmp_path: Path) -> None:
    sample = first_load(sound_run())
    broken = Exchange(request="GET /", expected="200", received="500")
    sample.checks = [CheckOutcome(id="root", says="it answers", passed=False, broken=[broken])]
    assert len(list(broken_lines(sample, tmp_path))) == 1
    sample.process.log = "server.log"
    (tmp_path / "server.log").touch()
    assert list(broken_lines(sample, tmp_path))[1:] == [f"  its log: {tmp_path / 'server.log'} (it wrote nothing)"]
