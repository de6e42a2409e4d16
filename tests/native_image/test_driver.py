"""The command line of an assembled native-image."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from touchstone.native_image.driver.main import builder_command, main
from touchstone.native_image.driver.metadata import add_class_path_metadata, properties_words
from touchstone.native_image.driver.request import BuilderOptions, CommandLineError, read_command_line


def jar(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"META-INF/native-image/group/artifact/{name}", text)
    return path


def test_a_request_has_class_path_main_class_and_output(tmp_path: Path) -> None:
    classes = tmp_path / "classes"
    classes.mkdir()
    request = read_command_line(["-cp", str(classes), "-o", str(tmp_path / "app"), "Main"])
    assert (request.class_path, request.main_class, request.output) == ([classes], "Main", tmp_path / "app")


@pytest.mark.parametrize(
    ("word", "builder"),
    [
        (
            "--initialize-at-build-time=kotlin,org.x",
            ["-H:ClassInitialization=kotlin:build_time", "-H:ClassInitialization=org.x:build_time"],
        ),
        ("--initialize-at-run-time=a.B", ["-H:ClassInitialization=a.B:run_time"]),
        ("--enable-native-access=ALL-UNNAMED", ["-H:EnableNativeAccess=ALL-UNNAMED"]),
        ("--enable-http", ["-H:EnableURLProtocols=http"]),
        ("-march=x86-64-v2", ["-H:MicroArchitecture=x86-64-v2"]),
        ("-Ob", ["-H:Optimize=b"]),
        ("-g", ["-H:GenerateDebugInfo=2"]),
        ("-H:+Something", ["-H:+Something"]),
        ("--no-fallback", []),
    ],
)
def test_options_become_the_builders(word: str, builder: list[str]) -> None:
    options = BuilderOptions()
    assert options.add(word)
    assert options.builder == builder


def test_an_unknown_option_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandLineError, match="--static is not an option"):
        read_command_line(["-cp", str(tmp_path), "--static", "Main"])


def test_an_absent_class_path_entry_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandLineError, match="not on this machine"):
        read_command_line(["-cp", str(tmp_path / "absent.jar"), "Main"])


def test_a_star_stands_for_all_jars_of_a_folder(tmp_path: Path) -> None:
    for name in ("b.jar", "a.jar", "notes.txt"):
        (tmp_path / name).touch()
    request = read_command_line(["-cp", f"{tmp_path}/*", "Main"])
    assert request.class_path == [tmp_path / "a.jar", tmp_path / "b.jar"]


def test_properties_may_be_continued_and_escaped() -> None:
    options = BuilderOptions()
    unknown = properties_words(
        "# a comment\n"
        "Args = --initialize-at-run-time=a.B \\\n"
        "       -H\\:ResourceConfigurationResources=${.}/r.json --odd\n",
        "META-INF/native-image/g",
        options,
    )
    assert options.builder == [
        "-H:ClassInitialization=a.B:run_time",
        "-H:ResourceConfigurationResources=META-INF/native-image/g/r.json",
    ]
    assert unknown == ["--odd"]


def test_metadata_is_found_in_jars_and_folders(tmp_path: Path) -> None:
    folder = tmp_path / "classes"
    (folder / "META-INF/native-image/own").mkdir(parents=True)
    (folder / "META-INF/native-image/own/reachability-metadata.json").write_text("{}")
    packed = jar(tmp_path / "lib.jar", **{"jni-config.json": "[]", "native-image.properties": "Args = --strange -Ob"})
    options, said = BuilderOptions(), io.StringIO()
    add_class_path_metadata([folder, packed], options, said)
    assert options.builder == [
        "-H:ReachabilityMetadataResources=META-INF/native-image/own/reachability-metadata.json",
        "-H:JNIConfigurationResources=META-INF/native-image/group/artifact/jni-config.json",
        "-H:Optimize=b",
    ]
    assert "left out: --strange of lib.jar" in said.getvalue()


def test_the_users_heap_outweighs_ours(tmp_path: Path) -> None:
    request = read_command_line(["-cp", str(tmp_path), "-J-Xmx3g", "Main"])
    heaps = [word for word in builder_command(tmp_path, request, "25.0.2") if word.startswith("-Xmx")]
    assert heaps[-1] == "-Xmx3g"


def test_the_version_names_the_builder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "builder.json").write_text(json.dumps({"svm": "25.0.2", "jdk": "Temurin-25.0.3+9"}))
    assert main(tmp_path, ["--version"]) == 0
    assert capsys.readouterr().out == (
        "native-image 25.0.2 assembled by touchstone from svm 25.0.2 on Temurin-25.0.3+9\n"
    )
