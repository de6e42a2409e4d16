"""Starts the image builder."""

from __future__ import annotations

import json
import os
import sys
import uuid
from pathlib import Path

from .metadata import add_class_path_metadata
from .request import CommandLineError, ImageRequest, read_command_line

_MODULE = "org.graalvm.nativeimage.builder"
_MOST_MEMORY = 8 * 1024**3
_LEAST_MEMORY = 2 * 1024**3


def main(home: Path, words: list[str]) -> int:
    """Build an image, in place of this process. An exit code if it does not come to that."""
    facts = json.loads((home / "builder.json").read_text(encoding="utf-8"))
    if "--version" in words:
        sys.stdout.write(
            f"native-image {facts['svm']} assembled by touchstone from svm {facts['svm']} on {facts['jdk']}\n"
        )
        return 0
    try:
        request = read_command_line(words)
    except CommandLineError as error:
        sys.stderr.write(f"native-image: {error}\n")
        return 2
    asked = list(request.options.builder)
    request.options.builder.clear()
    add_class_path_metadata(request.class_path, request.options, sys.stderr)
    # What the user asks for comes last, so that it outweighs what a jar asks for.
    request.options.builder += asked
    command = builder_command(home, request, facts["svm"])
    os.environ["JVMCI_VERSION_CHECK"] = "ignore"
    return os.execv(command[0], command)


def builder_command(home: Path, request: ImageRequest, version: str) -> list[str]:
    """The command line of the builder's JVM."""
    jvm = [
        str(home / "jdk/bin/java"),
        # The builder compiles with the Graal of its own jars, through JVMCI; its JVM stays with C2.
        *("-XX:+UnlockExperimentalVMOptions", "-XX:+EnableJVMCI", "-XX:-UseJVMCICompiler"),
        *("-XX:+UseParallelGC", "-Xss10m", "-Xms1g", f"-Xmx{_heap_bytes() // 2**20}m"),
        *("--upgrade-module-path", str(home / "upgrade"), "--module-path", str(home / "modules")),
        *("--add-modules", f"ALL-DEFAULT,{_MODULE}", f"@{home / 'builder.options'}"),
        *(f"--enable-native-access={_MODULE}", "--sun-misc-unsafe-memory-access=allow"),
        *("-Duser.country=US", "-Duser.language=en", "-Djava.awt.headless=true"),
        *("-Dorg.graalvm.vendor=touchstone", f"-Dorg.graalvm.version={version}"),
        # The builder puts it into every image as where to complain; it has to look like an address.
        "-Dorg.graalvm.vendorurl=https://localhost",
        "-Dcom.oracle.graalvm.isaot=true",
        "-Dorg.graalvm.nativeimage.imagecode=buildtime",
        # svm 25.0.2 was made for JDK 25.0.2; a later update of the same feature release works.
        "-Dsubstratevm.IgnoreGraalVersionCheck=true",
        "-Dsubstratevm.HostLibC=glibc",
        "-Djava.system.class.loader=com.oracle.svm.hosted.NativeImageSystemClassLoader",
        "-Djdk.internal.lambda.disableEagerInitialization=true",
        *request.options.jvm,
    ]
    builder = [
        *("--module", f"{_MODULE}/com.oracle.svm.hosted.NativeImageGeneratorRunner"),
        *("-imagecp", ":".join(map(str, request.class_path))),
        f"-H:CLibraryPath={home / 'clibraries/linux-amd64'}",
        f"-H:Path={request.output.parent}",
        f"-H:Name={request.output.name}",
        f"-H:Class={request.main_class}",
        f"-H:ImageBuildID={uuid.uuid4()}",
        "-H:+UnlockExperimentalVMOptions",
        # Its C library for cgroups is not on Maven Central.
        "-H:-UseContainerSupport",
        *request.options.builder,
    ]
    return [*jvm, *builder]


def _heap_bytes() -> int:
    """Three quarters of the memory that is available, within bounds: 8 GiB are plenty for a service's image."""
    available = _LEAST_MEMORY
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            available = int(line.split()[1]) * 1024
    return max(_LEAST_MEMORY, min(_MOST_MEMORY, available * 3 // 4))
