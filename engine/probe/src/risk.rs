//! How grave a breach is.

use serde::{Deserialize, Serialize};

/// What a breach does to others, gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// What has to be refused was accepted, or one message read as two; or the server died.
    Dangerous,
    /// What has to work was refused, or answered so that a client cannot read it.
    Breaks,
    /// Refused as it should be, but not with the status that says so.
    Unclear,
    /// Another rule broken.
    Other,
}

impl Risk {
    /// All risks, gravest first.
    pub const ALL: [Risk; 4] = [Risk::Dangerous, Risk::Breaks, Risk::Unclear, Risk::Other];

    /// The word in a table.
    pub fn word(self) -> &'static str {
        match self {
            Risk::Dangerous => "dangerous",
            Risk::Breaks => "breaks clients",
            Risk::Unclear => "unclear refusal",
            Risk::Other => "other",
        }
    }

    /// What the word means.
    pub fn meaning(self) -> &'static str {
        match self {
            Risk::Dangerous => "accepted what must be refused, or read one message as two",
            Risk::Breaks => "refused what must work, or answered unreadably",
            Risk::Unclear => "refused, but without the status that says why; safe",
            Risk::Other => "another rule broken",
        }
    }
}
