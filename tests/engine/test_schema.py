"""The engine's schemas hold for its real input and output, for the documented examples, and for our records."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pydantic
import pytest
from jsonschema import Draft202012Validator, ValidationError

from tests.engine.protocol import TARGET, generated, schemas
from tests.engine.protocol_page import page
from touchstone.engine.locate import engine_path
from touchstone.engine.slices import SlicesResult
from touchstone.isolation.port import free_port
from touchstone.record.base import Record
from touchstone.record.boot_result import BootResult
from touchstone.record.engine import LoadResult
from touchstone.record.evidence.stop import StopResult
from touchstone.record.hold_result import HoldResult
from touchstone.traffic.null_server import EngineServer, server

PAGE = Path(__file__).parents[2] / "docs" / "engine-protocol.md"
JOBS = ("load", "slices", "boot", "hold", "stop")
COMMANDS = (*JOBS, "ask", "relay")


def check(command: str, document: str, instance: object) -> None:
    """Raise ValidationError if a document is not what its schema says."""
    Draft202012Validator(schemas()[command][document]).validate(instance)


def run(command: str, job: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """Hand a job to the engine by a file, as `slices` has to have it."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as place:
        json.dump(job, place)
        place.flush()
        line = [str(engine_path()), command, f"--job={place.name}", "--progress"]
        return subprocess.run(line, check=False, input="", capture_output=True, text=True)


