"""What compiled programs say of how they were built: real compilers' output."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from touchstone.bench.binary_signs import binary_signs

_SOURCE = "int main(int count, char **words) { return count > 1 ? words[1][0] : 0; }"
_GO = "package main\nfunc main() { println(1) }\n"


def _compiled(folder: Path, *flags: str, compiler: str = "cc") -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    (folder / "main.c").write_text(_SOURCE)
    program = folder / "program"
    done = subprocess.run([compiler, *flags, str(folder / "main.c"), "-o", str(program)], check=False)
    if done.returncode:
        pytest.skip(f"{compiler} lacks {' '.join(flags)}")
    return program


@pytest.mark.parametrize(
    ("flags", "sign"),
    [
        (("-g",), "program: compiled without optimisation"),
        (("-g", "-O0"), "program: compiled without optimisation"),
        (("-g", "-Og"), "program: compiled without optimisation"),
        (("-O2", "-fsanitize=address"), "program: built with AddressSanitizer"),
        (("-O2", "-fsanitize=thread"), "ThreadSanitizer"),
        (("-O2", "--coverage"), "program: built with counters of coverage"),
    ],
)
def test_a_build_for_developers_is_seen_in_the_program(tmp_path: Path, flags: tuple[str, ...], sign: str) -> None:
    assert sign in "; ".join(binary_signs([_compiled(tmp_path, *flags)]))


@pytest.mark.parametrize("flags", [(), ("-O2",), ("-g", "-O2"), ("-g", "-Os"), ("-g", "-O3", "-static")])
def test_a_build_as_it_is_deployed_and_one_without_notes_say_nothing(tmp_path: Path, flags: tuple[str, ...]) -> None:
    assert binary_signs([_compiled(tmp_path, *flags)]) == []


@pytest.mark.parametrize(("flags", "sign"), [((), None), (("-gcflags=all=-N -l",), "compiled without optimisation")])
def test_go_notes_its_flags(tmp_path: Path, flags: tuple[str, ...], sign: str | None) -> None:
    if shutil.which("go") is None:
        pytest.skip("no go")
    (tmp_path / "main.go").write_text(_GO)
    (tmp_path / "go.mod").write_text("module demo\ngo 1.21\n")
    subprocess.run(["go", "build", *flags, "-o", "program", "."], cwd=tmp_path, check=True)
    found = binary_signs([tmp_path / "program"])
    assert (sign in "; ".join(found)) if sign else found == []


def test_other_files_links_and_programs_that_are_cut_off_say_nothing(tmp_path: Path) -> None:
    program = _compiled(tmp_path, "-g")
    for length in (0, 4, 60, 300, 9000):
        (tmp_path / f"cut-{length}").write_bytes(program.read_bytes()[:length])
    (tmp_path / "link").symlink_to(program)
    (tmp_path / "jar").write_bytes(b"PK\x03\x04")
    others = [path for path in tmp_path.iterdir() if path != program]
    assert binary_signs([*others, tmp_path / "missing", tmp_path]) == []
