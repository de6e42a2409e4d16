"""`touchstone ab` as a user types it, and the action's steps as a runner carries them out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from tests import command
from tests.judge.test_twin import judged_pair, run_with_twin
from tests.revisions.repository import BROKEN, COMMENTED, SLOWER, commit, git, repository
from tests.run.demo import SERVER
from touchstone.cli.ab_command import _compare, _Shown
from touchstone.failure import ExitCode
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.gate import GatePolicy, PairStatus
from touchstone.judge.comparison.pair import PairJudgement
from touchstone.judge.judge import judge
from touchstone.judge.why.explanation import CpuExplanation
from touchstone.run.measure import RunConditions
from touchstone.run.pair import MeasuredPair

ACTION = Path(__file__).resolve().parents[2] / "action.yml"


def environment(tmp_path: Path) -> dict[str, str]:
    return os.environ | {"TOUCHSTONE_CACHE": str(tmp_path / "cache"), "NO_COLOR": "1", "COLUMNS": "200"}


def touchstone(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command.touchstone(*words, cwd=tmp_path / "repo", env=environment(tmp_path), within_s=580)


def test_a_loss_is_found_told_everywhere_and_leaves_nothing_behind(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    (top / "bench/sound/server.py").write_text(SLOWER)
    words = ["--minutes", "1.5", "--figure", "cpu_per_request=5%", "--markdown", "s.md", "--junit", "j.xml"]
    done = touchstone(tmp_path, "ab", "main", "--json", *words)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "changes that are not committed" in done.stderr
    assert "checking the contract" in done.stderr
    said = json.loads(done.stdout)
    (change,) = said["changes"]
    assert (change["figure"], change["worse"], said["standing"]) == ("cpu_per_request", True, "worse")
    assert change["low"] > 1.05
    assert "**worse**" in (top / "s.md").read_text()
    assert 'type="worse"' in (top / "j.xml").read_text()
    assert said["why"] == []
    twin = said["twin"]
    assert [one["figure"] for one in twin["changes"]] == ["cpu_per_request"]
    assert (twin["counted"]["gates"], twin["counted"]["different"]) == (1, 0)
    assert len((tmp_path / "cache/twins.jsonl").read_text().splitlines()) == 1
    assert any(note.startswith("the twin took part in") for note in said["notes"])
    assert len(git(top, "worktree", "list").splitlines()) == 1
    (run,) = (top / "results").iterdir()
    assert json.loads((run / "revisions.json").read_text()) == said


@pytest.mark.slow
def test_why_names_what_has_become_dearer(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    (top / "bench/sound/server.py").write_text(SLOWER)
    done = touchstone(tmp_path, "ab", "main", "--figure", "cpu_per_request", "--why", "--markdown", "s.md")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "where it needs more CPU" not in done.stdout
    (run,) = (top / "results").iterdir()
    (found,) = PairJudgement.model_validate_json((run / "revisions.json").read_text()).why
    assert isinstance(found, CpuExplanation)
    assert found.total.low is not None and found.total.low > 0
    dearer = found.functions[0]
    assert dearer.sure and dearer.difference > 0
    for text in (done.stdout, (top / "s.md").read_text()):
        assert dearer.name in text
    assert (run / "why/report.html").is_file()


def test_a_head_that_breaks_its_contract_or_does_not_build_is_named(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    commit(top, BROKEN, "Another answer")
    done = touchstone(tmp_path, "ab", "HEAD~1", "HEAD")
    assert done.returncode == 4, done.stdout
    assert "head/plain failed" in done.stdout
    assert "no load was run" in done.stdout
    assert not list(top.glob("results/*/samples/*-load-*"))
    manifest = top / "bench/sound/stack.toml"
    manifest.write_text(manifest.read_text().replace("build = []", 'build = [["python3", "-c", "import nothing"]]'))
    done = touchstone(tmp_path, "ab", "HEAD~1", "--github", "--markdown", "s.md", "--junit", "j.xml")
    assert done.returncode == 4, done.stdout
    assert "head/plain failed: build" in done.stdout
    told = next(line for line in done.stdout.splitlines() if line.startswith("::error"))
    for text in (told, (top / "s.md").read_text(), (top / "j.xml").read_text()):
        assert "No module named 'nothing'" in text


def test_a_commit_that_changes_no_source_is_checked_and_not_loaded(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    (top / "README.md").write_text("Words.\n")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "Words")
    done = touchstone(tmp_path, "ab", "HEAD~1", "HEAD", "--markdown", "s.md", "--junit", "j.xml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(top.glob("results/*/samples/*-load-*"))
    for text in (done.stdout, (top / "s.md").read_text(), (top / "j.xml").read_text()):
        assert "both revisions have the same sources" in text
    assert 'tests="1"' in (top / "j.xml").read_text()
    scenario = top / "bench/scenario.toml"
    scenario.write_text(scenario.read_text().replace('body = "pong"', 'body = "pang"'))
    broken = touchstone(tmp_path, "ab", "HEAD~1")
    assert broken.returncode == 4, broken.stdout


def builds(top: Path) -> list[bool]:
    """Whether each build of the newest run was taken from the cache."""
    run = max(top.glob("results/*/samples"))
    samples = [json.loads(path.read_text()) for path in sorted(run.glob("*-build-*"))]
    return [sample["evidence"]["cached"] for sample in samples]


def test_what_run_has_built_is_not_built_again(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    (top / ".gitignore").write_text("*.log\nresults/\n")
    (top / "README.md").write_text("Words.\n")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "Words")
    (top / "bench/sound/debug.log").write_text("of the developer's own\n")
    assert touchstone(tmp_path, "run", "bench", "--phase", "build").returncode == 0
    assert builds(top) == [False]
    done = touchstone(tmp_path, "ab", "HEAD~1", "HEAD")
    assert done.returncode == 0, done.stdout + done.stderr
    assert builds(top) == [True, True]
    assert len(list((tmp_path / "cache/builds").glob("*/build.json"))) == 1


def test_the_change_that_brings_a_stack_in_is_measured_against_the_base_before_it(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    bench = top / "bench"
    manifest = (bench / "sound/stack.toml").read_text().replace('name = "sound"', 'name = "late"')
    late = bench / "late"
    late.mkdir()
    assert "extra_sources" not in manifest
    named = manifest.replace('language = "Python"', 'language = "Python"\nextra_sources = { app = "../sound" }')
    (late / "stack.toml").write_text(named.replace("server.py", "app/server.py"))
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "Bring a stack in")
    words = ["--stack", "late", "--minutes", "0.2", "--figure", "rss_peak=50%", "--allow-undecided"]
    done = touchstone(tmp_path, "ab", "HEAD~1", "HEAD", *words)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_was_built_elsewhere_is_fetched_by_its_commit(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    commit(top, SERVER, "The same in git, another one in the release")
    # Outside /tmp, which a build has for itself.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for revision, server in (("HEAD~1", SERVER), ("HEAD", BROKEN)):
            release = Path(folder) / git(top, "rev-parse", revision)
            release.mkdir()
            (release / "server.py").write_text(server)
        done = touchstone(tmp_path, "ab", "HEAD~1", "HEAD", "--command", f"cp {folder}/{{revision}}/server.py .")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "head/plain failed" in done.stdout
    assert "base/plain failed" not in done.stdout


def test_nothing_is_fetched_for_what_is_not_committed(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    (top / "bench/sound/server.py").write_text(SLOWER)
    done = touchstone(tmp_path, "ab", "main", "--command", "cp /srv/{revision}/server.py .")
    assert done.returncode == 2
    assert "so there is no build of it" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["absent"], "there is no revision 'absent'"),
        (["main", "--scenario", "absent"], "there is no scenario 'absent'"),
        (["main", "--stack", "absent"], "there is no stack 'absent'"),
        (["main", "--load", "absent"], "has no load 'absent'"),
        (["main", "--figure", "througput"], "did you mean 'throughput'"),
        (["main", "--margin", "3x"], "is not a margin"),
        (["main", "--markdown", "absent/s.md"], "there is no folder absent"),
        (["main", "--junit", "."], ". cannot be written: it is a folder"),
        (["main", "--json", "--github"], "exclude each other"),
        (["main", "--no-twin", "--policy", "auto"], "--no-twin leaves them out"),
        (["main", "--policy", "always"], "'always' is not one of"),
        (["main", "--why", "--figure", "throughput"], "--why explains cpu_per_request and latency_p99"),
        (["main", "main", "--command", "cp /srv/server.py ."], "fetches the same files for both"),
    ],
)
def test_bad_input_is_named_before_anything_is_measured(tmp_path: Path, words: list[str], said: str) -> None:
    repository(tmp_path / "repo")
    done = touchstone(tmp_path, "ab", *words)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert not (tmp_path / "repo/results").exists()


@dataclass
class MeasuredBefore:
    """A pair whose head, and whose base's copy, have a known rate."""

    head: float
    twin: float
    broken: bool = False

    def figures(self, _: Sequence[str]) -> dict[str, float | None]:
        return {"throughput": None}

    def measured(self, terms: ComparisonTerms, _: RunConditions, progress: Console) -> MeasuredPair:
        run = run_with_twin(self.head, self.twin)
        judged = judged_pair(run, terms)
        if self.broken:
            judged.standing = PairStatus.INVALID
        return MeasuredPair(run, judge(run), judged, Path())

    def print_remarks(self, console: Console, answer: MeasuredPair) -> None:
        """None are needed."""


