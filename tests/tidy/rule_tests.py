"""Every rule has a test that sees its own code fire, and one that sees it keep silent next to its threshold.

What counts is how the tests ask: by `fired(run, CODE)` and `codes(run)` of tests/judge/sound.py, or by a function of
their own that returns the former.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path


def breaches(rules: Mapping[str, str], folder: Path) -> list[str]:
    """What tests lack, by the rules' modules, each with its code."""
    found = []
    for module, code in rules.items():
        path = folder / f"test_{module}.py"
        tree = _Constants().visit(ast.parse(path.read_text(encoding="utf-8") if path.is_file() else ""))
        helpers = dict(_helpers(tree, code))
        asking = {"fired", *helpers}
        asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
        silent = [node for node in asserts if _is_silent(node, asking, code)]
        no_sight = {part for node in [*silent, *helpers.values()] for part in ast.walk(node)}
        if not any(part not in no_sight and _fires(part, asking, code) for part in ast.walk(tree)):
            found.append(f"{module}: no test sees {code} fire")
        if not silent:
            found.append(f"{module}: no test sees {code} keep silent")
    return found


class _Constants(ast.NodeTransformer):
    """Puts the texts that a test gives names to in place of these."""

    def __init__(self) -> None:
        self._known: dict[str, ast.Constant] = {}

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value):
                self._known[name] = value
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._known.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def _helpers(tree: ast.Module, code: str) -> Iterator[tuple[str, ast.Return]]:
    """Functions of the test that return what fired of the code, each with where it does."""
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and any(_asks(part, {"fired"}, code) for part in ast.walk(node)):
                    yield function.name, node


def _asks(node: ast.AST, asking: Iterable[str], code: str) -> bool:
    """Whether this asks for the findings of the code."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in asking:
        return False
    return node.func.id != "fired" or code in _texts(node.args[1:])


def _fires(node: ast.AST, asking: Iterable[str], code: str) -> bool:
    """Whether this takes the code's findings as they are there, or the code out of all."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.In):
        return _about_codes(node) and code in _texts([node.left, *node.comparators])
    return _asks(node, asking, code)


def _is_silent(check: ast.Assert, asking: Iterable[str], code: str) -> bool:
    """Whether this is an assertion that the code did not fire."""
    test = check.test
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _asks(test.operand, asking, code)
    if not isinstance(test, ast.Compare):
        return False
    if isinstance(test.ops[0], ast.NotIn):
        return _about_codes(test) and code in _texts([test.left])
    if isinstance(test.ops[0], ast.Eq):
        none = isinstance(test.comparators[0], ast.List) and not test.comparators[0].elts
        all_others = _about_codes(test) and code not in _texts(test.comparators)
        return all_others or (none and _asks(test.left, asking, code))
    return False


def _about_codes(node: ast.Compare) -> bool:
    """Whether a comparison is with all codes that fired."""
    sides = [node.left, *node.comparators]
    return any(isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "codes" for one in sides)


def _texts(nodes: Iterable[ast.AST]) -> list[object]:
    """The literals in these."""
    return [part.value for node in nodes for part in ast.walk(node) if isinstance(part, ast.Constant)]