def carried_out(command: str, job: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The result and the events of a job."""
    done = run(command, job)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), [json.loads(line) for line in done.stderr.splitlines()]


@pytest.fixture(name="null")
def running_null() -> Iterator[EngineServer]:
    """The engine's null server."""
    with server("null", [], [0]) as listening:
        yield listening


@pytest.mark.parametrize("command", COMMANDS)
def test_each_schema_is_one(command: str) -> None:
    others = {
        "ask": {"order", "answer"},
        "relay": {"order", "answer"},
        "stop": {"job", "result"},
        "slices": {"job", "order", "result", "event"},
    }
    assert set(schemas()[command]) == others.get(command, {"job", "result", "event"})
    for schema in schemas()[command].values():
        Draft202012Validator.check_schema(schema)


def test_a_start_is_what_its_schema_says(tmp_path: Path) -> None:
    port = free_port()
    job = {
        "argv": [str(engine_path()), "null", f"--port={port}"],
        "url": f"http://127.0.0.1:{port}/",
        "repeats": 2,
        "settle_s": 0.05,
        "log": str(tmp_path / "log"),
    }
    check("boot", "job", job)
    result, events = carried_out("boot", job)
    assert [run["failure"] for run in result["runs"]] == [None, None]
    check("boot", "result", result)
    check("boot", "job", result["job"])
    assert [event["number"] for event in events] == [0, 1]
    for event in events:
        check("boot", "event", event)


def test_a_start_that_fails_is_what_its_schema_says() -> None:
    result, _ = carried_out("boot", {"argv": ["/bin/false"], "url": f"http://127.0.0.1:{free_port()}/"})
    assert result["runs"][0]["failure"] == "exited"
    assert result["runs"][0]["rss"] is None
    check("boot", "result", result)


def traffic(null: EngineServer) -> dict[str, Any]:
    """What loads the null server, watched."""
    return {
        "url": f"{null.url}/",
        "connections": 4,
        "watch": {"pid": null.pid, "allowed_cpus": [0]},
    }


@pytest.mark.parametrize("loop", [{"kind": "closed"}, {"kind": "open", "rate": 500.0}])
def test_a_load_is_what_its_schema_says(null: EngineServer, loop: dict[str, Any]) -> None:
    job = traffic(null) | {"loop": loop, "warmup_s": 0.1, "duration_s": 0.3, "series_interval_s": 0.1}
    check("load", "job", job)
    result, events = carried_out("load", job)
    assert result["counts"]["ok"] > 0
    check("load", "result", result)
    check("load", "job", result["job"])
    assert {event["event"] for event in events} >= {"connected", "phase"}
    for event in events:
        check("load", "event", event)


def test_slices_are_what_their_schema_says(null: EngineServer, tmp_path: Path) -> None:
    job = {"contenders": [{"name": "one", "job": traffic(null)}, {"name": "two", "job": traffic(null)}]}
    check("slices", "job", job)
    place, out = tmp_path / "job", tmp_path / "result"
    place.write_text(json.dumps(job))
    turns = [{"contender": number, "seconds": 0.1} for number in (0, 1)]
    orders = [{"order": "slices", "phase": phase, "turns": turns} for phase in ("warmup", "load")] + [{"order": "end"}]
    for order in orders:
        check("slices", "order", order)
    done = subprocess.run(
        [engine_path(), "slices", f"--job={place}", f"--out={out}", "--progress"],
        check=False,
        input="".join(json.dumps(order) + "\n" for order in orders),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert [event["event"] for event in events].count("slice") == 4
    for event in events:
        check("slices", "event", event)
    check("slices", "result", json.loads(out.read_text()))


def test_orders_and_answers_are_what_their_schema_says(null: EngineServer) -> None:
    values = {"counter": 1, "seed": 1, "fresh": "f", "captured": {"id": "7"}}
    request = {"target": "/{capture.id}", "expect": {"status": [200]}}
    asked = {"request": request, "captures": {"all": {"pattern": ".*"}}}
    orders: list[dict[str, Any]] = [
        {"order": "send", "url": null.url, "asked": asked, "values": values, "repeat": 2, "lane": 1},
        {"order": "render", "values": values, "texts": [{"text": "{counter}", "place": "target"}]},
        {"order": "compile", "requests": [asked]},
        {"order": "url", "url": null.url},
        {"order": "resolve", "url": null.url},
        {"order": "locate", "url": null.url},
        {"order": "speaks_http2", "url": null.url},
        {"order": "release", "lane": 1},
        {"order": "url", "url": "none"},
    ]
    lines = []
    for number, order in enumerate(orders):
        check("ask", "order", order | {"id": number})
        lines.append(json.dumps(order | {"id": number}))
    done = subprocess.run(
        [engine_path(), "ask"], check=True, input="\n".join(lines), capture_output=True, text=True, timeout=30
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(len(orders)))
    for answer in answers:
        check("ask", "answer", answer)


def test_held_connections_are_what_their_schema_says(null: EngineServer) -> None:
    job = {
        "url": f"{null.url}/",
        "levels": [0, 20],
        "mode": "traffic",
        "watch": [null.pid],
        "settle_s": 0.1,
        "traffic_s": 0.2,
        "after_close_s": 0.1,
    }
    check("hold", "job", job)
    result, events = carried_out("hold", job)
    assert [level["held"] for level in result["levels"]] == [0, 20]
    check("hold", "result", result)
    check("hold", "job", result["job"])
    for event in events:
        check("hold", "event", event)


def example(command: str) -> dict[str, Any]:
    """The job that the documentation shows."""
    shown: dict[str, Any] = schemas()[command]["job"]["examples"][0]
    return shown


@pytest.mark.parametrize("command", JOBS)
def test_a_field_that_a_job_does_not_have_is_an_error_on_both_sides(command: str) -> None:
    job = example(command) | {"watc": 1}
    with pytest.raises(ValidationError, match="watc"):
        check(command, "job", job)
    refused = run(command, job)
    assert refused.returncode == 2
    assert "watc" in refused.stderr


@pytest.mark.parametrize("command", JOBS)
def test_the_job_that_is_shown_is_one(command: str) -> None:
    check(command, "job", example(command))


def test_a_figure_may_be_null_and_a_count_may_not() -> None:
    result, _ = carried_out("boot", {"argv": ["/bin/false"], "url": f"http://127.0.0.1:{free_port()}/"})
    start = result["runs"][0]
    for field, wrong in (("rss", "none"), ("polls", None)):
        result["runs"] = [start | {field: wrong}]
        with pytest.raises(ValidationError):
            check("boot", "result", result)


@pytest.mark.parametrize(
    ("command", "record"),
    [("load", LoadResult), ("boot", BootResult), ("hold", HoldResult), ("slices", SlicesResult), ("stop", StopResult)],
)
def test_our_records_have_the_fields_that_the_engine_writes_and_no_others(command: str, record: type[Record]) -> None:
    schema = schemas()[command]["result"]
    assert set(unlike(schema, schema, record, command)) == SET_BY_THE_LAB.get(command, set())


SET_BY_THE_LAB = {"load": {"load.joining_cpu_s"}, "slices": {"slices.contenders.joining_cpu_s"}}


def test_a_field_that_our_records_do_not_have_is_an_error() -> None:
    result, _ = carried_out("boot", {"argv": ["/bin/false"], "url": f"http://127.0.0.1:{free_port()}/"})
    result["runs"][0]["warmth"] = 1
    with pytest.raises(pydantic.ValidationError, match="warmth"):
        BootResult.model_validate(result, extra="forbid")
    assert BootResult.model_validate(result).runs[0].failure == "exited"


def unlike(root: dict[str, Any], part: dict[str, Any], record: type[Record], path: str) -> Iterator[str]:
    """Fields that only one side has, by their path; down to every part that is a record."""
    for written in fields_of(root, part):
        read = {field.alias or name: field for name, field in record.model_fields.items()}
        yield from (f"{path}.{name}" for name in written.keys() ^ read.keys())
        for name in written.keys() & read.keys():
            for inner in records_in(read[name].annotation):
                yield from unlike(root, written[name], inner, f"{path}.{name}")


def fields_of(root: dict[str, Any], part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The properties of a part, of its references, of its variants, and of its items."""
    if "$ref" in part:
        yield from fields_of(root, root["$defs"][part["$ref"].rsplit("/", 1)[-1]])
    for variant in part.get("anyOf", []) + part.get("oneOf", []):
        yield from fields_of(root, variant)
    if "items" in part:
        yield from fields_of(root, part["items"])
    if "properties" in part:
        yield part["properties"]


def records_in(annotation: Any) -> list[type[Record]]:
    """The records that an annotation names."""
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return [annotation]
    return [record for inner in get_args(annotation) for record in records_in(inner)]


def test_the_jobs_types_are_those_of_this_engine() -> None:
    assert TARGET.read_text(encoding="utf-8") == generated(), "run `python -m tests.engine.protocol`"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "docs/engine-protocol.md is old: run `python -m tests.engine.protocol_page > docs/engine-protocol.md`"
    )


def test_every_field_is_described() -> None:
    described = {
        f"{command} {document}: {part}.{field}": says.get("description")
        for command, documents in schemas().items()
        for document, schema in documents.items()
        for part, inner in {"": schema, **schema.get("$defs", {})}.items()
        if part != "Traffic"
        for field, says in inner.get("properties", {}).items()
    }
    assert [place for place, says in described.items() if not says] == []
