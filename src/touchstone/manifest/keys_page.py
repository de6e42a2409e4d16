"""The reference of all manifests, made from the types that read them: a page, and for a terminal.

`python -m touchstone.manifest.keys_page > docs/manifests.md`
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable

from touchstone.manifest.keys import ManifestKey, ManifestTable, tables

_HEAD = """\
# Manifests

Every table of every manifest, with all of its keys, made from the types that read them. `touchstone check --keys`
prints the same, `touchstone check --keys loads.NAME` one table. An unknown key, a value of another type and a key that
would have no effect are errors that name file, line and fix.

* [scenario.toml](#scenariotoml): a service contract, and the loads put on it ([add-a-stack.md](add-a-stack.md))
* [stack.toml](#stacktoml): one implementation of it, and the ways to build it ([add-a-stack.md](add-a-stack.md))
* [claims.toml](#claimstoml), by any name: published statements that runs are held against ([claims.md](claims.md))
* [mix.toml](#mixtoml), by any name: what `touchstone load --mix` sends ([templates.md](templates.md))

An editor with Taplo or Even Better TOML completes keys and underlines errors by the JSON Schema that the first line of
a file names: `#:schema ./.schema/scenario.json`. `touchstone new` and `touchstone import` write that line and the
folder `.schema`; `touchstone schema FOLDER` writes the folder for manifests of an earlier version. The schemas are also
in [schema/](schema/scenario.json). They hold every error that one file shows by itself; names in other files, commands
and regular expressions are left to `touchstone check`.

NAME is a name of your choice. `[[...]]` is a list of tables, which may also be written in one line:
`steps = [{ target = "/" }, { wait_s = 1.0 }]`. A key without a default may be left out if it is not marked as one that
*must be given*.
"""
_WIDTH = 100


def page() -> str:
    """In Markdown, a section for each table."""
    return "\n".join([_HEAD, *map(_section, tables().values())])


def listing(shown: Iterable[ManifestTable]) -> str:
    """For a terminal."""
    return "\n\n".join(map(_listed, shown))


def _section(table: ManifestTable) -> str:
    top = not table.places[0].name
    parts = [f"{'##' if top else '###'} {_title(table)}\n"]
    parts += [f"{text}\n" for text in (_linked(table.says), _elsewhere(table)) if text]
    rows = [f"| `{k.name}` | {_type(k)} | {_default(k)} | {_cell(_linked(k.says))} |" for k in table.keys]
    return "\n".join([*parts, "| key | takes | default | |", "|---|---|---|---|", *rows, ""])


def _title(table: ManifestTable) -> str:
    return table.title if not table.places[0].name else f"`{table.places[0].written}` {table.variety}".rstrip()


def _elsewhere(table: ManifestTable) -> str:
    first, *others = table.places
    named = [f"`{p.written}`" + (f" of {p.file}" if p.file != first.file and p.name else "") for p in others]
    return f"With the same keys: {', '.join(named)}." if named else ""


def _type(key: ManifestKey) -> str:
    known = tables()
    links = [f"[{_title(known[model])}](#{_anchor(known[model].title)})" for model in key.leads_to]
    return _cell(key.type) + (f": {', '.join(links)}" if links else "")


def _default(key: ManifestKey) -> str:
    if key.required:
        return "*must be given*"
    return f"`{_cell(key.default)}`" if key.default else ""


def _anchor(title: str) -> str:
    """What sites make of a heading."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())


def _linked(text: str) -> str:
    """Pages that a docstring names are links, from next to them."""
    return re.sub(r"\bdocs/([a-z-]+\.md)", r"[\1](\1)", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _listed(table: ManifestTable) -> str:
    files = ", ".join(dict.fromkeys(place.file for place in table.places))
    lines = [table.title if not table.places[0].name else f"{table.title}   in {files}"]
    lines += [*_wrapped(table.says, 2), *_wrapped(_elsewhere(table).replace("`", ""), 2)]
    for key in table.keys:
        default = " (must be given)" if key.required else f" = {key.default}" if key.default else ""
        held = ", ".join(tables()[model].title for model in key.leads_to)
        lines += _wrapped(f"{key.name}{default}: {key.type}{': ' + held if held else ''}".replace("`", ""), 2)
        lines += _wrapped(key.says, 6)
    return "\n".join(lines)


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


if __name__ == "__main__":
    sys.stdout.write(page())
