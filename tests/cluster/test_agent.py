"""What an agent does on its node, without Ray: keeps what is shipped, starts load processes, gives results back."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import time
from pathlib import Path

import pytest

from touchstone.cluster.agent import Agent
from touchstone.engine.locate import engine_digest, engine_path


@pytest.fixture(name="agent")
def an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Agent()


def said(agent: Agent, worker: str) -> tuple[str, str]:
    """All that a worker says until it ends."""
    text, deadline = "", time.monotonic() + 30
    while time.monotonic() < deadline:
        more, ended = agent.listen(worker, 0.2)
        text += more
        if ended is not None:
            return text, ended
    raise AssertionError(f"it did not end; it said {text}")


def test_an_engine_is_shipped_once_and_known_by_its_content(agent: Agent) -> None:
    assert not agent.has_engine(engine_digest())
    agent.take_engine(engine_digest(), engine_path().read_bytes())
    assert agent.has_engine(engine_digest()) and Agent().has_engine(engine_digest())
    assert not agent.has_engine("0" * 64)


def test_a_load_process_that_is_told_nonsense_says_so_and_how_it_ended(agent: Agent) -> None:
    agent.take_engine(engine_digest(), engine_path().read_bytes())
    agent.start("one", "load")
    agent.tell("one", "no order\n")
    text, ended = said(agent, "one")
    assert "Failed" in json.loads(text.splitlines()[0]) and "code 1" in ended
    agent.end("one")


def test_a_load_process_ends_with_its_orders(agent: Agent) -> None:
    agent.take_engine(engine_digest(), engine_path().read_bytes())
    agent.start("one", "load")
    agent.close("one")
    said(agent, "one")
    agent.end("one")


def test_a_program_is_sent_carried_out_and_its_results_come_back(agent: Agent, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        program = (
            b"import pathlib, os; pathlib.Path('out').mkdir(); pathlib.Path('out/x').write_text(os.environ['WORD'])"
        )
        entry = tarfile.TarInfo("main.py")
        entry.size = len(program)
        archive.addfile(entry, io.BytesIO(program))
    digest = hashlib.sha256(buffer.getvalue()).hexdigest()
    assert agent.has_lab(digest) is None
    home = agent.take_lab(digest, buffer.getvalue())
    assert agent.has_lab(digest) == home
    agent.start_lab("lab", home, ["main.py"], {"WORD": "kept"})
    said(agent, "lab")
    assert agent.code("lab") == 0
    with tarfile.open(fileobj=io.BytesIO(agent.give(f"{home}/out"))) as packed:
        packed.extractall(tmp_path / "back", filter="data")
    assert (tmp_path / "back/x").read_text() == "kept"
    assert not Path(home, "out").exists()
