"""A claims file with its verdicts and the runs behind them, ordered for reading."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from touchstone.judge.claims.evidence import RunWithJudgement
from touchstone.judge.claims.ruling import ClaimRuling, ClaimsRuling, Ruling
from touchstone.manifest.claim import Claim, ClaimsFile
from touchstone.report.claims.words import SIGNS


@dataclass(frozen=True)
class RuledFile:
    """A file, its verdicts, and the runs that were looked at."""

    file: ClaimsFile
    ruling: ClaimsRuling
    judged: tuple[RunWithJudgement, ...]

    @cached_property
    def _by_id(self) -> dict[str, ClaimRuling]:
        return {c.id: c for c in self.ruling.claims}

    def of(self, claim: Claim) -> ClaimRuling:
        """A claim's verdict."""
        return self._by_id[claim.id]

    @property
    def used(self) -> list[RunWithJudgement]:
        """The runs that a verdict rests on, the newest first; without those that are gone."""
        by_id = {j.run.plan.run_id: j for j in self.judged}
        return [by_id[run] for run in self.ruling.runs if run in by_id]

    @property
    def groups(self) -> list[tuple[Ruling, list[Claim]]]:
        """The claims by verdict: what held comes first."""
        found = [(r, [c for c in self.file.claims if self.of(c).ruling is r]) for r in SIGNS]
        return [(ruling, claims) for ruling, claims in found if claims]

    @property
    def tally(self) -> str:
        """How many of each verdict, in words."""
        return ", ".join(f"{len(claims)} {ruling}" for ruling, claims in self.groups)


def documents(ruled: list[RuledFile]) -> str:
    """All verdicts as JSON: a list, one object a file."""
    return "[" + ",\n".join(r.ruling.model_dump_json(indent=1, by_alias=True) for r in ruled) + "]"
