"""A contender that listens on one port alone gets that port, and who holds it is named."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.phase.test_peak import bench_of
from touchstone.bench.base import Built
from touchstone.bench.ports import port_for
from touchstone.isolation.port import free_port
from touchstone.isolation.process import StartError


def test_a_contender_keeps_its_own_port_while_that_is_free(tmp_path: Path) -> None:
    bench, port = bench_of(tmp_path), free_port()
    fixed, told = Built(tmp_path, (), ("server",), {}, port=port), Built(tmp_path, (), ("server",), {})
    assert port_for(bench, fixed) == port
    with socket.create_server((bench.generators.host, port)):
        with pytest.raises(StartError, match=rf"process {os.getpid()} .* listens on port {port}"):
            port_for(bench, fixed)
        assert port_for(bench, told) != port
