"""Whether a JVM accepts its AOT cache (JEP 483) or CDS archive, and for which jar.

A JVM that finds the cache unfit for its flags goes on without it, with a line in its log at most. And JDK 25 checks
nothing of the files that an AOT cache was made from, as seen with 25.0.3: it runs the code in the cache whatever the
jar holds now, and where there is no jar. (CDS archives keep time and size of each jar, and are refused.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from touchstone.bench.artifact_files import artifact_files
from touchstone.bench.artifact_identity import is_code_cache, is_compiled
from touchstone.bench.base import Built
from touchstone.bench.program_output import ProgramOutput, program_name, program_output
from touchstone.record.process import AotCache

_NAMED = re.compile(r"-XX:(AOTCache|SharedArchiveFile)=([^\s,]+)")
_MODE = re.compile(r"-XX:AOTMode=|-Xshare:")
_OPTIONS = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
_STRICT = {"AOTCache": "-XX:AOTMode=on", "SharedArchiveFile": "-Xshare:on"}
_REFUSED = re.compile(r"Unable to (use|map) (AOT cache|(the )?shared)|processing the (AOT cache|shared archive)", re.I)
_WORTHLESS = re.compile(r"Picked up |.*Run with -Xlog|Loading static archive failed|Error occurred during init")
_PREFIX = re.compile(r"^(\[[^\]]*\])+ *")
_LOADED = re.compile(r"^(?:\[[^\]]*\])+ \S+ source: (shared objects file)?", re.MULTILINE)
_ROUNDED_S = 1.0
"""File systems round times, some of them to seconds."""
_SHOWN = 5


def aot_cache(built: Built, env: Mapping[str, str]) -> AotCache | None:
    """What the JVM itself says of the cache: its program is loaded with it, and not started. None if there is none."""
    if built.image is not None or program_name(built) != "java":
        return None
    words = " ".join([*built.argv[1:], *(env.get(name, "") for name in _OPTIONS)])
    if (named := _NAMED.search(words)) is None:
        return None
    path = built.cwd / named[2]
    if not path.is_file():
        return AotCache(file=path.name, refused="there is no such file")
    # The JVM itself compares the jars with those of a CDS archive.
    newer = _newer(built, path)[:_SHOWN] if named[1] == "AOTCache" else []
    found = AotCache(file=path.name, newer=newer)
    if off := re.search(r"-XX:AOTMode=off|-Xshare:off", words):
        return found.model_copy(update={"refused": f"the command says {off[0]}"})
    rest = [word for word in built.argv[1:] if not _MODE.match(word)]
    output = program_output(built, env, [_STRICT[named[1]], "-Xlog:class+load=info", "--dry-run", *rest])
    return found.model_copy(update=_taken(output)) if output else found


def _taken(output: ProgramOutput) -> dict[str, Any]:
    """What a JVM that had to take the cache or end says of it. Nothing if it ended for another reason."""
    if output.code == 0:
        sources = [loaded[1] is not None for loaded in _LOADED.finditer(output.text)]
        return {"classes": sum(sources), "loaded": len(sources)}
    return {"refused": _reason(output.text)} if _REFUSED.search(output.text) else {}


def _reason(text: str) -> str:
    """The line that says most: those that only say that something went wrong come last."""
    lines = [line for line in (_PREFIX.sub("", line).strip() for line in text.splitlines()) if line]
    telling = [line for line in lines if not _WORTHLESS.match(line)]
    return min(telling or lines, key=lambda line: bool(_REFUSED.search(line)))


def _newer(built: Built, cache: Path) -> list[str]:
    """Jars and classes of the program that were written after the cache was.

    Builds that can be repeated set a file's time; the kernel's own time of its last change they cannot set. What cannot
    be read is left out.
    """
    found = []
    with suppress(OSError):
        written = cache.stat()
        for path in _program_files(built):
            with suppress(OSError):
                own = path.stat()
                if own.st_mtime > written.st_mtime + _ROUNDED_S or own.st_ctime > written.st_ctime + _ROUNDED_S:
                    found.append(path.name)
    return found


def _program_files(built: Built) -> Iterator[Path]:
    for path in artifact_files(built.artifacts):
        with suppress(OSError):
            if path.is_file() and is_compiled(path) and not is_code_cache(path):
                yield path
