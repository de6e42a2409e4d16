"""A native image is profiled by Java's names. Minutes long; run by `make test-native`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.phase.test_profile import profiled
from touchstone import starter
from touchstone.attribution.category import Category
from touchstone.judge.rules.profiles import PROFILE_UNMATCHED_SHARE
from touchstone.judge.why.spending import spending
from touchstone.native_image.assemble import assemble
from touchstone.native_image.home import default_home
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not isinstance(find_tool("perf", ">=5.17"), FoundTool), reason="needs perf"),
]

FOR_PROFILERS = ["-g", "-H:+PreserveFramePointer", "-H:-DeleteLocalSymbols"]
"""As the manifests of the lab's own stacks have them."""


def test_an_image_with_symbols_is_told_apart_as_a_jvm_would_be(tmp_path: Path) -> None:
    assemble(default_home(), lambda _: None)
    java = find_tool("java", ">=25,<26")
    assert isinstance(java, FoundTool)
    source = Path(starter.__file__).parent / "java" / "Server.java"
    subprocess.run([java.path.resolve().parent / "javac", "-d", tmp_path / "classes", source], check=True)
    image = tmp_path / "server"
    build = [str(default_home().executable), "-Ob", *FOR_PROFILERS, "-cp", "classes", "-o", str(image), "Server"]
    subprocess.run(build, check=True, cwd=tmp_path)
    sample = profiled(tmp_path, str(image), "-Xmx32m", "-Dsun.net.httpserver.nodelay=true", language="Java")
    assert sample.failure is None, sample.failure
    evidence = sample.profile
    assert evidence is not None
    assert evidence.stacks is not None, evidence.not_profiled
    names = evidence.stacks.frames
    assert any(name.startswith("Server.") for name in names), "the service's own functions have their names"
    assert any(name.startswith("sun.net.httpserver.") for name in names)
    assert any(name.startswith("com.oracle.svm.core.") for name in names), "and those of the image's runtime"
    spent = spending(evidence)
    assert spent is not None
    assert spent.categories.get(Category.UNMATCHED, 0.0) < PROFILE_UNMATCHED_SHARE * spent.subject, spent.unmatched
