//! Cases gathered into requirements: one habit that shows in twenty cases is one requirement broken.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::case::Level;
use crate::risk::Risk;
use crate::runner::Outcome;
use crate::verdict::Verdict;

/// How a requirement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A case of it is wrong.
    Broken,
    /// None is wrong, but of some nothing can be said.
    Inconclusive,
    /// All that could be played are right or permitted.
    Kept,
    /// None could be played.
    NotApplicable,
}

/// A requirement and what became of its cases.
#[derive(Clone, Debug, Serialize)]
pub struct RequirementReport {
    /// Its name.
    pub id: String,
    /// The RFC's section.
    pub section: String,
    /// MUST, SHOULD or MAY.
    pub level: Level,
    /// The requirement in a sentence.
    pub says: String,
    /// How it stands.
    pub standing: Standing,
    /// The gravest risk among its wrong cases.
    pub risk: Option<Risk>,
    /// Its cases that were played to a verdict.
    pub played: usize,
    /// The wrong ones among them.
    pub wrong: usize,
    /// All its cases, by name.
    pub cases: Vec<String>,
}

/// How many requirements of one level stand how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Requirements in all.
    pub total: usize,
    /// Kept.
    pub kept: usize,
    /// Broken: the sum of the four that follow.
    pub broken: usize,
    /// Broken by accepting what must be refused, or by reading one message as two.
    pub dangerous: usize,
    /// Broken by refusing what must work.
    pub breaks: usize,
    /// Broken by refusing without the status that says why.
    pub unclear: usize,
    /// Broken otherwise.
    pub other: usize,
    /// Nothing can be said.
    pub inconclusive: usize,
    /// Nothing was played.
    pub not_applicable: usize,
}

impl Kept {
    /// How many are broken with this risk.
    pub fn of(&self, risk: Risk) -> usize {
        match risk {
            Risk::Dangerous => self.dangerous,
            Risk::Breaks => self.breaks,
            Risk::Unclear => self.unclear,
            Risk::Other => self.other,
        }
    }
}

/// The requirements to which the cases belong: broken ones first, by risk, then by level.
pub fn requirements(outcomes: &[Outcome]) -> Vec<RequirementReport> {
    let mut gathered: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        let requirement = &outcome.case.requirement;
        gathered.entry(&requirement.id).or_default().push(outcome);
    }
    let mut list: Vec<RequirementReport> = gathered
        .values()
        .map(|group| requirement_report(group))
        .collect();
    list.sort_by(|a, b| {
        let key = |r: &RequirementReport| (r.standing, r.risk, r.level);
        key(a).cmp(&key(b)).then_with(|| a.id.cmp(&b.id))
    });
    list
}

fn requirement_report(group: &[&Outcome]) -> RequirementReport {
    let case = &group[0].case;
    let count = |verdicts: &[Verdict]| {
        let among = |outcome: &&&Outcome| verdicts.contains(&outcome.verdict);
        group.iter().filter(among).count()
    };
    let wrong = count(&[Verdict::Wrong, Verdict::Crash]);
    let played = wrong + count(&[Verdict::Right, Verdict::Tolerated]);
    let standing = if wrong > 0 {
        Standing::Broken
    } else if count(&[Verdict::Inconclusive]) > 0 {
        Standing::Inconclusive
    } else if played > 0 {
        Standing::Kept
    } else {
        Standing::NotApplicable
    };
    RequirementReport {
        id: case.requirement.id.clone(),
        section: case.requirement.section.clone(),
        level: case.level,
        says: case.requirement.says.clone(),
        standing,
        risk: group.iter().filter_map(|outcome| outcome.risk).min(),
        played,
        wrong,
        cases: group
            .iter()
            .map(|outcome| outcome.case.id.clone())
            .collect(),
    }
}

/// Counts by level.
pub fn kept(requirements: &[RequirementReport]) -> BTreeMap<String, Kept> {
    let mut levels: BTreeMap<String, Kept> = BTreeMap::new();
    for requirement in requirements {
        let counts = levels.entry(requirement.level.to_string()).or_default();
        counts.total += 1;
        match requirement.standing {
            Standing::Kept => counts.kept += 1,
            Standing::Inconclusive => counts.inconclusive += 1,
            Standing::NotApplicable => counts.not_applicable += 1,
            Standing::Broken => {
                counts.broken += 1;
                match requirement.risk.unwrap_or(Risk::Other) {
                    Risk::Dangerous => counts.dangerous += 1,
                    Risk::Breaks => counts.breaks += 1,
                    Risk::Unclear => counts.unclear += 1,
                    Risk::Other => counts.other += 1,
                }
            }
        }
    }
    levels
}
