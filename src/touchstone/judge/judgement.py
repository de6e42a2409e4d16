"""The judgement of a run: verdicts on samples, findings with evidence, estimates, comparisons."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import Field, computed_field

from touchstone.judge.statistics.decision import Decision, Interval, decide
from touchstone.record.base import Record
from touchstone.vocabulary.figure import FIGURES, Better


class Severity(StrEnum):
    """How much a finding weighs, from the lightest on. A note changes no verdict."""

    NOTE = "note"
    SUSPECT = "suspect"
    INVALID = "invalid"

    @property
    def place(self) -> int:
        """Position of this severity in a list: the most severe come first."""
        return list(reversed(Severity)).index(self)


class Verdict(StrEnum):
    """Whether a number can be trusted."""

    VALID = "valid"
    SUSPECT = "suspect"
    INVALID = "invalid"


class Outcome(StrEnum):
    """The outcome of a comparison of the contender with the baseline."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"

    @classmethod
    def _missing_(cls, value: object) -> Outcome | None:
        """The names that documents of version 1 have."""
        return {"faster": cls.BETTER, "slower": cls.WORSE}.get(str(value))

    @classmethod
    def of(cls, interval: Interval, figure: str, margin: float) -> Outcome:
        """What an interval of a ratio decides. A figure without a better direction can be equivalent at most."""
        better = FIGURES[figure].better
        match decide(interval, margin):
            case Decision.WITHIN:
                return cls.EQUIVALENT
            case Decision.HIGHER if better is not Better.NEITHER:
                return cls.BETTER if better is Better.HIGHER else cls.WORSE
            case Decision.LOWER if better is not Better.NEITHER:
                return cls.BETTER if better is Better.LOWER else cls.WORSE
            case _:
                return cls.UNDECIDED


class PossibleBias(Record):
    """The largest factor by which a finding can have changed a service's speed."""

    faster: float | None = 1.0
    """Largest factor by which it may really have been faster; 1 if not at all, None if unknown."""
    slower: float | None = 1.0
    """Largest factor by which it may really have been slower; 1 if not at all, None if unknown."""
    common: bool = False
    """True if it falls on neighbouring slices alike, so that of two contenders only the difference counts."""
    presses: bool = False
    """True if it is a limit of all contenders alike, which presses them together: who is the faster one in neighbouring
    slices is so without it, by as much or more."""
    this_round: bool = False
    """True if it says nothing of the contender's other rounds: this one is left out where enough others remain."""
    reason: str = ""
    """Why no more than that."""

    @property
    def side(self) -> PossibleBias | None:
        """The same of what single requests move: in which direction, and nothing of how far. None if in either."""
        faster, slower = (1.0 if size == 1.0 else None for size in (self.faster, self.slower))
        if faster is None and slower is None:
            return None
        return PossibleBias(faster=faster, slower=slower, this_round=self.this_round, reason=self.reason)

    @classmethod
    def of_taken(cls, share: float, reason: str = "the service had at least what they left over") -> Self:
        """The bias from CPU that others used and the service might have had."""
        return cls(faster=1 / max(1e-3, 1 - share), common=True, reason=reason)


class Finding(Record):
    """One validity rule that fired."""

    code: str
    severity: Severity
    statement: str
    """What is wrong, in a sentence with the numbers in it."""
    next_step: str
    """What to do about it."""
    contender: str | None = None
    load: str | None = None
    sample: str | None = None
    """The sample's id; None if the finding is about a contender over all rounds, or about the run."""
    figures: list[str] | None = None
    """The figures that it makes untrustworthy; None means all of the sample."""
    doubt: PossibleBias | None = None
    """The size of a suspicion; None where it has none, and then the figures are suspect without a bound."""
    evidence: dict[str, Any] = {}


Key = tuple[str, str, str | None, str]
"""Phase, contender, load and figure."""


class Estimate(Record):
    """A figure of a contender over rounds, in base units. Invalid samples are left out of it."""

    phase: str
    contender: str
    load: str | None = None
    figure: str
    median: float | None = None
    low: float | None = None
    high: float | None = None
    """The confidence interval; None where there are too few rounds for one."""
    values: list[float] = []
    samples: list[str] = []
    repeats: list[float] = []
    """The single starts behind the figure, where one sample holds all that there are."""
    left_out: list[str] = []
    """Ids of the samples that were left out as invalid."""
    doubt: PossibleBias | None = None
    """By how much all that was found can have moved it; None if nothing was found."""
    verdict: Verdict = Verdict.VALID
    reason: str | None = None
    """Why it is not valid, a bound, or not measured."""

    @property
    def key(self) -> Key:
        """Phase, contender, load and figure."""
        return self.phase, self.contender, self.load, self.figure

    @property
    def is_bound(self) -> bool:
        """Whether it bounds the figure on one side and no more: what was found can have moved it by any amount."""
        return self.doubt is not None and None in (self.doubt.faster, self.doubt.slower)


