"""The image builder's jars, from Maven Central."""

from __future__ import annotations

import hashlib
from pathlib import Path

from touchstone.native_image.checksums import known_checksums
from touchstone.native_image.command import run_step
from touchstone.native_image.home import SVM_VERSION, BuilderHome
from touchstone.native_image.requirements import AssemblyError, BuildTools

_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
_COMPILER = f"compiler-{SVM_VERSION}.jar"
_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>touchstone</groupId><artifactId>builder</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.graalvm.nativeimage</groupId><artifactId>svm</artifactId><version>{SVM_VERSION}</version>
    </dependency>
  </dependencies>
</project>
"""


def fetch_jars(machine: BuildTools, home: BuilderHome) -> None:
    """Fetch `svm` and its dependencies by Maven, check each jar, and place it for the builder.

    The compiler goes apart from the rest: it replaces the JDK's module `jdk.graal.compiler`, and a module of the JDK is
    replaced by way of the upgrade path only.
    """
    project = home.work / "jars"
    fetched = project / "jars"
    project.mkdir(parents=True, exist_ok=True)
    (project / "pom.xml").write_text(_POM, encoding="utf-8")
    run_step(
        [str(machine.maven), "-q", "-B", f"{_PLUGIN}:copy-dependencies", f"-DoutputDirectory={fetched}"],
        cwd=project,
        env={"JAVA_HOME": str(machine.jdk.home)},
        fix="see that Maven reaches its repository; `mvn -U` forgets an earlier failure",
    )
    verify_jars(fetched, known_checksums("jars.sha256"))
    for folder in (home.modules, home.upgrade):
        folder.mkdir(parents=True, exist_ok=True)
    for jar in fetched.iterdir():
        jar.replace((home.upgrade if jar.name == _COMPILER else home.modules) / jar.name)


def verify_jars(folder: Path, known: dict[str, str]) -> None:
    """See that the folder holds the known jars, those alone, and unchanged. Raises AssemblyError."""
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.jar")}
    wrong = sorted(name for name in {*found, *known} if found.get(name) != known.get(name))
    if wrong:
        raise AssemblyError(
            f"jars are missing, unknown or not those that touchstone knows by their checksums: {', '.join(wrong)}",
            where=str(folder),
            fix="remove org/graalvm from Maven's local repository and try again; if it stays, do not use these jars",
        )
