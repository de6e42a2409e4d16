//! A requirement: one sentence of an RFC, to which one or more cases belong.

use serde::{Deserialize, Serialize};

use crate::risk::Risk;

/// What an RFC asks for, as it stands in a case file. All cases of a requirement have one level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Unique name; the key of its table.
    #[serde(skip)]
    pub id: String,
    /// The RFC and section that ask for it.
    pub section: String,
    /// The requirement in our own words, a sentence.
    pub says: String,
    /// What a breach does to others, where the answers alone do not show it.
    pub risk: Option<Risk>,
}
