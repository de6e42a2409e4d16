"""What a container is given of this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.phase.test_peak import bench_of
from touchstone.bench.base import ImageBuilt
from touchstone.bench.contained import container_spec
from touchstone.dependency.base import DependencyContext
from touchstone.dependency.sqlite import SqliteFile
from touchstone.isolation.container import ContainerRuntime
from touchstone.manifest.stack import Image


def test_a_container_sees_the_folder_of_a_file_and_none_of_a_variable_that_looks_like_one(tmp_path: Path) -> None:
    variables = {"PREFIX": "/etc/{path}"}
    context = DependencyContext(
        tmp_path / "store", tmp_path, (), tmp_path / "engine", tmp_path / "cache", variables=variables
    )
    store = SqliteFile("store", "DATABASE_PATH", {}, context)
    store.start()
    store.reset({})
    bench = replace(bench_of(tmp_path), dependencies={"store": store})
    image = ImageBuilt(ContainerRuntime(Path("podman")), "one", Image(reference="registry/one:2"))
    assert container_spec(bench, image, store.environment()).folders == (tmp_path / "store",)
