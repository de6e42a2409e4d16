"""`touchstone comment` against a server on this machine that plays GitHub's endpoints."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests import command
from tests.golden.golden import HERE
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.pair import PairJudgement, Revision, judge_pair
from touchstone.judge.judge import judge
from touchstone.record.store import REVISIONS, load_run
from touchstone.report.pull_request import earlier_verdicts, mark_of

COMMIT = "0123456789" * 4
REPEAT = ["git fetch origin a b", "touchstone ab a b --margin 3%"]


class GitHub:
    """Comments of one repository, and what is refused."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.pulls = [{"number": 8, "state": "closed"}, {"number": 7, "state": "open"}]
        self.refused = 0
        self.calls: list[str] = []
        self.tokens: set[str | None] = set()

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        self.calls.append(f"{method} {path.partition('?')[0]}")
        if self.refused:
            return self.refused, {"message": "Resource not accessible by integration"}
        if method == "GET" and path == f"/repos/o/r/commits/{COMMIT}/pulls":
            return 200, self.pulls
        if method == "GET" and (page := re.fullmatch(r"/repos/o/r/issues/7/comments\?per_page=100&page=(\d+)", path)):
            begin = 100 * (int(page[1]) - 1)
            return 200, self.comments[begin : begin + 100]
        if method == "POST" and path == "/repos/o/r/issues/7/comments":
            made = self.add(body["body"], bot=True)
            return 201, made
        if method == "PATCH" and (found := re.fullmatch(r"/repos/o/r/issues/comments/(\d+)", path)):
            one = self.comments[int(found[1]) - 1]
            one["body"] = body["body"]
            return 200, one
        return 404, {"message": "Not Found"}

    def add(self, body: str, *, bot: bool = False, association: str = "NONE") -> dict[str, Any]:
        number = len(self.comments) + 1
        made = {
            "id": number,
            "body": body,
            "user": {"type": "Bot" if bot else "User"},
            "author_association": association,
            "html_url": f"https://github.example/o/r/pull/7#issuecomment-{number}",
        }
        self.comments.append(made)
        return made


