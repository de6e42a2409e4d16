"""A run and its judgement made readable: terminal, HTML, Markdown, CSV, JSON. It lays out; it computes no figure."""

from touchstone.report.export import render
from touchstone.report.terminal import print_report

__all__ = ["print_report", "render"]
