"""The real thing: an assembled builder makes a small image. Minutes long; run by `make test-native`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from touchstone.native_image.assemble import assemble
from touchstone.native_image.home import default_home
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

pytestmark = pytest.mark.native

_PROGRAM = """
class Reflective {
    public static void main(String[] arguments) throws Exception {
        System.out.println(Class.forName(arguments[0]).getDeclaredConstructor().newInstance());
        try (var text = Reflective.class.getResourceAsStream("/greeting.txt")) {
            System.out.println(new String(text.readAllBytes()).strip());
        }
    }
}
class Named {
    @Override public String toString() { return "found by name"; }
}
"""

_METADATA = """{
  "reflection": [{ "type": "Named", "methods": [{ "name": "<init>", "parameterTypes": [] }] }],
  "resources": [{ "glob": "greeting.txt" }]
}
"""


def test_an_image_honours_the_metadata_on_its_class_path(tmp_path: Path) -> None:
    assemble(default_home(), lambda _: None)
    java = find_tool("java", ">=25,<26")
    assert isinstance(java, FoundTool)
    classes = tmp_path / "classes"
    metadata = classes / "META-INF/native-image/test/reachability-metadata.json"
    metadata.parent.mkdir(parents=True)
    metadata.write_text(_METADATA)
    (classes / "greeting.txt").write_text("hello from a resource\n")
    (tmp_path / "Reflective.java").write_text(_PROGRAM)
    javac = java.path.resolve().parent / "javac"
    subprocess.run([javac, "-d", classes, tmp_path / "Reflective.java"], check=True)
    image = tmp_path / "reflective"
    subprocess.run(
        [default_home().executable, "-Ob", "-cp", classes, "-o", image, "Reflective"], check=True, cwd=tmp_path
    )
    printed = subprocess.run([image, "-Xmx32m", "Named"], check=True, capture_output=True, text=True).stdout
    assert printed.splitlines() == ["found by name", "hello from a resource"]
