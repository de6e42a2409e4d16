"""A kept build fits only the same sources and tools."""

from __future__ import annotations

from pathlib import Path

from packaging.version import Version

from touchstone.manifest.catalogue import read_scenario_folder
from touchstone.manifest.stack import Stack
from touchstone.phase.build.workshop import build_key
from touchstone.plan.plan import Tools
from touchstone.toolchain.tool import FoundTool

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"


def builder(note: str) -> dict[str, FoundTool]:
    return {"native-image": FoundTool("native-image", Path("/opt/native-image"), Version("25.0.2"), {}, note)}


def kotlin() -> Stack:
    stacks = read_scenario_folder(SCENARIOS / "users").stacks
    return next(stack for stack in stacks if stack.name == "kotlin-http4k")


def test_two_builders_of_one_version_do_not_share_images() -> None:
    stack = kotlin()
    assert build_key(stack, "native", builder("made by one")) == build_key(stack, "native", builder("made by one"))
    assert build_key(stack, "native", builder("made by one")) != build_key(stack, "native", builder("made by another"))


def test_metadata_written_by_hand_is_part_of_an_image(tmp_path: Path) -> None:
    stack = kotlin()
    keys = set()
    for line in ("{}", '{"reflection": []}'):
        copy = stack.model_copy(update={"folder": tmp_path, "sources": []})
        for name in stack.variants["native"].extra_configuration:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(line)
        keys.add(build_key(copy, "native", builder("made by one")))
    assert len(keys) == 2


def test_how_an_image_is_run_is_no_part_of_its_build(tmp_path: Path) -> None:
    def key(port: int | None = None, **image: object) -> str:
        described = {"dockerfile": "Dockerfile", **image}
        variants = {"plain": {"title": "an image", "image": described, **({"port": port} if port else {})}}
        words = {"schema": 1, "name": "one", "scenario": "demo", "title": "One", "language": "Go", "variants": variants}
        return build_key(Stack.model_validate(words).model_copy(update={"folder": tmp_path}), "plain", {})

    assert key() == key(port=8080, seccomp="unconfined")
    assert key() != key(args={"PORT": "8080"})


def test_a_builder_is_named_beside_its_version() -> None:
    assert Tools(builder("made by one")).versions == {"native-image": "25.0.2 (made by one)"}
    assert Tools(builder("")).versions == {"native-image": "25.0.2"}
