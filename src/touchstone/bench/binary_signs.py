"""What a compiled program itself says of how it was built: without optimisation, with a sanitizer, with counters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from touchstone.bench.artifact_identity import is_program

_MOST_FILES, _MOST_UNITS = 20, 400
"""Executables and libraries that are looked at, and units of each: more say the same."""
_RUNTIMES = re.compile(r"lib(?:clang_rt\.)?(asan|tsan|msan|lsan|ubsan|hwasan)\b")
_ADDRESS, _UNDEFINED = b"\0__asan_init\0", b"\0__ubsan_handle_add_overflow\0"
_SYMBOLS = {
    _ADDRESS: "AddressSanitizer",
    b"\0__tsan_init\0": "ThreadSanitizer",
    b"\0__msan_init\0": "MemorySanitizer",
    _UNDEFINED: "UndefinedBehaviorSanitizer",
    b"\0__gcov_init\0": "counters of coverage",
    b"\0__llvm_profile_runtime\0": "counters of coverage or of a profile",
}
"""Names of functions that are in a program only with what they belong to, also where it is linked in."""
_GCC = re.compile(r"GNU (?:C|C\+\+|Fortran|D|Ada)\d* ")
_OPTIMISED = re.compile(r" -O(?:[1-9]|s|z|fast)\b| -O(?= |$)")
_GO_UNOPTIMISED = re.compile(r"Go cmd/compile .*(?:^|[\s;])-N\b")
_GO_RACE = re.compile(r"Go cmd/compile .*\s-race\b")


def binary_signs(files: Iterable[Path]) -> list[str]:
    """Signs of a build for developers in executables and libraries, each with the file's name. Nothing of other files.

    A compiler's note (`DW_AT_producer` of DWARF) is only there with `.debug_info`. A program without it says nothing
    of its optimisation.
    """
    programs = (path for path in files if path.is_file() and not path.is_symlink() and is_program(path))
    return [f"{path.name}: {sign}" for path in islice(programs, _MOST_FILES) for sign in dict.fromkeys(_signs(path))]


def _signs(path: Path) -> list[str]:
    """What one program says. A file that is cut off or odd says nothing: it is not ours to judge its format."""
    try:
        with path.open("rb") as file:
            program = ELFFile(file)
            return [*_sanitizers(program), *_compilers(program)]
    except (ELFError, ValueError, KeyError, AssertionError, OSError, UnicodeDecodeError):
        return []


def _sanitizers(program: ELFFile) -> Iterator[str]:
    for section in program.iter_sections():
        if isinstance(section, DynamicSection):
            needed = [str(getattr(tag, "needed", "")) for tag in section.iter_tags("DT_NEEDED")]
            yield from (f"it needs {name}" for name in needed if _RUNTIMES.search(name))
        elif section.name in (".strtab", ".dynstr"):
            found = [name for name in _SYMBOLS if name in section.data()]
            # The runtime of the first holds the handlers of the second.
            yield from (f"built with {_SYMBOLS[name]}" for name in found if name != _UNDEFINED or _ADDRESS not in found)


def _compilers(program: ELFFile) -> Iterator[str]:
    if not program.has_dwarf_info():
        return
    units = islice(program.get_dwarf_info().iter_CUs(), _MOST_UNITS)
    notes = [note for unit in units if (note := _producer(unit.get_top_DIE().attributes.get("DW_AT_producer")))]
    gcc = [note for note in notes if _GCC.match(note)]
    bare = [note for note in gcc if not _OPTIMISED.search(note)]
    if len(bare) > len(gcc) / 2:
        yield f"compiled without optimisation ({bare[0]})"
    yield from (f"compiled without optimisation ({note})" for note in notes if _GO_UNOPTIMISED.search(note))
    yield from (f"compiled with the race detector ({note})" for note in notes if _GO_RACE.search(note))


def _producer(attribute: object) -> str:
    value = getattr(attribute, "value", b"")
    return value.decode(errors="replace") if isinstance(value, bytes) else ""
