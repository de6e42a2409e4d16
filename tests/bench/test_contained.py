"""An image that listens on one port alone gets that port, and who holds it is named."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from tests.phase.test_peak import bench_of
from touchstone.bench.base import Built, ImageBuilt
from touchstone.bench.contained import container_spec, port_for
from touchstone.dependency.base import DependencyContext
from touchstone.dependency.sqlite import SqliteFile
from touchstone.isolation.container import ContainerRuntime
from touchstone.isolation.port import free_port
from touchstone.isolation.process import StartError
from touchstone.manifest.stack import Image


def built(folder: Path, port: int | None) -> Built:
    image = ImageBuilt(ContainerRuntime(Path("podman")), "one", Image(reference="registry/one:2", port=port))
    return Built(folder, (), ("registry/one:2",), {}, image=image)


def test_an_image_keeps_the_port_that_it_insists_on_while_that_is_free(tmp_path: Path) -> None:
    bench, port = bench_of(tmp_path), free_port()
    assert port_for(bench, built(tmp_path, port)) == port
    with socket.create_server((bench.generators.host, port)):
        with pytest.raises(StartError, match=rf"process {os.getpid()} .* listens on port {port}"):
            port_for(bench, built(tmp_path, port))
        assert port_for(bench, built(tmp_path, None)) != port


def test_a_container_sees_the_folder_of_a_file_and_none_of_a_variable_that_looks_like_one(tmp_path: Path) -> None:
    variables = {"PREFIX": "/etc/{path}"}
    context = DependencyContext(
        tmp_path / "store", tmp_path, (), tmp_path / "engine", tmp_path / "cache", variables=variables
    )
    store = SqliteFile("store", "DATABASE_PATH", {}, context)
    store.start()
    store.reset({})
    bench = replace(bench_of(tmp_path), dependencies={"store": store})
    image = built(tmp_path, None).image
    assert image is not None
    assert container_spec(bench, image, store.environment()).folders == (tmp_path / "store",)
