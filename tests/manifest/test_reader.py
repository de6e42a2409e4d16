"""A manifest that is wrong says which file, which key, what was expected, and the fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.failure import ExitCode, UsageError
from touchstone.manifest.catalogue import find_scenario, read_scenario_folder, select_contenders
from touchstone.manifest.reader import ManifestError, read_manifest
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.stack import Stack
from touchstone.plan.plan import find_tools

SCENARIO = """
schema = 1
name = "demo"
title = "Demo"
summary = "A demo"
[ready]
target = "/ping"
[[contract]]
id = "ping"
says = "ping answers"
steps = [{ target = "/ping", expect = { body = "pong" } }]
[loads.ping]
title = "Ping"
requests = [{ target = "/ping" }]
"""

STACK = """
schema = 1
name = "one"
scenario = "demo"
title = "One"
language = "Python"
[needs]
python3 = ">=3.11"
[variants.plain]
title = "plain"
run = ["python3", "server.py"]
"""


def written(folder: Path, scenario: str = SCENARIO, stack: str = STACK) -> Path:
    (folder / "one").mkdir(parents=True, exist_ok=True)
    (folder / "scenario.toml").write_text(scenario)
    (folder / "one" / "stack.toml").write_text(stack)
    return folder


def test_a_sound_folder_is_read(tmp_path: Path) -> None:
    found = read_scenario_folder(written(tmp_path / "demo"))
    assert found.scenario.name == "demo"
    assert [contender.name for contender in select_contenders(found, [])] == ["one/plain"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("title =", "titel ="), ["titel", "did you mean 'title'"]),
        (('name = "demo"', "name = 7"), ["name", "string"]),
        (('name = "demo"', 'name = "De mo"'), ["name", "De mo"]),
        (("schema = 1", "schema = 2"), ["schema", "1"]),
        (("[ready]", "[reddy]"), ["ready", "missing"]),
        (("requests = [", "reqests = ["), ["reqests", "did you mean 'requests'"]),
        (('title = "Ping"', 'title = "Ping"\nloop = "open"'), ["rate", "requests per second"]),
        (('title = "Ping"', 'title = "Ping"\nconnections = 0'), ["connections", "greater than or equal to 1"]),
        (("expect = { body", "expect = { boddy"), ["boddy", "did you mean 'body'", "see [ready.expect] in docs/manif"]),
        (('title = "Ping"', 'title = "Ping"\nrate = -1.0'), ["`touchstone check --keys loads.NAME`"]),
        (("summary =", "summary"), ["not TOML"]),
    ],
)
def test_a_wrong_scenario_names_file_key_and_fix(tmp_path: Path, change: tuple[str, str], said: list[str]) -> None:
    folder = written(tmp_path / "demo", scenario=SCENARIO.replace(*change, 1))
    with pytest.raises(ManifestError) as caught:
        read_scenario_folder(folder)
    message = str(caught.value)
    assert caught.value.exit_code is ExitCode.USAGE
    assert "scenario.toml" in message
    for part in said:
        assert part in message


PING = 'steps = [{ target = "/ping", expect = { body = "pong" } }]'


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ('[{ target = "/", expect = { status = "200" } }]', "whole number or list of whole numbers; found '200'"),
        (
            '[{ target = "/", expect = { status = [200, "404"] } }]',
            "'contract.0.steps.0.expect.status.1': input",
        ),
        ("[5]", "key 'contract.0.steps.0': input should be: table; found 5"),
        ("[{ wait_s = 0.0 }]", "key 'contract.0.steps.0.wait_s': input should be greater than 0; found 0.0"),
        ('[{ dependency = "database", act = 3 }]', "key 'contract.0.steps.0.act': input should be a valid string"),
        ('[{ dependency = "d", act = "a", with = { x = [1] } }]', "texts, whole numbers"),
        ('[{ target = "/", expect = { json = { user = { name = "{fresh}" } } } }]', "compared as a whole"),
        ('[{ target = "/", expect = { json = { day = 2026-01-01 } } }]', "2026-01-01 is not a value of JSON"),
        ('[{ target = "/", expect = { json = { age = { type = "int" } } } }]', "the types are string, number, integer"),
        ('[{ target = "/", expect = { json = { a = [{ type = "integer" }] } } }]', "no type can stand in it"),
    ],
)
def test_of_a_union_one_error_is_told(tmp_path: Path, steps: str, said: str) -> None:
    said = said.replace(
        "texts, whole numbers", "input should be: text with placeholders, whole number, number or boolean"
    )
    folder = written(tmp_path / "demo", scenario=SCENARIO.replace(PING, f"steps = {steps}"))
    with pytest.raises(ManifestError) as caught:
        read_scenario_folder(folder)
    assert said in caught.value.what
    assert "\n" not in caught.value.what


LOAD = 'title = "Ping"\n'


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((LOAD, LOAD + "steps = 3\n"), "'closed' has no steps"),
        ((LOAD, LOAD + 'loop = "open"\nrate = 5.0\nsteps = 3\n'), "'open' has no steps"),
        ((LOAD, LOAD + 'arrivals = "uniform"\n'), "a closed loop has no arrivals"),
        ((LOAD, LOAD + "pipeline = 4\nkeepalive = false\n"), "needs `keepalive`"),
        ((LOAD, LOAD + "streams = 4\n"), "streams belong to HTTP/2"),
        ((LOAD, LOAD + 'protocol = "h2c"\npipeline = 4\n'), "a pipeline belongs to HTTP/1.1"),
        ((LOAD, LOAD + 'protocol = "h2c"\nkeepalive = false\n'), "connections of HTTP/2 are kept"),
        ((LOAD, LOAD + "requests_per_connection = 2\nkeepalive = false\n"), "needs `keepalive`"),
        ((LOAD, LOAD + "requests_per_connection = 2\npipeline = 2\n"), "a pipeline of 1"),
        ((LOAD, LOAD + 'requests_per_connection = 2\nprotocol = "h2c"\n'), "belongs to HTTP/1.1"),
        ((LOAD, LOAD + "requests_per_connection = 0\n"), "requests_per_connection"),
        ((LOAD, LOAD + 'protocol = "h2"\npipeline = 4\n'), "a pipeline belongs to HTTP/1.1"),
        ((LOAD, LOAD + 'protocol = "h2"\ntls = false\n'), '"h2" is HTTP/2 over TLS'),
        ((LOAD, LOAD + 'protocol = "h2c"\ntls = true\n'), '"h2c" is HTTP/2 without TLS'),
        ((LOAD, LOAD + 'protocol = "h3"\n'), "protocol"),
        ((PING, 'steps = [{ target = "/", concurrent = 5 }]'), "`concurrent` 5 is above `repeat` 1"),
        ((PING, 'steps = [{ target = "/", expect = { encoding = "decoded" } }]'), "goes with body, pattern or json"),
        (("[loads.ping]", '[hold]\nrequest = { target = "/" }\nlevels = [10]\n[loads.ping]'), "one level"),
        (
            ("[loads.ping]", '[hold]\nrequest = { target = "/" }\nlevels = []\nlarge_settings = {A = 1}\n[loads.ping]'),
            "`large_levels`, and there are none",
        ),
        (("[loads.ping]", '[floor]\nload = "ping"\nfrom_mb = 64\nto_mb = 64\n[loads.ping]'), "no limit lies between"),
    ],
)  # fmt: skip
def test_a_key_of_a_scenario_that_would_have_no_effect_is_refused(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    assert change[0] in SCENARIO
    with pytest.raises(ManifestError) as caught:
        read_scenario_folder(written(tmp_path / "demo", scenario=SCENARIO.replace(*change, 1)))
    assert said in caught.value.what


RUN = 'run = ["python3", "server.py"]'
SECOND = RUN + '\n[variants.two]\ntitle = "2"\nbase = "plain"\n'
INSTALL = 'install = { commands = [["true"]] }'


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((RUN, SECOND + 'build_env = { A = "1" }'), "variants.two has `build_env` and no `build`"),
        ((RUN, RUN + '\nbuild_env = { A = "1" }'), "variants.plain has `build_env` and no `build`"),
        ((RUN, SECOND + INSTALL), "variants.two has a `base`, an `install` and no `build`"),
        ((RUN, RUN + '\nprofiled = { build_env = { A = "1" } }'), "`profiled.build_env`"),
        ((RUN, SECOND + 'sound_twin = "plain"'), "is not an exhibit"),
        ((RUN, RUN + '\nmemory_settings = [{ title = "x", args = ["-a"], heap_share = 0.5 }]'), "{heap_mb}"),
        (("[needs]", INSTALL + "\n[needs]"), None),
        ((RUN, RUN + "\n" + INSTALL), None),
        ((RUN, SECOND + 'train = ["python3", "x.py"]\n' + INSTALL), None),
        ((RUN, SECOND + 'build = [["true"]]\nbuild_env = { A = "1" }\n' + INSTALL), None),
    ],
)
def test_a_key_of_a_stack_that_would_have_no_effect_is_refused(
    tmp_path: Path, change: tuple[str, str], said: str | None
) -> None:
    assert change[0] in STACK
    folder = written(tmp_path / "demo", stack=STACK.replace(*change, 1))
    if said is None:
        read_scenario_folder(folder)
        return
    with pytest.raises(ManifestError) as caught:
        read_scenario_folder(folder)
    assert said in caught.value.what


def test_an_installation_that_no_variant_uses_is_refused(tmp_path: Path) -> None:
    stack = STACK.replace("[needs]", INSTALL + "\n[needs]").replace(RUN, 'image = "registry/one:2"')
    with pytest.raises(ManifestError, match="`install` is used by no variant"):
        read_scenario_folder(written(tmp_path / "demo", stack=stack))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('scenario = "demo"', 'scenario = "other"'), ["other", "demo"]),
        (('title = "plain"', 'title = "plain"\nbase = "jvm"'), ["base", "jvm"]),
        (('run = ["python3", "server.py"]', ""), ["run"]),
        (('run = ["python3", "server.py"]', "run = []"), ["run"]),
        (('title = "plain"', 'title = "plain"\nbase = "plain"'), ["base"]),
        (('run = ["python3", "server.py"]', 'image = { dockerfil = "D" }'), ["image.dockerfil", "'dockerfile'"]),
        (('run = ["python3", "server.py"]', 'image = { target = "x" }'), ["name one of them"]),
        (('run = ["python3", "server.py"]', 'image = { reference = "a", args = { B = "1" } }'), ["nothing is built"]),
        (('run = ["python3", "server.py"]', 'image = { dockerfile = "../Dockerfile" }'), ["image.dockerfile", ".."]),
        (('run = ["python3", "server.py"]', 'image = "-a"'), ["image.reference"]),
        (('title = "plain"', 'title = "plain"\nport = 65536'), ["port"]),
        (('run = ["python3", "server.py"]', 'run = ["a", "{port}"]\nport = 8080'), ["leave one of the two out"]),
        (('title = "plain"', 'title = "plain"\nimage = "a:1"'), ["`run` does not apply"]),
        (
            ('run = ["python3", "server.py"]', 'image = "a:1"\n[variants.two]\ntitle = "2"\nbase = "plain"'),
            ["an image"],
        ),
        (
            ('run = ["python3", "server.py"]', 'image = "a"\nmemory_settings = [{ title = "x", args = ["-Xmx1m"] }]'),
            ["memory_settings", "`env`"],
        ),
    ],
)
def test_a_wrong_stack_names_file_key_and_fix(tmp_path: Path, change: tuple[str, str], said: list[str]) -> None:
    folder = written(tmp_path / "demo", stack=STACK.replace(*change, 1))
    with pytest.raises(ManifestError) as caught:
        read_scenario_folder(folder)
    for part in ["stack.toml", *said]:
        assert part in str(caught.value)


def test_an_unknown_scenario_lists_those_that_there_are(tmp_path: Path) -> None:
    written(tmp_path / "demo")
    with pytest.raises(UsageError, match=r"did you mean 'demo'"):
        find_scenario("dmeo", tmp_path)


def test_an_unknown_stack_or_variant_lists_those_that_there_are(tmp_path: Path) -> None:
    found = read_scenario_folder(written(tmp_path / "demo"))
    with pytest.raises(UsageError, match="there are: one"):
        select_contenders(found, ["two"])
    with pytest.raises(UsageError, match="there are: plain"):
        select_contenders(found, ["one/native"])


def test_a_bad_version_range_is_named(tmp_path: Path) -> None:
    found = read_scenario_folder(written(tmp_path / "demo", stack=STACK.replace(">=3.11", "newest")))
    with pytest.raises(UsageError, match="newest"):
        find_tools(select_contenders(found, [])[0])


def test_a_missing_tool_is_said_with_the_way_to_get_it(tmp_path: Path) -> None:
    found = read_scenario_folder(written(tmp_path / "demo", stack=STACK.replace(">=3.11", ">=99")))
    reason = find_tools(select_contenders(found, [])[0])
    assert isinstance(reason, str)
    assert "needs python3 >=99" in reason
    assert "install" in reason


def test_an_image_needs_what_runs_it_and_nothing_else(tmp_path: Path) -> None:
    stack = STACK.replace(">=3.11", ">=99").replace('run = ["python3", "server.py"]', 'image = "registry/one:2"')
    (contender,) = select_contenders(read_scenario_folder(written(tmp_path / "demo", stack=stack)), [])
    assert contender.needs == {"podman-or-docker": ""}
    assert contender.variant.image is not None
    assert contender.variant.image.reference == "registry/one:2"


@pytest.mark.parametrize("folder", sorted((Path(__file__).parents[2] / "scenarios").glob("*/scenario.toml")))
def test_every_manifest_of_the_lab_is_sound(folder: Path) -> None:
    read_manifest(folder, Scenario)
    for stack in folder.parent.glob("*/stack.toml"):
        read_manifest(stack, Stack)