class Comparison(Record):
    """A comparison on one figure: the ratio contender/baseline, its interval and its outcome.

    Two contenders of a run, two revisions or services in one run, or one contender in two runs.
    """

    phase: str
    contender: str
    baseline: str
    """The other contender; of two runs or revisions the same one's name."""
    load: str | None = None
    figure: str
    before: float | None = None
    """The baseline's figure, in base units; None where it has none."""
    after: float | None = None
    """The contender's."""
    relative_to: str | None = None
    """The contender of the same run to which `before` and `after` are ratios; None where they are in base units."""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    """The interval that decides: widened by all that may have moved either side, corrected for the family."""
    sampled_low: float | None = None
    sampled_high: float | None = None
    """The interval of the measurements alone, where the one that decides is wider."""
    laps: int = 0
    """Pairs of neighbouring slices behind it, over all rounds; 0 where it was not measured in slices."""
    slope: float | None = None
    """By how much the log ratio of slices moved for each CPU that others took more; None if it was not adjusted for."""
    core_slope: float | None = Field(default=None, exclude_if=lambda slope: slope is None)
    """By how much it moved for each log unit by which the core was slower; None if it was not adjusted for."""
    left_slope: float | None = Field(default=None, exclude_if=lambda slope: slope is None)
    """By how much it moved for each log unit of its own CPUs that others left it; None if it was not adjusted for."""
    starts: int = 0
    """Pairs of neighbouring starts behind it, over all rounds; 0 where contenders were not started in turn."""
    rounds: int = 0
    margin: float = 0.0
    """The least difference of this figure that matters, as a share."""
    outcome: Outcome = Outcome.UNDECIDED
    more_rounds: int | None = None
    """How many further rounds would decide it, if it is undecided."""
    verdict: Verdict = Verdict.VALID
    reason: str | None = None
    sentence: str = ""
    """The result in a sentence."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def better(self) -> bool | None:
        """True if the contender is better than the baseline, False if worse, None if undecided."""
        return self.outcome is Outcome.BETTER if self.decided else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def worse(self) -> bool:
        """True if the contender is really worse than the baseline."""
        return self.outcome is Outcome.WORSE

    @computed_field  # type: ignore[prop-decorator]
    @property
    def harmless(self) -> bool:
        """True if the contender is certainly not worse by more than the margin."""
        match FIGURES[self.figure].better:
            case Better.LOWER:
                return self.high is not None and self.high <= 1 + self.margin
            case Better.HIGHER:
                return self.low is not None and self.low >= 1 / (1 + self.margin)
            case Better.NEITHER:
                return self.interval is not None

    @property
    def key(self) -> Key:
        """Phase, contender, load and figure."""
        return self.phase, self.contender, self.load, self.figure

    @property
    def decided(self) -> bool:
        """Whether one of the two is proven to be better."""
        return self.outcome in (Outcome.BETTER, Outcome.WORSE)

    @property
    def interval(self) -> Interval | None:
        """The interval that decides, if there is one."""
        if self.ratio is None or self.low is None or self.high is None:
            return None
        return Interval(self.ratio, self.low, self.high)

    def decided_by(self, interval: Interval | None, margin: float) -> Self:
        """The same comparison with an interval and its outcome at a margin; unchanged without an interval."""
        self.margin = margin
        if interval is not None:
            self.ratio, self.low, self.high = interval.point, interval.low, interval.high
            self.outcome = Outcome.of(interval, self.figure, margin)
            if self.outcome is not Outcome.UNDECIDED:
                self.more_rounds = None
        return self


class FailedContender(Record):
    """A planned contender for which a requested measurement failed or was void."""

    contender: str
    reason: str
    """The gravest reason, in a sentence."""
    details: list[str] = Field(default=[], exclude_if=lambda lines: not lines)
    """What shows why, line by line: the end of its log, or the exchange that broke its contract."""


class SteadyState(Record):
    """The steady-state verdict on a contender under a load."""

    contender: str
    load: str
    sample: str
    shape: Literal["flat", "warm-up", "slowdown", "no steady state", "too short"]
    steady_from_s: float | None = None
    changepoints_s: list[float] = []
    levels: list[float] = []
    """How many times faster it was before, between and after the changepoints than after the last one."""


class PeakReached(Record):
    """When a contender that was loaded since exec reached its lasting level, in one round."""

    contender: str
    sample: str
    shape: Literal["flat", "warm-up", "slowdown", "no steady state", "too short"]
    time_s: float | None = None
    """Seconds since exec; None if it was not reached."""
    rate: float | None = None
    """Correct responses per second from then on."""
    changepoints_s: list[float] = []
    """Seconds since exec."""


class Crossing(Record):
    """From when on a contender has served more in total since exec than another."""

    contender: str
    """The one that is ahead at the end, in most rounds."""
    other: str
    within_s: float
    """How long both were watched."""
    by_round: dict[int, float | None] = {}
    """Seconds since exec by round; 0 where it was never behind, None where it is not ahead at the end."""
    outcome: Literal["overtakes", "ahead throughout", "undecided"] = "undecided"
    median_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    verdict: Verdict = Verdict.VALID
    reason: str | None = None
    sentence: str = ""


class Scaling(Record):
    """How a service's rate grows with the requests that it holds, by the universal scalability law.

    Each parameter is a point, and the lower and upper end of its interval.
    """

    contender: str
    load: str
    points: int
    single: tuple[float, float, float]
    """Requests per second if each found the service empty."""
    contention: tuple[float, float, float]
    """The share of a request's work that no two requests do at once."""
    crosstalk: tuple[float, float, float]
    """By which share of its work a request is delayed by each pair of others."""
    ceiling: float | None = None
    """Requests per second that the law does not exceed."""
    error: float
    """How far the points lie from the law, as a share."""
    sentence: str = ""


class Judgement(Record):
    """The complete judgement of a run."""

    schema_: Literal["touchstone.judgement/2"] = Field(default="touchstone.judgement/2", alias="schema")
    verdict: Verdict
    """Verdict of the whole run: invalid if it has nothing valid."""
    failed: list[FailedContender] = []
    """Contenders that failed. A run with one of them is not a success, whatever the others did."""
    sample_verdicts: dict[str, Verdict]
    findings: list[Finding]
    estimates: list[Estimate]
    comparisons: list[Comparison]
    steady: list[SteadyState] = []
    peaks: list[PeakReached] = []
    scalings: list[Scaling] = []
    crossings: list[Crossing] = []
    margin: float
    confidence: float
