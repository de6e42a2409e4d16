"""`touchstone new`: a scenario of your own, or a stack in one, ready to be filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from touchstone.failure import UsageError
from touchstone.manifest.catalogue import SCENARIO_FILE, STACK_FILE, read_scenario_folder
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.scenario import Scenario

_SCENARIO = """\
schema = 1
name = "{name}"
title = "{name}"
summary = "What the service does, and what is compared."

[ready]                     # the request whose right answer means that the service has started
target = "/ping"
expect = {{ body = "pong" }}

[[contract]]                # what every stack must do before anything is timed
id = "ping"
says = "GET /ping answers pong"
steps = [{{ target = "/ping", expect = {{ body = "pong" }} }}]

[[contract]]
id = "unknown-path"
says = "an unknown path is answered 404"
steps = [{{ target = "/nowhere", expect = {{ status = 404 }} }}]

[loads.ping]                # what is measured
title = "Ping"
connections = 64
requests = [{{ name = "ping", target = "/ping", expect = {{ body = "pong" }} }}]
"""

_STACK = """\
schema = 1
name = "{name}"
scenario = "{scenario}"
title = "{name}"
language = "Python"

[needs]                     # `touchstone doctor` lists the tools that may stand here
python3 = ">=3.11"

[variants.plain]
title = "asyncio"
build = []                  # commands, such as [["go", "build", "-o", "server", "."]]
artifacts = ["server.py"]   # what the build leaves and what is shipped
run = ["python3", "server.py"]
"""

_SERVER = '''\
"""A first server: replace it by your own. It obeys the start contract: HOST, PORT, SIGTERM."""

import asyncio
import os
import signal


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            status, body = (b"200 OK", b"pong") if head.startswith(b"GET /ping ") else (b"404 Not Found", b"not found")
            head_out = b"HTTP/1.1 %b\\r\\nContent-Type: text/plain\\r\\nContent-Length: %d\\r\\n\\r\\n"
            writer.write(head_out % (status, len(body)) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    server = await asyncio.start_server(serve, os.environ["HOST"], int(os.environ["PORT"]))
    await stop.wait()
    server.close()


asyncio.run(main())
'''


def new(
    folder: Annotated[Path, typer.Argument(help="The scenario's folder, made if it is not there.")],
    stack: Annotated[str, typer.Option(help="The name of the stack to add.")] = "first",
) -> None:
    """Make a scenario with one small stack that runs, or add a stack to a scenario."""
    name = folder.resolve().name
    home = folder / stack
    if home.exists():
        raise UsageError("the stack's folder is there already", where=str(home), mend="name another with --stack")
    home.mkdir(parents=True)
    if not (folder / SCENARIO_FILE).exists():
        (folder / SCENARIO_FILE).write_text(_SCENARIO.format(name=name), encoding="utf-8")
        typer.echo(folder / SCENARIO_FILE)
    scenario = read_manifest(folder / SCENARIO_FILE, Scenario).name
    (home / STACK_FILE).write_text(_STACK.format(name=stack, scenario=scenario), encoding="utf-8")
    (home / "server.py").write_text(_SERVER, encoding="utf-8")
    read_scenario_folder(folder)
    typer.echo(home / STACK_FILE)
    typer.echo(home / "server.py")
    typer.echo(f"measure it: touchstone run {folder} --quick")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("new")(new)
