"""C headers for the structs that the builder asks the C compiler about.

The builder finds out the layout of C structs by compiling small programs that include headers of its own distribution,
which Maven Central does not have. What the headers must hold stands in the builder's classes, as annotations
(`@CStruct`, `@CField`), so the headers are made from those.
"""

from __future__ import annotations

import re
from pathlib import Path

from touchstone.native_image.command import run_step
from touchstone.native_image.home import SVM_VERSION, BuilderHome

_PROCESSORS = {"amd64": "AMD64", "aarch64": "AArch64", "riscv64": "RISCV64"}
"""Every processor's class is looked at by the builder, whatever the machine is."""


def write_headers(home: BuilderHome) -> None:
    """Write the CPU features and the locale's properties. Raises AssemblyError."""
    home.headers.mkdir(parents=True, exist_ok=True)
    for processor, prefix in _PROCESSORS.items():
        name, fields = _struct(home, f"com.oracle.svm.core.{processor}.{prefix}LibCHelper$CPUFeatures")
        (home.headers / f"{processor}cpufeatures.h").write_text(struct_header(name, fields, "char "), encoding="utf-8")
    name, fields = _struct(home, "com.oracle.svm.core.c.locale.LocaleCHelper$LocaleProps")
    (home.headers / "svm_locale.h").write_text(
        "#define SVM_LOCALE_INITIALIZATION_SUCCEEDED 0\n#define SVM_LOCALE_INITIALIZATION_OUT_OF_MEMORY 1\n"
        + struct_header(name, fields, "const char *"),
        encoding="utf-8",
    )


def struct_header(name: str, fields: list[str], kind: str) -> str:
    """A struct with these fields, all of one type."""
    return "typedef struct {\n" + "".join(f"  {kind}{field};\n" for field in fields) + f"}} {name};\n"


def _struct(home: BuilderHome, class_name: str) -> tuple[str, list[str]]:
    jar = home.modules / f"svm-{SVM_VERSION}.jar"
    disassembled = run_step(
        [str(Path(home.jdk) / "bin/javap"), "-v", "-p", "-cp", str(jar), class_name],
        fix="run the command again: the builder's jars are incomplete",
    )
    return read_struct(disassembled, class_name)


def read_struct(disassembled: str, class_name: str) -> tuple[str, list[str]]:
    """The struct's name and its fields in order, from javap's output: what the annotations say, else Java's names."""
    named = re.search(r'CStruct\(\s*value="([^"]+)"', disassembled)
    fields = []
    for method in re.finditer(
        r"^  public abstract \S+ (\w+)\(\);(.*?)(?=^  public abstract|\Z)", disassembled, re.MULTILINE | re.DOTALL
    ):
        field = re.search(r'CField\(\s*value="([^"]+)"', method[2])
        fields.append(field[1] if field else method[1])
    return (named[1] if named else class_name.rsplit("$", 1)[-1]), fields
