"""How large a contender's runtime lets its heap become under a memory limit: the runtime itself is asked.

Not every runtime takes its heap from the limit: Node.js 26 never goes below 262 MiB, and Deno 2.9 takes 4,192 MiB
whatever the limit is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from touchstone.bench.base import Built
from touchstone.bench.program_output import program_name, program_output
from touchstone.record.process import HeapBound

_V8 = 'import("node:v8").then(v8 => console.log("heap " + v8.getHeapStatistics().heap_size_limit))'
_QUESTIONS: Mapping[str, tuple[re.Pattern[str], Sequence[str]]] = {
    "node": (re.compile(r"--(max|min)[-_]\w+[-_]\w+"), ("-e", _V8)),
    "deno": (re.compile(r"--v8-flags="), ("eval", _V8)),
    "java": (re.compile(r"-Xm[xs]|-XX:\w*(RAM|HeapSize)|-XX:[+-]Use"), ("-XX:+PrintFlagsFinal", "-version")),
}
"""By program: which words of the contender's command set its heap, and what makes it print the bound."""
_ANSWER = re.compile(r"^(?:heap |\s*size_t MaxHeapSize\s+= )(\d+)", re.MULTILINE)


def heap_bound(built: Built, env: Mapping[str, str], memory: int) -> HeapBound | None:
    """The bound of a contender's heap under a memory limit in bytes. None where its runtime cannot be asked."""
    name = program_name(built)
    if built.image is not None or name not in _QUESTIONS:
        return None
    sets, question = _QUESTIONS[name]
    flags = [word for word in built.argv[1:] if sets.match(word)]
    words = [question[0], *flags, *question[1:]] if name == "deno" else [*flags, *question]
    output = program_output(built, env, words, memory=memory)
    answer = _ANSWER.search(output.text) if output else None
    return HeapBound(bytes=int(answer[1]), runtime=name) if answer else None
