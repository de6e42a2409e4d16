"""`touchstone claims`: tests published statements on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from touchstone.cli.options import refuse_both, refuse_without
from touchstone.cli.places import as_typed, claims_root, find_run, results_root, scenarios_root
from touchstone.failure import ExitCode, UsageError
from touchstone.judge.claims.check import complaints
from touchstone.judge.claims.evidence import Evidence, RunWithJudgement
from touchstone.judge.claims.judge import judge_claims
from touchstone.judge.claims.ruling import ClaimsRuling, Ruling
from touchstone.judge.claims.wanted import UndecidedRun, missing, open_steps, steps
from touchstone.judge.judge import judge
from touchstone.manifest.claim import ClaimsFile
from touchstone.manifest.claims_folder import GUIDE, claims_in, find_claims, read_claims, scenarios_of
from touchstone.manifest.reader import ManifestError
from touchstone.record.store import load_run, runs_in
from touchstone.report.claims.pages import render_claims
from touchstone.report.claims.terminal import explain_claim, print_claims
from touchstone.report.claims.view import RuledFile, documents
from touchstone.run.claims import ClaimsState, Obstacles, StepSettings, decide_steps, measure_steps, unknown_loads
from touchstone.run.progress import display_for

STATE = "claims.json"


def claims(
    article: Annotated[
        str | None, typer.Argument(help="A claims file, its name or letter; by default all that touchstone includes.")
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", help="Measure what the runs lack. An interrupted call continues where it stopped.")
    ] = False,
    from_: Annotated[
        list[str] | None, typer.Option("--from", help="Only this run (id, folder, `last`); may be given again.")
    ] = None,
    explain: Annotated[str | None, typer.Option(help="Show everything about one claim, by its id.")] = None,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="Claims about your own service: end with 3 if one is contradicted, 4 if one is not measured, "
            "5 if one is undecided.",
        ),
    ] = False,
    allow_undecided: Annotated[
        bool,
        typer.Option("--allow-undecided", help="With --gate: undecided claims pass; claims without a number do not."),
    ] = False,
    accept_suspect: Annotated[
        bool, typer.Option("--accept-suspect", help="Let suspect measurements decide; such verdicts are marked.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="With --run: minutes, a first look.")] = False,
    thorough: Annotated[bool, typer.Option("--thorough", help="With --run: hours, fit for publication.")] = False,
    minutes: Annotated[
        float,
        typer.Option(
            min=0, help="With --run: spend this many more minutes on undecided claims, the most promising first."
        ),
    ] = 0.0,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="With --run: number of rounds; by default the preset's.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The folder for the pages; results/claims if left out.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
) -> int:
    """Compare published statements with measurements: which hold, which do not, and why."""
    if run and from_:
        raise UsageError(
            "--run and --from exclude each other", fix="measure first, then read the result: give one of them"
        )
    refuse_both(("--quick", quick, "--thorough", thorough))
    of_a_run = {"--minutes": minutes, "--quick": quick, "--thorough": thorough, "--rounds": rounds}
    refuse_without("--run", run, of_a_run)
    refuse_without("--gate", gate, {"--allow-undecided": allow_undecided})
    found = find_claims(article, claims_root())
    if gate and not any(file.own for _, file in found):
        raise UsageError(
            "--gate reads claims about your own service, and none of these files has any",
            where=", ".join(str(path) for path, _ in found),
            fix="write `own = true` at the top of the claims file",
        )
    for path, file in found:
        if wrong := complaints(file):
            raise ManifestError("\n".join(wrong), where=str(path), fix=f"the keys are explained in {GUIDE}")
    folders = scenarios_of(found, scenarios_root())
    for path, file in found:
        if unknown := list(unknown_loads(file, folders)):
            raise ManifestError("\n".join(unknown), where=str(path), fix="name one of them by `load`")
    asked = _ClaimSelection([file for _, file in found], Obstacles(folders), accept_suspect)
    console = Console(stderr=json)
    how = StepSettings(
        profile="quick" if quick else "thorough" if thorough else "normal",
        rounds=rounds,
        command=as_typed(),
        results=results_root(),
        say=lambda text: console.print(escape(text), highlight=False, soft_wrap=True),
        display=lambda: display_for(console),
    )
    completed = _measure(asked, how, minutes * 60) if run else True
    judged = asked.judged([find_run(name) for name in from_] if from_ else runs_in(results_root()))
    ruled = asked.ruled(judged)
    code = _tell(ruled, explain=explain, json=json, out=out)
    if not completed:
        return ExitCode.INTERRUPTED
    if gate:
        return _gate(ruled, allow_undecided=allow_undecided)
    return code


@dataclass(frozen=True)
class _ClaimSelection:
    """The selected claims and the settings by which they are judged."""

    files: list[ClaimsFile]
    obstacles: Obstacles
    accept_suspect: bool

    def judged(self, folders: Iterable[Path]) -> list[RunWithJudgement]:
        """Return the runs of the claims' scenarios, each with its judgement."""
        scenarios = {name for file in self.files for name in file.scenarios}
        return [RunWithJudgement(run, judge(run)) for run in map(load_run, folders) if run.plan.scenario in scenarios]

    def rulings(self, judged: list[RunWithJudgement]) -> list[ClaimsRuling]:
        """The verdicts on each file by these runs."""
        return [
            judge_claims(file, judged, obstacle=self.obstacles, accept_suspect=self.accept_suspect)
            for file in self.files
        ]

    def ruled(self, judged: list[RunWithJudgement]) -> list[RuledFile]:
        """Each file with its verdicts."""
        rulings = zip(self.files, self.rulings(judged), strict=True)
        return [RuledFile(file, ruling, tuple(judged)) for file, ruling in rulings]