@pytest.mark.parametrize(
    ("pair", "policy", "code"),
    [
        (MeasuredBefore(1.0, 1.0), GatePolicy.REQUIRED, ExitCode.OK),
        (MeasuredBefore(0.8, 1.0), GatePolicy.REQUIRED, ExitCode.GATE),
        (MeasuredBefore(0.8, 1.0), GatePolicy.ADVISORY, ExitCode.OK),
        (MeasuredBefore(0.8, 1.0), GatePolicy.AUTO, ExitCode.OK),
        (MeasuredBefore(1.0, 0.8), GatePolicy.REQUIRED, ExitCode.UNDECIDED),
        (MeasuredBefore(1.0, 0.8), GatePolicy.AUTO, ExitCode.OK),
        (MeasuredBefore(1.0, 1.0, broken=True), GatePolicy.ADVISORY, ExitCode.INVALID),
        (MeasuredBefore(1.0, 1.0, broken=True), GatePolicy.AUTO, ExitCode.INVALID),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_a_policy_lets_a_verdict_pass_and_never_a_broken_revision(
    pair: MeasuredBefore, policy: GatePolicy, code: ExitCode, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = _Shown("5%", (), as_json, github=False, allow_undecided=False, policy=policy)
    assert _compare(pair, shown, RunConditions(), Console()) == code
    printed, aside = capsys.readouterr()
    advisory = policy is not GatePolicy.REQUIRED and not pair.broken
    assert ("advisory: the verdict is" in (aside if as_json else printed)) is advisory
    assert not as_json or json.loads(printed)["standing"]


@pytest.mark.parametrize("words", [["main"], ["main", "HEAD"]])
def test_the_same_commit_twice_is_told_before_anything_is_measured(tmp_path: Path, words: list[str]) -> None:
    """It is how a history begins, and what is typed by mistake on a branch that has nothing of its own yet."""
    repository(tmp_path / "repo")
    done = touchstone(tmp_path, "ab", *words, "--load", "absent")
    assert "both are the same commit" in done.stdout


def carry_out_action(tmp_path: Path, inputs: dict[str, str]) -> tuple[int, dict[str, str], str]:
    """The steps of action.yml by bash, as a runner does; exit code, outputs, summary."""
    action = yaml.safe_load(ACTION.read_text())
    given = {name: inputs.get(name, one["default"]) for name, one in action["inputs"].items()}
    shim = tmp_path / "bin/touchstone"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m touchstone.cli.main "$@"\n')
    shim.chmod(0o755)
    files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")}
    env = environment(tmp_path) | {name: str(path) for name, path in files.items()}
    env["PATH"] = f"{shim.parent}:{env['PATH']}"
    code = 0
    outputs: dict[str, str] = {}
    for step in (step for step in action["runs"]["steps"] if "uses" not in step):
        assert step["shell"] == "bash"
        known = {"github.action_path": str(ACTION.parent), "steps.measure.outputs.run": outputs.get("run", "")}
        known |= {f"inputs.{name}": value for name, value in given.items()}
        if "if" in step:
            assert step["if"] == "${{ always() && inputs.comment == 'true' && steps.measure.outputs.run != '' }}"
            if given["comment"] != "true" or not known["steps.measure.outputs.run"]:
                continue
        elif code:
            continue
        own = {name: known[value.removeprefix("${{ ").removesuffix(" }}")] for name, value in step["env"].items()}
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=tmp_path / "repo" / (given["working-directory"] if "working-directory" in step else ""),
            env=env | own,
            timeout=580,
            check=False,
        ).returncode
        code = code or ended
        written = files["GITHUB_OUTPUT"].read_text() if files["GITHUB_OUTPUT"].exists() else ""
        outputs = dict(line.split("=", 1) for line in written.splitlines())
    summary = files["GITHUB_STEP_SUMMARY"].read_text() if files["GITHUB_STEP_SUMMARY"].exists() else ""
    return code, outputs, summary


@pytest.mark.slow
def test_the_actions_steps_tell_the_verdict(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    commit(top, SLOWER, "Slower")
    inputs = {"scenario": "bench", "margin": "10%", "minutes": "1.5", "policy": "required", "token": ""}
    code, outputs, summary = carry_out_action(tmp_path, inputs)
    assert (code, outputs["verdict"]) == (3, "worse")
    assert summary.startswith(Path(outputs["markdown"]).read_text())
    assert "There is no comment on a pull request: GITHUB" in summary
    assert "**worse**" in summary
    assert "<failure" in Path(outputs["junit"]).read_text()


def test_the_action_fails_with_the_reason_where_the_base_is_not_there(tmp_path: Path) -> None:
    repository(tmp_path / "repo")
    code, outputs, _ = carry_out_action(tmp_path, {"base": "origin/main"})
    assert (code, outputs) == (2, {})


def test_gitlabs_example_asks_for_the_whole_history_and_fails_with_the_reason(tmp_path: Path) -> None:
    text = (ACTION.parent / "docs/ab.md").read_text().partition("## In GitLab CI")[2]
    job = yaml.safe_load(text.partition("```yaml\n")[2].partition("```")[0])["speed"]
    assert job["variables"]["GIT_DEPTH"] == "0"
    repository(tmp_path / "repo")
    (line,) = job["script"]
    words = line.replace("$CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main").replace('"', "").split()
    done = touchstone(tmp_path, *words[1:])
    assert done.returncode == 2
    assert "there is no revision 'origin/main'" in done.stderr


@pytest.mark.slow
def test_a_commit_that_changes_comments_is_cleared(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    commit(top, COMMENTED, "Comments")
    done = touchstone(tmp_path, "ab", "HEAD~1", "HEAD", "--margin", "10%", "--minutes", "6", "--allow-undecided")
    assert done.returncode == 0, done.stdout
    assert "gate breached" not in done.stdout
