"""The commands as a page and as a manual page, made from the commands themselves.

`python -m touchstone.cli.reference > docs/commands.md`, `python -m touchstone.cli.reference --man > touchstone.1`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import touchstone
from touchstone.cli.commands import COMMANDS, load_command
from touchstone.failure import ExitCode

_HEAD = """\
# Commands

Every command with its arguments and options, made from the commands
themselves; `touchstone COMMAND --help` shows the same.
"""
_EXITS = {
    ExitCode.OK: "all is well",
    ExitCode.FAILED: "it failed; a defect of touchstone itself names the file that holds its details",
    ExitCode.USAGE: "the command line or a manifest asks for what does not exist",
    ExitCode.GATE: "a gate was breached",
    ExitCode.INVALID: "the run is invalid, a load's result is invalid, a contender failed, or the machine is unfit",
    ExitCode.UNDECIDED: "a gate cannot be decided",
    ExitCode.INTERRUPTED: "interrupted; what was measured is kept and reported",
    ExitCode.UNREAD: "the program that read the output has ended, as `head` does",
}


@dataclass(frozen=True)
class Parameter:
    """An argument or an option: its form and its meaning."""

    written: str
    says: str


def parameters(command: Any) -> Iterator[Parameter]:
    """A command's parameters, arguments first, in the order of its help."""
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        if parameter.param_type_name == "argument":
            name = parameter.name.upper()
            yield Parameter(name if parameter.required else f"[{name}]", parameter.help or "")
        else:
            value = "" if parameter.is_flag else f" {_value(parameter)}"
            yield Parameter(", ".join(parameter.opts) + value, parameter.help or "")


def _value(option: Any) -> str:
    """What stands for the value of an option."""
    kind = str(option.type_descriptor.annotation)
    words = {"int": "NUMBER", "float": "NUMBER", "Path": "PATH"}
    return option.metavar or next((word for name, word in words.items() if name in kind), "TEXT")


def page() -> str:
    """In Markdown."""
    parts = [_HEAD]
    for name in COMMANDS:
        command = load_command(name)
        parts.append(f"## touchstone {name}\n\n{_paragraph(command.help)}\n")
        rows = [
            f"| `{p.written.replace('|', chr(92) + '|')}` | {p.says.replace('|', chr(92) + '|')} |"
            for p in parameters(command)
        ]
        if rows:
            parts.append("\n".join(["| argument or option | |", "|---|---|", *rows]) + "\n")
    rows = [f"| {int(code)} | {says} |" for code, says in _EXITS.items()]
    parts.append("\n".join(["## Exit codes\n", "| code | when |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def manual() -> str:
    """In roff, for `man`."""
    lines = [f'.TH TOUCHSTONE 1 "" "touchstone {touchstone.__version__}" "touchstone"', ".SH NAME"]
    lines += [_roff("touchstone - a benchmark lab for HTTP service stacks that refuses bad numbers"), ".SH SYNOPSIS"]
    lines += [".B touchstone", r".I COMMAND", "[ARGUMENTS] [OPTIONS]", ".SH COMMANDS"]
    for name in COMMANDS:
        command = load_command(name)
        lines += [f'.SS "touchstone {name}"', _roff(_paragraph(command.help))]
        for parameter in parameters(command):
            lines += [".TP", f".B {_roff(parameter.written)}", _roff(parameter.says)]
    lines += [".SH EXIT STATUS"]
    for code, says in _EXITS.items():
        lines += [".TP", f".B {int(code)}", _roff(says)]
    return "\n".join(lines) + "\n"


def _paragraph(help_: str | None) -> str:
    return " ".join((help_ or "").replace("\b", "").split())


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    sys.stdout.write(manual() if "--man" in sys.argv else page())