class _Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        hub: GitHub = self.server.hub  # type: ignore[attr-defined]
        hub.tokens.add(self.headers["Authorization"])
        text = self.rfile.read(int(self.headers["Content-Length"] or 0))
        status, found = hub.answer(self.command, self.path, json.loads(text or b"{}"))
        body = json.dumps(found).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", f"http://{self.headers['Host']}/elsewhere")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = _answer

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def hub() -> Iterator[GitHub]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.hub = found = GitHub()  # type: ignore[attr-defined]
        found.url = f"http://127.0.0.1:{server.server_port}"  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield found
        server.shutdown()


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gate") / "run"
    with tarfile.open(HERE / "runs/newcomer.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    run = load_run(folder)
    terms = ComparisonTerms(margin=0.03, confidence=0.95, figures={"throughput": None})
    sides = [(name, Revision(name=name, commit=commit)) for name, commit in (("go/plain", "a"), ("rust/plain", "b"))]
    judged = judge_pair(run, judge(run), (sides[0], sides[1]), terms, "go/plain")
    judged.repeat = REPEAT
    (folder / REVISIONS).write_text(judged.model_dump_json(by_alias=True))
    return folder


def commented(
    folder: Path, hub: GitHub, event: dict[str, Any] | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    file = folder.parent / "event.json"
    file.write_text(json.dumps({"pull_request": {"number": 7}} if event is None else event))
    given = {
        "GITHUB_TOKEN": "secret",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_API_URL": hub.url,  # type: ignore[attr-defined]
        "GITHUB_EVENT_PATH": str(file),
        "GITHUB_SHA": COMMIT,
        "GITHUB_STEP_SUMMARY": str(folder.parent / "summary"),
        **env,
    }
    return command.touchstone("comment", "run", cwd=folder.parent, env=given)


def judged_in(folder: Path) -> PairJudgement:
    return PairJudgement.model_validate_json((folder / REVISIONS).read_bytes())


def test_one_comment_is_written_and_then_replaced_with_the_verdicts_before(gate: Path, hub: GitHub) -> None:
    for _ in range(120):
        hub.add("Looks good to me", association="MEMBER")
    first = commented(gate, hub)
    assert first.returncode == 0, first.stderr
    assert "https://github.example/o/r/pull/7#issuecomment-121" in first.stdout
    body = hub.comments[-1]["body"]
    assert body.startswith(mark_of(judged_in(gate)))
    for words in ("| load | figure |", "head / base", "●", *REPEAT):
        assert words in body
    assert len(body) < 65_536
    assert "| head | verdict |" not in body
    again = commented(gate, hub)
    assert again.returncode == 0
    assert len(hub.comments) == 121
    assert hub.calls[-1] == "PATCH /repos/o/r/issues/comments/121"
    assert hub.comments[-1]["body"].count("| `b` |") == 2
    assert hub.tokens == {"Bearer secret"}


def test_a_push_finds_the_open_pull_request_of_its_commit(gate: Path, hub: GitHub) -> None:
    assert commented(gate, hub, {"ref": "refs/heads/main"}).returncode == 0
    assert hub.calls[0] == f"GET /repos/o/r/commits/{COMMIT}/pulls"
    assert len(hub.comments) == 1


def test_a_comment_of_somebody_who_may_not_write_is_left_alone(gate: Path, hub: GitHub) -> None:
    hub.add(mark_of(judged_in(gate)) + "\nall is well")
    assert commented(gate, hub).returncode == 0
    assert hub.comments[0]["body"].endswith("all is well")
    assert len(hub.comments) == 2


@pytest.mark.parametrize(
    ("status", "event", "env", "words"),
    [
        (0, None, {"GITHUB_TOKEN": ""}, "GITHUB_TOKEN is not set"),
        (403, None, {}, "pull-requests: write"),
        (500, None, {}, "status 500"),
        (302, None, {}, "status 302"),
        (200, None, {}, "none of GitHub's API"),
        (0, {}, {"GITHUB_SHA": ""}, "not about a pull request"),
        (0, {}, {"GITHUB_SHA": "f" * 40}, "status 404"),
        (0, None, {"GITHUB_REPOSITORY": "../x"}, "OWNER/NAME"),
        (0, None, {"GITHUB_API_URL": "file:///etc"}, "without http://"),
        (0, None, {"GITHUB_API_URL": "http://127.0.0.1:1"}, "failed"),
        (0, None, {"GITHUB_API_URL": "http://127.0.0.1:port"}, "failed"),
    ],
)
def test_without_a_comment_the_jobs_summary_says_why(
    gate: Path, hub: GitHub, status: int, event: dict[str, Any] | None, env: dict[str, str], words: str
) -> None:
    hub.refused = status
    (gate.parent / "summary").unlink(missing_ok=True)
    done = commented(gate, hub, event, **env)
    assert done.returncode == 0, done.stderr
    assert words in done.stdout
    assert "There is no comment on a pull request" in (gate.parent / "summary").read_text()
    assert not hub.comments
    assert "/elsewhere" not in " ".join(hub.calls)


def test_a_run_of_another_kind_is_refused(gate: Path, hub: GitHub, tmp_path: Path) -> None:
    with tarfile.open(HERE / "runs/newcomer.tar.xz") as archive:
        archive.extractall(tmp_path / "run", filter="data")
    done = commented(tmp_path / "run", hub)
    assert done.returncode == 2
    assert "does not compare two revisions" in done.stderr


def test_verdicts_that_somebody_broke_are_forgotten(gate: Path, hub: GitHub) -> None:
    hub.add(f"{mark_of(judged_in(gate))}\n<!-- touchstone runs [{{}}] -->", bot=True)
    assert commented(gate, hub).returncode == 0
    assert len(earlier_verdicts(hub.comments[0]["body"])) == 1
