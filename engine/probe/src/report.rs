//! The document that a run leaves: `touchstone.probe/2`.

use std::collections::BTreeMap;

use serde::Serialize;
use touchstone_tls::Protocol;

use crate::case::{Level, Need};
use crate::control::{Loss, LossKind};
use crate::escape::escape;
use crate::ledger::{self, Kept, RequirementReport};
use crate::risk::Risk;
use crate::runner::Outcome;
use crate::target::Target;
use crate::verdict::Verdict;
use crate::words;

/// How many cases got which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Cases in all.
    pub total: usize,
    /// What the RFC asks for.
    pub right: usize,
    /// Permitted though not preferred.
    pub tolerated: usize,
    /// Not permitted.
    pub wrong: usize,
    /// The server stopped listening.
    pub crash: usize,
    /// Nothing can be said.
    pub inconclusive: usize,
    /// The server lacks what the case needs.
    pub not_applicable: usize,
}

impl Counts {
    /// Counts one more.
    pub fn add(&mut self, verdict: Verdict) {
        self.total += 1;
        *match verdict {
            Verdict::Right => &mut self.right,
            Verdict::Tolerated => &mut self.tolerated,
            Verdict::Wrong => &mut self.wrong,
            Verdict::Crash => &mut self.crash,
            Verdict::Inconclusive => &mut self.inconclusive,
            Verdict::NotApplicable => &mut self.not_applicable,
        } += 1;
    }

    /// Cases that breach the standard.
    pub fn breaches(&self) -> usize {
        self.wrong + self.crash
    }
}

/// What a case allows, in words (see [`crate::words`]).
#[derive(Clone, Debug, Serialize)]
pub struct Allowed {
    /// Right outcomes.
    pub right: Vec<String>,
    /// Permitted outcomes.
    pub tolerated: Vec<String>,
}

/// One case in the report.
#[derive(Clone, Debug, Serialize)]
pub struct CaseReport {
    /// The case's name.
    pub id: String,
    /// Its category.
    pub category: String,
    /// The requirement that it belongs to.
    pub requirement: String,
    /// The RFC's section.
    pub section: String,
    /// MUST, SHOULD or MAY.
    pub level: Level,
    /// The rule.
    pub why: String,
    /// What the server has to offer.
    pub needs: Vec<Need>,
    /// What is allowed.
    pub allowed: Allowed,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, for any verdict but right and tolerated.
    pub reason: Option<String>,
    /// What a wrong answer does to others; `null` if it is not wrong.
    pub risk: Option<Risk>,
    /// What was seen, in words; `null` if the case was not played.
    pub observed: Option<String>,
    /// Seconds that the play took.
    pub seconds: Option<f64>,
    /// Octets sent, escaped; the middle of a long one is left out.
    pub sent: Option<String>,
    /// Octets received, in the same form.
    pub received: Option<String>,
}

/// A plain GET.
#[derive(Clone, Debug, Serialize)]
pub struct Plain {
    /// Its status.
    pub status: u16,
    /// Octets of its body; `null` if two requests got different bodies.
    pub body_bytes: Option<usize>,
    /// Seconds that it took.
    pub seconds: f64,
    /// Whether the server closes the connection after it.
    pub closes: bool,
}

/// The resource that takes a body.
#[derive(Clone, Debug, Serialize)]
pub struct Post {
    /// Its target.
    pub target: String,
    /// Why the cases that need it were not played, if they were not.
    pub refused: Option<String>,
    /// Whether it takes content other than the body that was given for it.
    pub takes_anything: bool,
    /// Whether it answers with the body that it is sent.
    pub echo: bool,
}

/// The service began to refuse plain requests.
#[derive(Clone, Debug, Serialize)]
pub struct Refused {
    /// The case after which that showed.
    pub after: String,
    /// What a plain GET got.
    pub what: String,
}

/// The engine that probed.
#[derive(Clone, Debug, Serialize)]
pub struct Engine {
    /// Its version.
    pub version: &'static str,
}

