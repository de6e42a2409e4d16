"""A service with a requirements.txt or a pyproject.toml: an ASGI or WSGI application, or a program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from touchstone.intake.service.base import APP, DraftInstall, DraftStack, Words, below, first_there, read_text

MARKS = ("requirements.txt", "pyproject.toml")
_APPLICATION = re.compile(r"^(\w+)\s*(?::[^=\n]+)?=\s*(FastAPI|Starlette|Litestar|Quart|Flask)\(", re.MULTILINE)
_PROGRAMS = ("server.py", "main.py", "app.py", "src/main.py", "src/server.py")
_PYTHON = ".venv/bin/python"


def draft(service: Path) -> DraftStack:
    """Its stack."""
    mark = first_there(service, MARKS) or MARKS[0]
    listed = mark == MARKS[0]
    what = ["-r", below(mark)] if listed else [f"./{APP}"]
    run, sources, guessed = _start(service, read_text(service / mark))
    return DraftStack(
        language="Python",
        needs={"python": ">=3.10"},
        install=DraftInstall(
            [["python", "-m", "venv", ".venv"], [_PYTHON, "-m", "pip", "install", "--quiet", *what]],
            [below(mark)] if listed else (),
            [".venv"],
        ),
        artifacts=[sources, ".venv"],
        run=run,
        guessed=guessed,
    )


def _start(service: Path, required: str) -> tuple[Words, str, list[str]]:
    """The command, the sources that it needs, and what of it is a guess."""
    found = next(_applications(service), None)
    if found is None:
        program = first_there(service, _PROGRAMS)
        guess = [] if program else ["no application and no program was found: is server.py what starts it?"]
        return [_PYTHON, program or "server.py"], _top(Path(program or "server.py")), guess
    file, name, framework = found
    root = Path("src") if file.parts[0] == "src" and not (service / "src/__init__.py").exists() else Path()
    module = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    target, elsewhere = f"{module}:{name}", root != Path()
    guess = [f"{file} has `{name} = {framework}(...)`; give it the workers and options that it is deployed with"]
    if framework == "Flask":
        if "gunicorn" not in required:
            guess.append("gunicorn is not among its requirements: name the server that it is deployed with")
        gunicorn = [_PYTHON, "-m", "gunicorn", *(["--chdir", str(root)] if elsewhere else [])]
        return [*gunicorn, "--bind", "{host}:{port}", target], _top(file), guess
    if "uvicorn" not in required and "fastapi[" not in required:
        guess.append("uvicorn is not among its requirements: name the server that it is deployed with")
    uvicorn = [_PYTHON, "-m", "uvicorn", target, *(["--app-dir", str(root)] if elsewhere else [])]
    return [*uvicorn, "--host", "{host}", "--port", "{port}"], _top(file), guess


def _applications(service: Path) -> Iterator[tuple[Path, str, str]]:
    """Files with the application's name and its framework, those that lie highest first."""
    patterns = ("*.py", "*/*.py", "src/*/*.py")
    for path in dict.fromkeys(path for pattern in patterns for path in sorted(service.glob(pattern))):
        file = path.relative_to(service)
        if any(part.startswith((".", "test")) for part in file.parts):
            continue
        if held := _APPLICATION.search(read_text(path)):
            yield file, held[1], held[2]


def _top(file: Path) -> str:
    return below(file.parts[0]) if len(file.parts) > 1 else below("*.py")