def _measure(asked: _ClaimSelection, how: StepSettings, spend_s: float) -> bool:
    """Measure missing figures, then undecided claims until the time is up. Returns False if interrupted."""
    state = ClaimsState(how.results / STATE)
    wanted = steps(missing(asked.files, Evidence(asked.judged(runs_in(how.results)))))
    if not measure_steps(wanted, asked.obstacles, state, how):
        return False

    def still_open() -> list[UndecidedRun]:
        judged = asked.judged(runs_in(how.results))
        return open_steps(asked.files, asked.rulings(judged), Evidence(judged))

    return decide_steps(still_open, asked.obstacles, state, how, spend_s) if spend_s else True


def _gate(ruled: list[RuledFile], *, allow_undecided: bool) -> int:
    """Return the exit code: 3 if a claim does not hold, 4 if a number is missing, 5 if a claim is undecided."""
    broken = (Ruling.CONTRADICTED, Ruling.EXPLAINED)
    undecided = () if allow_undecided else (Ruling.UNDECIDED,)
    own = [claim for one in ruled if one.file.own for claim in one.ruling.claims]
    asked = ((ExitCode.GATE, broken), (ExitCode.INVALID, (Ruling.NOT_MEASURED,)), (ExitCode.UNDECIDED, undecided))
    for code, rulings in asked:
        hit = [claim for claim in own if claim.ruling in rulings]
        if hit:
            names = ", ".join(f"{claim.id} {claim.ruling}" for claim in hit)
            Console(stderr=True).print(f"gate: {names}", highlight=False, soft_wrap=True)
            return code
    return ExitCode.OK


def _tell(ruled: list[RuledFile], *, explain: str | None, json: bool, out: Path | None) -> int:
    if explain is not None:
        for one in ruled:
            claim = next((c for c in one.file.claims if c.id.lower() == explain.lower()), None)
            if claim is not None:
                explain_claim(Console(), one, claim)
                return ExitCode.OK
        raise UsageError(f"there is no claim {explain!r}", fix="`touchstone claims` lists them with their ids")
    if json:
        typer.echo(documents(ruled))
    else:
        print_claims(Console(), ruled)
    if not json or out:
        folder = out or results_root() / "claims"
        shown = {one.file.name for one in ruled}
        known = [read_claims(path) for path in claims_in(claims_root())]
        pages = render_claims(ruled, folder, [file for file in known if file.name not in shown])
        if not json:
            Console().print(f"\npages: {pages[0]}", highlight=False, soft_wrap=True)
    return ExitCode.OK


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("claims")(claims)
