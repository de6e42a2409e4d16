"""Manifests that compare what does not compare."""

from tests.faults.catalogue.kinds import COMPILE
from tests.faults.setup import Server, Setup

_SCRIPT = "flags=$(printf -- '{}); compiler=cc; $compiler $flags -o program *.c -lpthread -lm"
"""A build whose flags no command shows."""

MANIFESTS: tuple[Setup, ...] = (
    Setup(
        "unequal-pool",
        "two contenders; the manifest of one gives it a larger pool",
        ("settings-unequal",),
        planted="manifest",
        servers=(Server(env={"CONNECTION_POOL": "10"}), Server(env={"CONNECTION_POOL": "100"})),
    ),
    Setup(
        "unequal-timeout",
        "two contenders; the manifest of one gives it a longer timeout",
        ("settings-unequal",),
        planted="manifest",
        servers=(Server(env={"CLIENT_TIMEOUT_MS": "500"}), Server(env={"CLIENT_TIMEOUT_MS": "30000"})),
    ),
    Setup(
        "heap-above-limit",
        "the heap may grow to 1 GiB in a search of limits up to 8 MB",
        ("heap-above-limit",),
        planted="manifest",
        servers=(Server(env={"GOMEMLIMIT": "1GiB"}),),
        scenario={"floor": {"load": "work", "share_of_unlimited": 0.3, "from_mb": 4, "to_mb": 8}},
        phases=("floor",),
    ),
    Setup(
        "not-optimised",
        "two contenders from the same sources; the build of one does not optimise",
        ("development-mode",),
        planted="manifest",
        servers=(
            Server(program="sources", build=COMPILE),
            Server(program="sources", build=[["/bin/sh", "-c", COMPILE[0][2].replace("-O1", "-O0")]]),
        ),
    ),
    Setup(
        "not-optimised-by-a-script",
        "two contenders from the same sources; the build of one takes flags without optimisation from a script",
        ("development-mode",),
        planted="manifest",
        servers=(
            Server(program="sources", build=COMPILE),
            Server(program="sources", build=[["/bin/sh", "-c", _SCRIPT.format("-g -O%d' 0")]]),
        ),
    ),
    Setup(
        "sanitizer-by-a-script",
        "two contenders from the same sources; the build of one takes a sanitizer from a script",
        ("development-mode",),
        planted="manifest",
        servers=(
            Server(program="sources", build=COMPILE),
            Server(program="sources", build=[["/bin/sh", "-c", _SCRIPT.format("-O2 -f%s=address' sanitize")]]),
        ),
    ),
    Setup(
        "logs-for-developers",
        "the manifest of one of two contenders asks it for a debug log",
        ("development-mode",),
        planted="manifest",
        servers=(Server(), Server(env={"LOG_LEVEL": "debug"})),
    ),
    Setup(
        "build-fails",
        "the build command ends with code 1",
        ("phase-failed",),
        planted="manifest",
        servers=(Server(build=[["/bin/sh", "-c", "exit 1"]]),),
    ),
    Setup(
        "build-leaves-nothing",
        "the build removes its result",
        ("phase-failed",),
        planted="manifest",
        servers=(Server(build=[["/bin/sh", "-c", "rm -f program"]]),),
    ),
)
