"""What the assembly of a native-image checks, and how it goes on."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from packaging.version import Version

from touchstone.native_image import assemble as assembly
from touchstone.native_image import requirements
from touchstone.native_image.assemble import AssemblyStep, assemble
from touchstone.native_image.checksums import known_checksums
from touchstone.native_image.headers import read_struct, struct_header
from touchstone.native_image.home import BuilderHome
from touchstone.native_image.jars import verify_jars
from touchstone.native_image.requirements import AssemblyError, BuildTools, Jdk, examine_machine, read_jdk
from touchstone.native_image.shims import missing_entries
from touchstone.native_image.static_libraries import c_files
from touchstone.toolchain import tool
from touchstone.toolchain.registry import TOOLS

JDK = Jdk(Path("/jdk"), "25.0.3", "9", "2026-04-21", "Temurin-25.0.3+9")


def jdk_at(home: Path, *, version: str = "25.0.3+9-LTS", whole: bool = True) -> Path:
    for name in ("bin/javac", "lib/src.zip", "include/jni.h") if whole else ():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).touch()
    home.mkdir(exist_ok=True)
    (home / "release").write_text(f'JAVA_RUNTIME_VERSION="{version}"\nIMPLEMENTOR_VERSION="Temurin-25.0.3+9"\n')
    return home


def test_a_jdk_says_its_version_and_build(tmp_path: Path) -> None:
    jdk = read_jdk(jdk_at(tmp_path / "jdk"))
    assert (jdk.version, jdk.build, jdk.full_version) == ("25.0.3", "9", "25.0.3+9")


def test_a_jre_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(AssemblyError, match="has no bin/javac"):
        read_jdk(jdk_at(tmp_path / "jre", whole=False))


@pytest.mark.parametrize(("absent", "package"), [("gcc", "gcc"), ("mvn", "maven"), ("ar", "binutils")])
def test_a_missing_program_is_named_with_its_package(
    absent: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = jdk_at(tmp_path / "jdk")
    found = tool.FoundTool("java", home / "bin/java", Version("25.0.3"))
    monkeypatch.setattr(requirements, "find_tool", lambda *_: found)
    monkeypatch.setattr(shutil, "which", lambda name: None if name == absent else f"/usr/bin/{name}")
    with pytest.raises(AssemblyError) as raised:
        examine_machine(tmp_path)
    assert f"there is no {absent}" in str(raised.value)
    assert package in (raised.value.fix or "")


def test_without_a_jdk_25_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tool.MissingTool("java", ">=25", "", seen="17.0.1 at /usr/bin/java")
    monkeypatch.setattr(requirements, "find_tool", lambda *_: missing)
    with pytest.raises(AssemblyError, match=r"no JDK 25 \(found 17\.0\.1"):
        examine_machine(tmp_path)


def test_a_changed_missing_or_unknown_jar_is_refused(tmp_path: Path) -> None:
    (tmp_path / "changed.jar").write_bytes(b"other")
    (tmp_path / "unknown.jar").write_bytes(b"?")
    with pytest.raises(AssemblyError, match=r"absent\.jar, changed\.jar, unknown\.jar"):
        verify_jars(tmp_path, {"changed.jar": "0" * 64, "absent.jar": "1" * 64})


@pytest.mark.parametrize(
    ("table", "names"),
    [
        ("jars.sha256", {"svm-25.0.2.jar", "compiler-25.0.2.jar"}),
        ("jdk_sources.sha256", {"openjdk-25_25.0.3+9.orig.tar.xz"}),
    ],
)
def test_checksums_are_known(table: str, names: set[str]) -> None:
    known = known_checksums(table)
    assert names <= known.keys()
    assert all(len(checksum) == 64 for checksum in known.values())


def test_a_struct_is_read_from_annotations_or_from_names() -> None:
    text = (
        "  public abstract char fAVX();\n    descriptor: ()C\n"
        '  public abstract char named();\n    CField(\n      value="fOther"\n    )\n'
        'SourceFile: "X.java"\n  CStruct(\n    value="features_t"\n  )\n'
    )
    name, fields = read_struct(text, "a.B$Ignored")
    assert (name, fields) == ("features_t", ["fAVX", "fOther"])
    assert struct_header(name, fields, "char ") == "typedef struct {\n  char fAVX;\n  char fOther;\n} features_t;\n"


def test_the_most_specific_file_of_a_name_is_compiled(tmp_path: Path) -> None:
    for name in (
        "share/native/libnet/a.c",
        "unix/native/libnet/a.c",
        "share/native/libnet/b.c",
        "linux/native/libnet/c.c",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    chosen = {str(path.relative_to(tmp_path)) for path in c_files(tmp_path, "net")}
    assert chosen == {"unix/native/libnet/a.c", "share/native/libnet/b.c", "linux/native/libnet/c.c"}


def test_entries_that_are_written_are_not_missing() -> None:
    assert missing_entries({"JVM_GC", "JVM_Yield", "malloc"}, "void JVM_GC(void) {}") == ["JVM_Yield"]


def test_a_broken_assembly_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carried: list[str] = []
    broken = True

    def second(_machine: BuildTools, _home: BuilderHome) -> None:
        if broken:
            raise AssemblyError("the network is down")
        carried.append("second")

    machine = BuildTools(JDK, Path("gcc"), Path("mvn"))
    monkeypatch.setattr(assembly, "examine_machine", lambda _: machine)
    plan = [AssemblyStep("first", "", lambda *_: carried.append("first")), AssemblyStep("second", "", second)]
    monkeypatch.setattr(assembly, "steps", lambda _: plan)
    with pytest.raises(AssemblyError):
        assemble(BuilderHome(tmp_path), lambda _: None)
    broken = False
    assemble(BuilderHome(tmp_path), lambda _: None)
    assemble(BuilderHome(tmp_path), lambda _: None)
    assert carried == ["first", "second"]


def test_another_jdk_makes_every_step_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carried: list[str] = []
    monkeypatch.setattr(assembly, "steps", lambda _: [AssemblyStep("first", "", lambda *_: carried.append("first"))])
    for build in ("9", "10"):
        jdk = Jdk(Path("/jdk"), "25.0.3", build, "", "")
        monkeypatch.setattr(assembly, "examine_machine", lambda _, jdk=jdk: BuildTools(jdk, Path("gcc"), Path("mvn")))
        assemble(BuilderHome(tmp_path), lambda _: None)
    assert carried == ["first", "first"]


def test_a_found_native_image_says_who_built_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "native-image/bin/native-image"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho native-image 25.0.2 assembled by touchstone from svm 25.0.2 on Temurin\n")
    program.chmod(0o755)
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path))
    monkeypatch.delenv("GRAALVM_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    found = TOOLS["native-image"].find(">=25")
    assert isinstance(found, tool.FoundTool)
    assert (str(found.version), found.note) == (
        "25.0.2",
        "native-image 25.0.2 assembled by touchstone from svm 25.0.2 on Temurin",
    )


def test_the_driver_outlives_the_environment_that_it_was_made_in(tmp_path: Path) -> None:
    home = BuilderHome(tmp_path)
    (driver,) = [step for step in assembly.steps(None) if step.name == "driver"]
    driver.carry_out(BuildTools(JDK, Path("/gcc"), Path("/mvn")), home)
    interpreter = Path(home.executable.read_text().splitlines()[0].removeprefix("#!"))
    assert interpreter.is_file()
    assert interpreter.parent.parent == Path(sys.base_prefix)
    assert driver.rests_on == str(interpreter), "another interpreter repeats the step"
