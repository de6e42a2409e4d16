"""Options that have no effect, and numbers that are none, are refused before anything is done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_commands import touchstone
from touchstone.cli.commands import COMMANDS, load_command


def options_with_a_number(command: Any, *words: str) -> Iterator[tuple[str, ...]]:
    for option in command.params:
        if option.type_descriptor.annotation is float:
            yield (*words, option.opts[0])
    for name, inner in getattr(command, "commands", {}).items():
        yield from options_with_a_number(inner, *words, name)


NUMBERS = [words for name in COMMANDS for words in options_with_a_number(load_command(name), name)]


def test_options_with_a_number_are_found() -> None:
    assert ("size", "--rate") in NUMBERS
    assert ("run", "--minutes") in NUMBERS


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "NaN", "1e999"])
@pytest.mark.parametrize("words", NUMBERS, ids=" ".join)
def test_no_option_takes_a_number_that_is_not_finite(tmp_path: Path, words: tuple[str, ...], value: str) -> None:
    *command, option = words
    done = touchstone(tmp_path, *command, f"{option}={value}")
    assert done.returncode == 2
    assert f"'{option}'" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "without"),
    [
        *((("claims", *given), "--run") for given in (["--rounds=2"], ["--quick"], ["--thorough"], ["--minutes=1"])),
        (("claims", "--allow-undecided"), "--gate"),
        (("compare", "a", "b", "--allow-undecided"), "--gate"),
        (("verify", "a", "--scenario=b"), "--minutes"),
        (("history", "export", "bencher", "--commit=HEAD"), "--run"),
        (("history", "export", "bencher", "--reference=a"), "--run"),
        (("toolchain", "crane", "--anew"), "native-image"),
        (("toolchain", "crane", "--jdk-source=absent"), "native-image"),
    ],
)
def test_an_option_without_the_one_that_it_is_about_is_refused(
    tmp_path: Path, words: tuple[str, ...], without: str
) -> None:
    done = touchstone(tmp_path, *words)
    assert done.returncode == 2
    assert f"has no effect without {without}" in done.stderr


def test_claims_measures_no_round(tmp_path: Path) -> None:
    assert touchstone(tmp_path, "claims", "--run", "--rounds=0").returncode == 2
