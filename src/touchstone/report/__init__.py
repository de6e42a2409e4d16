"""A run and its judgement made readable: terminal, HTML, Markdown, CSV, JSON. It lays out; it computes no figure."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from touchstone.report.export import render as render
    from touchstone.report.terminal import FirstTable as FirstTable
    from touchstone.report.terminal import print_report as print_report

__all__ = ["FirstTable", "print_report", "render"]

_TERMINAL = "touchstone.report.terminal"
_MODULES = {"FirstTable": _TERMINAL, "print_report": _TERMINAL, "render": "touchstone.report.export"}
"""Imported when asked for: who only writes a quantity in words does not wait for the plots."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"touchstone.report has no {name!r}")
    return getattr(import_module(_MODULES[name]), name)
