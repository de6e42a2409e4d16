//! The verdict on one case.

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::matching::{Baseline, cut_short, matches, reachable};
use crate::observation::Observation;
use crate::outcome::Outcome;
use crate::words;

/// What is said of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// What the RFC asks for.
    Right,
    /// Permitted by the RFC, though not preferred.
    Tolerated,
    /// Not permitted.
    Wrong,
    /// The server stopped listening.
    Crash,
    /// Nothing can be said, for the reason given.
    Inconclusive,
    /// The server does not offer what the case needs.
    NotApplicable,
}

impl Verdict {
    /// All verdicts, in the order of a table.
    pub const ALL: [Verdict; 6] = [
        Verdict::Right,
        Verdict::Tolerated,
        Verdict::Wrong,
        Verdict::Crash,
        Verdict::Inconclusive,
        Verdict::NotApplicable,
    ];

    /// The word in a table.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Right => "right",
            Verdict::Tolerated => "tolerated",
            Verdict::Wrong => "wrong",
            Verdict::Crash => "crash",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotApplicable => "not applicable",
        }
    }
}

/// Compares what was seen with what is allowed: right, tolerated or wrong.
pub fn judge(case: &Case, seen: &Observation, baseline: &Baseline) -> Verdict {
    // A case about persistence itself is not softened for a server that has none.
    let plain = Baseline {
        closes: baseline.closes && !case.about_persistence,
        ..baseline.clone()
    };
    let any = |outcomes: &[Outcome], fits: Fits| {
        outcomes
            .iter()
            .any(|outcome| fits(outcome, seen, &case.methods, &plain))
    };
    if any(&case.right, matches) {
        Verdict::Right
    } else if any(&case.tolerated, matches) || any(&case.right, cut_short) {
        Verdict::Tolerated
    } else {
        Verdict::Wrong
    }
}

type Fits = fn(&Outcome, &Observation, &[String], &Baseline) -> bool;

/// Whether waiting longer might have made it right: what came in is the beginning of something
/// allowed. Only then can a slow server or a busy machine be the reason for a wrong verdict.
pub fn undecided(case: &Case, seen: &Observation, baseline: &Baseline) -> bool {
    let mut outcomes = case.right.iter().chain(&case.tolerated);
    outcomes.any(|outcome| reachable(outcome, seen, &case.methods, baseline))
}

/// One line that says why a case is wrong: what came, and what would have been right.
pub fn reason(case: &Case, seen: &Observation) -> String {
    let place = seen.cut.map_or(String::new(), |cut| {
        format!(" (request cut after octet {cut})")
    });
    if seen.in_one_piece.is_some() {
        return format!("it {}{place}", words::seen(seen));
    }
    format!(
        "it {}{place}; right is: {}",
        words::seen(seen),
        words::any_of(&case.right)
    )
}
