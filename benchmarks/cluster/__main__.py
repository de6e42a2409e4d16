"""Connections that a cluster holds: a server and N generators, each a network namespace with a Ray node of its own.

`.venv-cluster/bin/python -m benchmarks.cluster [--generators N] [--stack mote]`, as root, after `make test-cluster` has
made that environment. Each generator has one address and the widest range of ports, 64,511 of them: sixteen hold a
million. Both ends are on this machine, so that a million take 9 GB of the kernel's memory, and Ray half a gigabyte more
for each node. Printed is what `touchstone run hello --phase hold --large --cluster` prints, and for each level how many
were answered, how many opened per second, and the server's memory.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cluster.network import HEAD_PORT, Machine, network

PORTS = "net.ipv4.ip_local_port_range=1024 65535"


def hold(machines: list[Machine], stack: str) -> Path:
    """Hold as many connections as the generators can; the results' folder."""
    server, *generators = machines
    for generator in generators:
        generator.run("sysctl", "-w", PORTS)
    server.join("server", head=server)
    for generator in generators:
        generator.join("generator", head=server)
    words = ["run", "hello", "--stacks", stack, "--quick", "--rounds", "1", "--anyway"]
    building = [sys.executable, "-m", "touchstone", *words, "--phase", "build", "--out", str(server.folder / "build")]
    # A namespace reaches no registry.
    environment = {**os.environ, **server.environment}
    subprocess.run(building, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    out = server.folder / "results"
    head = f"{server.address}:{HEAD_PORT}"
    done = server.touchstone(*words, "--phase", "hold", "--large", "--cluster", head, "--out", out)
    print(done.stdout, done.stderr, sep="\n")
    return out


def main() -> int:
    """Print the levels."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--generators", type=int, default=2)
    parser.add_argument("--stack", default="mote")
    options = parser.parse_args()
    # Ray's sockets have no room for a long path.
    folder = Path("/tmp") / f"cluster-{os.getpid()}"
    folder.mkdir()
    try:
        with network(folder, ahead_s=[0] * (1 + options.generators)) as machines:
            out = hold(machines, options.stack)
            (record,) = [json.loads(path.read_text()) for path in (out / "samples").glob("*-hold-*.json")]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("| connections | answered | opened per second | server's memory, MB | kernel, MB |")
    print("|---:|---:|---:|---:|---:|")
    for level in record["evidence"]["levels"]:
        rate = f"{level['open_rate']:,.0f}" if level["open_rate"] else "-"
        memory, kernel = level["pss"] / 1e6, level["kernel"] / 1e6
        print(f"| {level['connections']:,} | {level['answered']:,} | {rate} | {memory:,.1f} | {kernel:,.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
