"""A small scenario with real servers in Python, for tests of the whole lab."""

from __future__ import annotations

from pathlib import Path

SERVER = """
import asyncio, mmap, os, signal, sys, threading, time

FAULT = os.environ.get("FAULT", "")
names = set()
served = 0
if FAULT == "wrong-in-its-last-life":
    with open(os.environ["KEPT"], "a") as lives:  # what a start leaves elsewhere does not reach the next one
        print(file=lives)
LIVES = os.path.getsize(os.environ["KEPT"]) if FAULT == "wrong-in-its-last-life" else 0


def answer(method, target):
    path, _, query = target.partition("?")
    if path == "/ping":
        return (200, b"pong") if method == "GET" else (405, b"method not allowed")
    if path == "/late" and FAULT == "dies":
        os._exit(7)
    if FAULT == "raises" and path == "/nowhere":
        print("KeyError: 'unicorn'", file=sys.stderr, flush=True)
        return 500, b"sorry"
    if path in ("/late", "/ping"):
        return 200, b"late"
    return (200, b"anything") if FAULT == "200-on-unknown-path" else (404, b"not found")


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            method, target, _ = head.split(b"\\r\\n", 1)[0].decode().split(" ", 2)
            status, body = answer(method, target)
            global served
            served += 1
            if FAULT == "goes-silent" and served > 200 or FAULT == "leaves-one-in-500" and served % 500 == 0:
                await asyncio.sleep(3600)
            if FAULT == "compiles":
                SHARED[0] = served > 2000
                for _ in range(0 if SHARED[1] else 6000):
                    pass
            if FAULT == "slow":
                await asyncio.sleep(0.2)
            if FAULT == "wrong-body" and target == "/ping" or LIVES == 3 and served % 10 == 0:
                body = b"pang"
            allow = b"Allow: GET\\r\\n" if status == 405 else b""
            writer.write(b"HTTP/1.1 %d X\\r\\nContent-Type: text/plain\\r\\n%b" % (status, allow))
            writer.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
            await writer.drain()
            if b"connection: close" in head.lower():
                break
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    port = int(os.environ["PORT"]) + (FAULT == "wrong-port")
    server = await asyncio.start_server(serve, os.environ["HOST"], port)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    server.close()


def spin():
    while True:
        pass


def compile_beside():
    # A compiler that has less of the CPU than the service, and work for 1.5 s of it once the service is hot.
    os.nice(8)
    parent = os.getppid()
    while not SHARED[0] and os.getppid() == parent:
        time.sleep(0.01)
    while SHARED[0] and time.process_time() < 1.5:
        pass
    SHARED[1] = 1
    while os.getppid() == parent:
        time.sleep(0.1)
    os._exit(0)


SHARED = mmap.mmap(-1, 2)
if FAULT == "compiles" and not os.fork():
    compile_beside()
if FAULT == "never-rests":
    threading.Thread(target=spin, daemon=True).start()
if FAULT == "fails-at-start":
    sys.exit("no database")
asyncio.run(main())
"""

SCENARIO = """
schema = 1
name = "demo"
title = "Demo"
summary = "A demo"
[ready]
target = "/ping"
expect = { status = 200 }
[[contract]]
id = "ping"
says = "ping answers pong"
steps = [{ target = "/ping", expect = { body = "pong", content_type = "text/plain" } }]
[[contract]]
id = "unknown-path"
says = "an unknown path is 404"
steps = [{ target = "/nowhere", expect = { status = 404 } }]
[loads.ping]
title = "Ping"
connections = 4
seconds = 4
warmup_s = 1
requests = [{ name = "ping", target = "/ping", expect = { body = "pong" } }]
"""

STACK = """
schema = 1
name = "{name}"
scenario = "demo"
title = "{name}"
language = "Python"
[needs]
python3 = "{version}"
[variants.plain]
title = "asyncio"
build = {build}
artifacts = ["server.py"]
run = ["python3", "server.py"]
env = {{ FAULT = "{fault}", KEPT = "{{work}}/../lives" }}
"""


def add_stack(folder: Path, name: str, *, fault: str = "", version: str = ">=3.11", build: str = "[]") -> None:
    """Add a stack with one fault to the scenario."""
    home = folder / name
    home.mkdir(parents=True)
    (home / "server.py").write_text(SERVER)
    (home / "stack.toml").write_text(STACK.format(name=name, fault=fault, version=version, build=build))


def demo(folder: Path) -> Path:
    """A scenario folder with one sound stack."""
    folder.mkdir(parents=True)
    (folder / "scenario.toml").write_text(SCENARIO)
    add_stack(folder, "sound")
    return folder
