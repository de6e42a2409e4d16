"""A contender that listens on one port alone gets that port, and who holds it is named."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.phase.test_peak import bench_of
from touchstone.bench.base import Built, Ports
from touchstone.bench.ports import ports_for
from touchstone.isolation.port import free_port
from touchstone.isolation.process import StartError


def test_a_contender_keeps_its_own_port_while_that_is_free(tmp_path: Path) -> None:
    bench, port = bench_of(tmp_path), free_port()
    fixed, told = Built(tmp_path, (), ("server",), {}, port=port), Built(tmp_path, (), ("server",), {})
    assert ports_for(bench, fixed) == Ports(port)
    with socket.create_server((bench.generators.host, port)):
        with pytest.raises(StartError, match=rf"process {os.getpid()} .* listens on port {port}"):
            ports_for(bench, fixed)
        assert ports_for(bench, told).main != port


def test_grpc_has_a_port_of_its_own_where_the_stack_says_so(tmp_path: Path) -> None:
    bench, port = bench_of(tmp_path), free_port()
    free = Built(tmp_path, (), ("server", "{grpc_port}"), {"AT": "{host}:{grpc_port}"}, grpc_port="free")
    ports = ports_for(bench, free)
    assert ports.grpc not in (None, ports.main)
    assert ports.environment == {"PORT": str(ports.main), "GRPC_PORT": str(ports.grpc)}
    there = free.at("127.0.0.1", ports)
    assert (there.argv[1], there.env["AT"]) == (str(ports.grpc), f"127.0.0.1:{ports.grpc}")
    fixed = Built(tmp_path, (), ("server",), {}, grpc_port=port)
    assert ports_for(bench, fixed).grpc == port
    with (
        socket.create_server((bench.generators.host, port)),
        pytest.raises(StartError, match="grpc_port is taken") as at,
    ):
        ports_for(bench, fixed)
    assert 'set `grpc_port = "free"`' in str(at.value.fix)
    assert Ports(1).environment == {"PORT": "1"}
