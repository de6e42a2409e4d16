"""What jars say about their own image: META-INF/native-image, with options and reachability metadata."""

from __future__ import annotations

import re
import shlex
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from .request import BuilderOptions

_FOLDER = "META-INF/native-image/"
_RESOURCES = {
    "reachability-metadata.json": "ReachabilityMetadataResources",
    "reflect-config.json": "ReflectionConfigurationResources",
    "jni-config.json": "JNIConfigurationResources",
    "resource-config.json": "ResourceConfigurationResources",
    "proxy-config.json": "DynamicProxyConfigurationResources",
    "serialization-config.json": "SerializationConfigurationResources",
}


def add_class_path_metadata(class_path: list[Path], options: BuilderOptions, warnings: TextIO) -> None:
    """Add what every entry of the class path asks for. What is not understood is said, and left out."""
    for entry in class_path:
        for name, text in _files(entry):
            file = name.rsplit("/", 1)[-1]
            if file in _RESOURCES:
                options.builder.append(f"-H:{_RESOURCES[file]}={name}")
            elif file == "native-image.properties":
                for word in properties_words(text(), name.rpartition("/")[0], options):
                    warnings.write(f"native-image: left out: {word} of {entry.name}\n")


def properties_words(text: str, folder: str, options: BuilderOptions) -> list[str]:
    """Add the options of a native-image.properties; the words that could not be translated.

    Its keys are `Args` and `JavaArgs`; a backslash continues a line and escapes a character (java.util.Properties), and
    `${.}` is the file's folder.
    """
    unknown = []
    whole = re.sub(r"\\\r?\n[ \t]*", "", text)
    for key, value in re.findall(r"^[ \t]*(Args|JavaArgs)[ \t]*[=:][ \t]*(.*)$", whole, re.MULTILINE):
        unescaped = re.sub(r"\\([:= #!])", r"\1", value).replace("${.}", folder)
        for word in shlex.split(unescaped):
            if key == "JavaArgs":
                options.jvm.append(word)
            elif word == "--link-at-build-time":
                # It would mean "this jar only", which has no equal here, and for everything it is too strict. It
                # decides when a missing class is complained about, not what an image does.
                continue
            elif not options.add(word):
                unknown.append(word)
    return unknown


def _files(entry: Path) -> Iterator[tuple[str, _Text]]:
    if entry.is_dir():
        for path in sorted((entry / _FOLDER).rglob("*")):
            if path.is_file():
                yield path.relative_to(entry).as_posix(), _Text(path, None)
        return
    with zipfile.ZipFile(entry) as jar:
        for name in jar.namelist():
            if name.startswith(_FOLDER) and not name.endswith("/"):
                yield name, _Text(entry, name)


class _Text:
    """A file's text, read when it is asked for: most files are only named."""

    def __init__(self, path: Path, member: str | None) -> None:
        self._path, self._member = path, member

    def __call__(self) -> str:
        if self._member is None:
            return self._path.read_text(encoding="utf-8")
        with zipfile.ZipFile(self._path) as jar:
            return jar.read(self._member).decode("utf-8")
