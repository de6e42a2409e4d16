"""What of a stack's folder is a source, and what an earlier build left there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from touchstone.manifest.sources import files_like, source_files
from touchstone.manifest.stack import Stack

STACK = {
    "schema": 1,
    "name": "one",
    "scenario": "demo",
    "title": "One",
    "language": "Go",
    "variants": {"plain": {"title": "plain", "run": ["./one"]}},
}


def stack_at(folder: Path, **keys: object) -> Stack:
    return Stack.model_validate(STACK | keys).model_copy(update={"folder": folder})


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def places(stack: Stack) -> list[str]:
    return [str(relative) for _, relative in source_files(stack)]


def test_what_a_build_by_hand_left_is_no_source(tmp_path: Path) -> None:
    write(tmp_path, "pom.xml", "target/a.jar", "web/package.json", "web/build/a.js", "web/node_modules/x/index.js")
    write(tmp_path, "api/api.csproj", "api/obj/project.assets.json", "api/bin/api.dll", "__pycache__/a.pyc")
    assert places(stack_at(tmp_path)) == ["api/api.csproj", "pom.xml", "web/package.json"]


def test_a_worktree_and_a_submodule_have_the_sources_of_a_clone(tmp_path: Path) -> None:
    write(tmp_path, "go.mod", ".git", "lib/.git", "lib/a.go", ".github/x.yml")
    assert places(stack_at(tmp_path)) == [".github/x.yml", "go.mod", "lib/a.go"]


def test_a_package_of_such_a_name_is_a_source(tmp_path: Path) -> None:
    write(tmp_path, "go.mod", "internal/build/build.go", "src/com/acme/target/Target.java", "bin/serve")
    assert places(stack_at(tmp_path)) == [
        "bin/serve",
        "go.mod",
        "internal/build/build.go",
        "src/com/acme/target/Target.java",
    ]


def test_an_output_that_is_named_is_a_source(tmp_path: Path) -> None:
    write(tmp_path, "build.gradle", "build/libs/app.jar", "build/tmp/app.jar")
    assert places(stack_at(tmp_path, sources=["build/libs/app.jar"])) == ["build/libs/app.jar"]


def test_a_repository_around_the_benchmark_brings_neither_scenarios_nor_results(tmp_path: Path) -> None:
    write(tmp_path, "package.json", "src/index.js", "results/1/plan.json", "results/1/samples/a.json", "results/note")
    write(tmp_path, "bench/scenario.toml", "bench/one/stack.toml", "bench/one/start.sh")
    stack = stack_at(tmp_path / "bench" / "one", extra_sources={"app": "../.."})
    assert places(stack) == ["app/package.json", "app/results/note", "app/src/index.js", "stack.toml", "start.sh"]
    assert [str(place) for _, place in files_like(stack, "app/package*.json")] == ["app/package.json"]
    assert files_like(stack, "package.json") == []


@pytest.mark.parametrize("pattern", ["start.sh", "*.sh", "./start.sh"])
def test_a_pattern_finds_files_of_the_stack(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, "start.sh")
    assert files_like(stack_at(tmp_path), pattern) == [(tmp_path / "start.sh", Path("start.sh"))]


@pytest.mark.parametrize("pattern", ["common/**", "common/**/", "common/**/*", "common"])
def test_two_stars_at_the_end_stand_for_the_files_at_any_depth(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, "shared/a.txt", "shared/deep/er/b.txt", "shared/node_modules/x/index.js", "stack/own.txt")
    stack = stack_at(tmp_path / "stack", extra_sources={"common": "../shared"})
    assert sorted(str(place) for _, place in files_like(stack, pattern)) == ["common/a.txt", "common/deep/er/b.txt"]


def test_two_stars_at_the_end_of_a_source_stand_for_the_files_at_any_depth(tmp_path: Path) -> None:
    write(tmp_path, "dist/a.js", "dist/deep/er/b.js", "src/c.ts")
    assert places(stack_at(tmp_path, sources=["dist/**"])) == ["dist/a.js", "dist/deep/er/b.js"]
    assert places(stack_at(tmp_path, sources=["**"])) == ["dist/a.js", "dist/deep/er/b.js", "src/c.ts"]


def service(tmp_path: Path, *names: str, **variant: object) -> Stack:
    """A stack in the repository of the service that it measures."""
    write(tmp_path, "server.js", "package.json", *names)
    plain = {"title": "plain", "run": ["./one"], **variant}
    return stack_at(tmp_path / "bench" / "one", extra_sources={"app": "../.."}, variants={"plain": plain})


def ignoring(tmp_path: Path, *patterns: str) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("\n".join(patterns))


def test_what_git_ignores_is_no_source_of_a_service(tmp_path: Path) -> None:
    stack = service(tmp_path, "dist/server.js", ".env.local", "a/cache/x", "tsconfig.tsbuildinfo", build=[["make"]])
    everything = places(stack)
    ignoring(tmp_path, "dist/", ".env*", "cache", "*.tsbuildinfo")
    assert "app/dist/server.js" in everything
    assert places(stack) == ["app/package.json", "app/server.js"]


def test_a_folder_that_git_ignores_whole_is_one_if_it_is_named(tmp_path: Path) -> None:
    ignoring(tmp_path, "settings/")
    write(tmp_path, "settings/local.json")
    stack = stack_at(tmp_path / "bench" / "one", extra_sources={"app": "../../settings"})
    assert places(stack) == ["app/local.json"]


def test_what_is_shipped_as_it_lies_is_a_source_though_a_build_left_it(tmp_path: Path) -> None:
    ignoring(tmp_path, "build/")
    jar = {"artifacts": ["app/build/libs/shop.jar"]}
    stack = service(tmp_path, "build.gradle", "build/libs/shop.jar", "build/tmp/x", **jar)
    assert "app/build/libs/shop.jar" in places(stack)
    assert "app/build/tmp/x" not in places(stack)
    assert "app/build/libs/shop.jar" not in places(service(tmp_path, **jar, build=[["make"]]))


def test_what_is_installed_is_none_though_it_lies_there(tmp_path: Path) -> None:
    install = {"commands": [["npm", "ci"]], "leaves": ["app/node_modules"]}
    artifacts = ["app/node_modules", "app/server.js"]
    assert places(service(tmp_path, "node_modules/x/index.js", install=install, artifacts=artifacts)) == [
        "app/package.json",
        "app/server.js",
    ]


def test_what_git_ignores_is_no_source_unless_it_is_named(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    write(tmp_path, "svc/go.mod", "svc/local.env", "svc/out/one", "svc/log/a.log", "svc/new.go", "svc/.gitignore")
    (tmp_path / ".gitignore").write_text("*.env\nout/\n")
    (tmp_path / "svc/.gitignore").write_text("/log\n")
    assert places(stack_at(tmp_path / "svc")) == [".gitignore", "go.mod", "new.go"]
    named = stack_at(tmp_path / "svc", sources=["*.mod", "local.env", "out/**/*", "log/*.log", "*.env"])
    assert places(named) == ["go.mod", "local.env", "log/a.log", "out/one"]


def test_a_stack_that_git_ignores_as_a_whole_has_its_sources(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    write(tmp_path, "svc/go.mod", "svc/main.go")
    (tmp_path / ".gitignore").write_text("svc/\n")
    assert places(stack_at(tmp_path / "svc")) == ["go.mod", "main.go"]