/// The whole report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `touchstone.probe/2`.
    pub schema: &'static str,
    /// Who probed.
    pub engine: Engine,
    /// The URL.
    pub url: String,
    /// What was spoken: h1 (over TLS where the URL says https), h2c or h2.
    pub protocol: Protocol,
    /// The resource that answers GET.
    pub target: String,
    /// The resource that takes a body, if one was named.
    pub post: Option<Post>,
    /// The server's plain answer.
    pub plain: Plain,
    /// When the run began, seconds since 1970.
    pub started_unix_s: f64,
    /// How long it took, in seconds.
    pub duration_s: f64,
    /// Whether a signal ended it: cases not played are inconclusive then.
    pub interrupted: bool,
    /// The case in which the server stopped listening for good, if it did: those after it were not played.
    pub died_in: Option<String>,
    /// How the service began to refuse plain requests, if it did: what was played from then on is inconclusive.
    pub refused: Option<Refused>,
    /// Whether methods were sent that may change data.
    pub r#unsafe: bool,
    /// Cases left out because they send such a method.
    pub left_out: usize,
    /// Verdicts over all cases.
    pub counts: Counts,
    /// Verdicts on cases by level.
    pub levels: BTreeMap<String, Counts>,
    /// Requirements by level: how many are kept, and how many broken, by risk.
    pub kept: BTreeMap<String, Kept>,
    /// The requirements, those that are broken first, the gravest at their head.
    pub requirements: Vec<RequirementReport>,
    /// The cases.
    pub cases: Vec<CaseReport>,
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Span {
    /// Whether methods that may change data were allowed.
    pub unsafe_methods: bool,
    /// How the service was lost, if it was.
    pub loss: Option<Loss>,
    /// Seconds since 1970.
    pub started_unix_s: f64,
    /// Seconds.
    pub duration_s: f64,
    /// Whether a signal ended it before its time.
    pub interrupted: bool,
}

impl Report {
    /// Gathers the outcomes.
    pub fn new(
        url: &str,
        target: &Target,
        post: Option<&str>,
        span: &Span,
        outcomes: &[Outcome],
    ) -> Report {
        let mut counts = Counts::default();
        let mut levels: BTreeMap<String, Counts> = BTreeMap::new();
        for outcome in outcomes {
            let (case, verdict) = (&outcome.case, outcome.verdict);
            counts.add(verdict);
            levels
                .entry(case.level.to_string())
                .or_default()
                .add(verdict);
        }
        let requirements = ledger::requirements(outcomes);
        let lost_by = |kind| span.loss.as_ref().filter(|loss| loss.kind == kind);
        Report {
            schema: "touchstone.probe/2",
            engine: Engine {
                version: env!("CARGO_PKG_VERSION"),
            },
            url: url.into(),
            protocol: target.dial.protocol,
            target: target.values.path.clone(),
            post: post.map(|name| Post {
                target: name.into(),
                refused: target.post_refused.clone(),
                takes_anything: target.takes_anything,
                echo: target.echo,
            }),
            plain: Plain {
                status: target.baseline.status,
                body_bytes: target.baseline.body.as_ref().map(Vec::len),
                seconds: target.plain_s,
                closes: target.baseline.closes,
            },
            started_unix_s: span.started_unix_s,
            duration_s: span.duration_s,
            interrupted: span.interrupted,
            died_in: lost_by(LossKind::Gone).map(|loss| loss.after.clone()),
            refused: lost_by(LossKind::Refuses).map(|loss| Refused {
                after: loss.after.clone(),
                what: loss.what.clone(),
            }),
            r#unsafe: span.unsafe_methods,
            left_out: outcomes
                .iter()
                .filter(|outcome| !span.unsafe_methods && outcome.case.may_change_resource())
                .count(),
            counts,
            levels,
            kept: ledger::kept(&requirements),
            requirements,
            cases: outcomes.iter().map(CaseReport::new).collect(),
        }
    }

    /// Breaches at one level.
    pub fn breaches(&self, level: Level) -> usize {
        self.levels
            .get(&level.to_string())
            .map_or(0, Counts::breaches)
    }
}

impl CaseReport {
    fn new(outcome: &Outcome) -> CaseReport {
        let case = &outcome.case;
        let seen = outcome.seen.as_ref();
        let lines = |list: &[crate::outcome::Outcome]| list.iter().map(words::allowed).collect();
        CaseReport {
            id: case.id.clone(),
            category: case.category.clone(),
            requirement: case.requirement.id.clone(),
            section: case.section.clone(),
            level: case.level,
            why: case.why.clone(),
            needs: case.needs.clone(),
            allowed: Allowed {
                right: lines(&case.right),
                tolerated: lines(&case.tolerated),
            },
            verdict: outcome.verdict,
            reason: outcome.reason.clone(),
            risk: outcome.risk,
            observed: seen.map(words::seen),
            seconds: seen.map(|seen| seen.seconds),
            sent: seen.map(|seen| escape(&seen.sent)),
            received: seen.map(|seen| escape(&seen.received)),
        }
    }
}
