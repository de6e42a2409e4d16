"""The repository's own way to start its build tool is used, and modules are distinguished from the program."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.test_commands import touchstone
from tests.intake.services import drafted, lay

SPRING = "plugins { id 'org.springframework.boot' version '3.4.0' }\n"
POM = "<project><artifactId>shop</artifactId><version>1</version>{}</project>"
MVNW = {"mvnw": "#!/bin/sh\n", ".mvn/wrapper/maven-wrapper.properties": ""}
GRADLEW = {"gradlew": "#!/bin/sh\n", "gradle/wrapper/gradle-wrapper.jar": "x"}


@pytest.mark.parametrize("executable", [True, False])
def test_mavens_wrapper_builds_it(tmp_path: Path, executable: bool) -> None:
    lay(tmp_path, MVNW)
    (tmp_path / "mvnw").chmod(0o755 if executable else 0o644)
    stack = drafted(tmp_path, {"pom.xml": POM.format("")})
    assert list(stack.needs) == ["java"]
    build = stack.variants["plain"].build[0]
    assert " ".join(build) == f"{'' if executable else 'sh '}app/mvnw -B -q -f app/pom.xml -DskipTests -o package"


@pytest.mark.parametrize("missing", ["mvnw", ".mvn/wrapper/maven-wrapper.properties"])
def test_half_a_wrapper_is_none(tmp_path: Path, missing: str) -> None:
    stack = drafted(
        tmp_path, {name: held for name, held in MVNW.items() if name != missing} | {"pom.xml": POM.format("")}
    )
    assert (list(stack.needs), stack.variants["plain"].build[0][0]) == (["java", "mvn"], "mvn")


@pytest.mark.parametrize(
    ("files", "built", "run"),
    [
        (
            {"build.gradle": SPRING},
            "bootJar / sh -c cp app/build/libs/*.jar service.jar",
            "java -jar ../service.jar --server.address={host} --server.port={port}",
        ),
        (
            {"build.gradle.kts": 'plugins { id("io.quarkus") }'},
            "quarkusBuild",
            "java -Dquarkus.http.host={host} -Dquarkus.http.port={port} -jar build/quarkus-app/quarkus-run.jar",
        ),
        (
            {"build.gradle.kts": 'plugins { id("io.ktor.plugin") }\nmainClass = "io.ktor.server.netty.EngineMain"'},
            "buildFatJar / sh -c cp app/build/libs/*-all.jar service.jar",
            "java -jar ../service.jar -host={host} -port={port}",
        ),
        (
            {"build.gradle": "plugins { id 'application' }", "settings.gradle": "rootProject.name = 'shop'"},
            "installDist",
            "app/build/install/shop/bin/shop",
        ),
        (
            {"build.gradle": SPRING, "Dockerfile": 'FROM x\nCMD ["java", "-Xmx1g", "-jar", "/app/a.jar"]\n'},
            "bootJar / sh -c cp app/build/libs/*.jar service.jar",
            "java -Xmx1g -jar ../service.jar --server.address={host} --server.port={port}",
        ),
        (
            {
                "build.gradle": SPRING,
                "Dockerfile": "FROM x\nCMD java $JAVA_OPTS -Xmx1g -jar /a.jar --debug --server.port=80\n",
            },
            "bootJar / sh -c cp app/build/libs/*.jar service.jar",
            "java -Xmx1g -jar ../service.jar --debug --server.address={host} --server.port={port}",
        ),
    ],
)
def test_gradle_builds_what_its_plugins_deploy(tmp_path: Path, files: dict[str, str], built: str, run: str) -> None:
    lay(tmp_path, GRADLEW)
    (tmp_path / "gradlew").chmod(0o755)
    stack = drafted(tmp_path, files)
    plain = stack.variants["plain"]
    assert list(stack.needs) == ["java"]
    assert (
        " / ".join(" ".join(words) for words in plain.build) == f"app/gradlew -p app -q --no-daemon --offline {built}"
    )
    assert " ".join(plain.run or []) == run


def test_what_a_command_of_java_loses_is_marked(tmp_path: Path) -> None:
    lay(tmp_path, {"Dockerfile": "FROM x\nCMD java $JAVA_OPTS -javaagent:/a.jar -jar /b.jar --config=/etc/shop.yml\n"})
    drafted(tmp_path, {"build.gradle": SPRING})
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert "# look: Dockerfile has `$JAVA_OPTS`, which nothing gives: left out" in text
    for word in ("-javaagent:/a.jar", "--config=/etc/shop.yml"):
        assert f"# look: Dockerfile has `{word}`: left out, for it names a file of the image" in text


def test_a_module_of_gradle_is_built_by_the_wrapper_above(tmp_path: Path) -> None:
    lay(
        tmp_path,
        GRADLEW | {"settings.gradle": "include(':web', \":core\")\n", "web/build.gradle": SPRING, ".git/x": ""},
    )
    lay(tmp_path, {"core/build.gradle": ""})
    (tmp_path / "gradlew").chmod(0o755)
    assert touchstone(tmp_path, "new", "bench", "--service", "web").returncode == 0
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert '["app/gradlew", "-p", "app/web", "-q", "--no-daemon", "--offline", "bootJar"]' in text
    assert '["sh", "-c", "cp app/web/build/libs/*.jar service.jar"]' in text
    assert '"-jar", "../../service.jar"' in text


def test_a_pom_of_modules_alone_names_them(tmp_path: Path) -> None:
    parent = POM.format("<packaging>pom</packaging><modules><module>core</module><module>web</module></modules>")
    lay(tmp_path, {"pom.xml": parent, "core/pom.xml": POM.format(""), "web/pom.xml": POM.format("")})
    done = touchstone(tmp_path, "new", "bench", "--service", ".")
    assert done.returncode == 2
    assert "--service core, --service web" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("more", "jar"),
    [
        (
            "<build><finalName>${project.artifactId}-${rev}</finalName></build><properties><rev>7</rev></properties>",
            "shop-7.jar",
        ),
        ("<packaging>war</packaging>", "shop-1.war"),
        ("<build><plugins><plugin><classifier>exec</classifier></plugin></plugins></build>", "shop-1-exec.jar"),
    ],
)
def test_the_jar_is_called_as_maven_calls_it(tmp_path: Path, more: str, jar: str) -> None:
    run = drafted(tmp_path, {"pom.xml": POM.format(more)}).variants["plain"].run
    assert run is not None
    assert f"target/{jar}" in run


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_what_an_installation_runs_has_the_sources(tmp_path: Path) -> None:
    scripts = {"postinstall": "prisma generate", "start": "node web.js"}
    manifest = json.dumps({"scripts": scripts, "dependencies": {"prisma": "6"}})
    install = drafted(tmp_path, {"package.json": manifest, "web.js": ""}).install
    assert install is not None
    assert install.files == []
