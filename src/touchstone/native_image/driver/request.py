"""What a user asks `native-image` for, and how its options are called by the builder."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path


class CommandLineError(Exception):
    """The command line asks for something that this program does not understand."""


@dataclass
class BuilderOptions:
    """Options of the builder (`-H:` and `-R:`), and options of the JVM that it runs on."""

    builder: list[str] = field(default_factory=list)
    jvm: list[str] = field(default_factory=list)

    def add(self, word: str) -> bool:
        """Translate one option of native-image's command line; False if it is not known."""
        name, _, value = word.partition("=")
        if word.startswith(("-H:", "-R:")):
            self.builder.append(word)
        elif name in _INITIALIZATION:
            # Without a value it is meant for every class, which the builder writes as an empty name.
            kind = _INITIALIZATION[name]
            self.builder += [f"-H:ClassInitialization={class_name}:{kind}" for class_name in value.split(",")]
        elif name in _VALUED:
            self.builder.append(f"-H:{_VALUED[name]}={value}")
        elif word in _FIXED:
            self.builder += _FIXED[word]
        elif re.fullmatch(r"-O[b0-3s]", word):
            self.builder.append(f"-H:Optimize={word[2]}")
        elif word.startswith("-J"):
            self.jvm.append(word[2:])
        elif name in {"--add-exports", "--add-opens", "--add-modules", "--add-reads"} or word.startswith("-D"):
            self.jvm.append(word)
        else:
            return False
        return True


_INITIALIZATION = {"--initialize-at-build-time": "build_time", "--initialize-at-run-time": "run_time"}
_VALUED = {
    "--enable-url-protocols": "EnableURLProtocols",
    "--enable-native-access": "EnableNativeAccess",
    "--features": "Features",
    "--gc": "SupportedGCs",
    "-march": "MicroArchitecture",
    "--link-at-build-time": "LinkAtBuildTime",
}
_FIXED: dict[str, list[str]] = {
    "-g": ["-H:GenerateDebugInfo=2"],
    "--enable-http": ["-H:EnableURLProtocols=http"],
    "--enable-https": ["-H:EnableURLProtocols=https"],
    "--install-exit-handlers": ["-H:+InstallExitHandlers"],
    "--report-unsupported-elements-at-runtime": ["-H:+ReportUnsupportedElementsAtRuntime"],
    # These ask for what is always so in this version.
    "--no-fallback": [],
    "--allow-incomplete-classpath": [],
    "--strict-image-heap": [],
    "--enable-all-security-services": [],
}


@dataclass
class ImageRequest:
    """One image to build."""

    class_path: list[Path]
    main_class: str
    output: Path
    options: BuilderOptions


def read_command_line(words: list[str]) -> ImageRequest:
    """Read `-cp PATH -o FILE [options] MAIN`. Raises CommandLineError."""
    class_path = ""
    output = ""
    positional: list[str] = []
    options = BuilderOptions()
    rest = iter(words)
    for word in rest:
        if word in {"-cp", "-classpath", "--class-path"}:
            class_path = next(rest, "")
        elif word == "-o":
            output = next(rest, "")
        elif not word.startswith("-"):
            positional.append(word)
        elif not options.add(word):
            raise CommandLineError(f"{word} is not an option that an assembled native-image translates")
    if not class_path or len(positional) != 1:
        raise CommandLineError("write it as: native-image -cp PATH[:PATH...] [-o FILE] [options] MAIN-CLASS")
    entries = [path for entry in class_path.split(":") if entry for path in _class_path_entries(entry)]
    if absent := [str(entry) for entry in entries if not entry.exists()]:
        raise CommandLineError(f"not on this machine: {', '.join(absent)}")
    main_class = positional[0]
    return ImageRequest(entries, main_class, Path(output or main_class.lower()).resolve(), options)


def _class_path_entries(entry: str) -> list[Path]:
    """Entries of the class path. `folder/*` means all jars in the folder, as for java's launcher."""
    path = Path(entry)
    if path.name == "*" and path.parent.is_dir():
        return sorted(jar.resolve() for jar in path.parent.glob("*.jar"))
    return [path.resolve()]
