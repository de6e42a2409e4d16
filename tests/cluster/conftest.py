"""One cluster of three machines, and a fourth, for all tests of this folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.network import Machine, network

THOUSAND_SECONDS = 1000


@pytest.fixture(scope="session", name="cluster")
def three_machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Machine]]:
    """Server, two generators, the second one's clock ahead by a thousand seconds; and one that is not a node yet."""
    pytest.importorskip("ray", reason="needs the extra touchstone-lab[cluster]")
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root and iproute2 for network namespaces")
    folder = Path("/tmp") / tmp_path_factory.mktemp("c").name
    folder.mkdir()
    try:
        with network(folder, ahead_s=[0, 0, THOUSAND_SECONDS, 0]) as machines:
            server, *generators, _ = machines
            server.join("server", head=server)
            for generator in generators:
                generator.join("generator", head=server)
            yield machines
    finally:
        shutil.rmtree(folder, ignore_errors=True)
