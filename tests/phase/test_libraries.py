"""Code without symbols is known by its file."""

from __future__ import annotations

import ctypes
import os

from touchstone.phase.profile.libraries import MappedLibraries, library_name, mapped_code

MAPS = """\
5581e000-5581f000 r--p 00000000 08:01 131 /usr/bin/users
5581f000-55820000 r-xp 00001000 08:01 131 /usr/bin/users
7f000000-7f001000 rwxp 00000000 00:00 0
7f002000-7f003000 r-xp 00000000 08:01 7 /t/sqlite-3.54-0e8b7c1a-90ab-4cde-8f01-23456789abcd-libsqlite.so (deleted)
7ffd0000-7ffd2000 r-xp 00000000 00:00 0 [vdso]
"""


def test_only_what_can_be_executed_is_code() -> None:
    names = [code.name for code in mapped_code(MAPS)]
    assert names == ["[users]", "[code made at run time]", "[sqlite-3.54-libsqlite.so]", "[vdso]"]


def test_a_library_is_called_alike_in_every_start() -> None:
    assert library_name("/tmp/a-0e8b7c1a-90ab-4cde-8f01-23456789abcd-libx.so") == "a-libx.so"


def test_an_address_is_within_the_file_that_is_mapped_there() -> None:
    libraries = MappedLibraries([os.getpid()])
    address = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value
    assert address is not None
    assert libraries.name(os.getpid(), address).startswith("[libc")
    assert libraries.name(os.getpid(), 8) == "[unknown]"
    assert libraries.name(1 << 40, address) == "[unknown]"
