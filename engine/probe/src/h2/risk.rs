//! What a wrong answer over HTTP/2 does to others. Frames say where a message ends, so that no octets are read as two
//! messages; what weighs most is a malformed request that was served.

use touchstone_h2::Code;

use crate::case::Case;
use crate::observation::{Ending, Observation};
use crate::outcome::{Item, Outcome, Status};
use crate::risk::Risk;

/// The risk of a wrong case, of which these outcomes are allowed.
pub(crate) fn risk(case: &Case, seen: &Observation, allowed: &[&Outcome]) -> Risk {
    let reading = &seen.reading;
    let failed = |code: &Code| *code != Code::NO_ERROR;
    let refused = reading.signals.goaways.iter().any(failed)
        || reading.signals.resets.iter().any(|(_, code)| failed(code))
        || reading.finals.iter().any(|response| response.status >= 400)
        || matches!(seen.ending, Ending::Closed | Ending::Reset);
    let serves = |outcome: &&&Outcome| {
        outcome.items.iter().any(|item| {
            matches!(item, Item::Final(statuses, _) if statuses.iter().any(|status| {
                matches!(status, Status::Ok | Status::Any | Status::Exact(..400) | Status::Class(2 | 3))
            }))
        }) || outcome.signals.iter().any(|signal| !signal.is_error())
    };
    if allowed.iter().any(|outcome| serves(&outcome)) {
        let short = allowed
            .iter()
            .all(|outcome| outcome.items.len() > reading.finals.len());
        return if refused || short {
            Risk::Breaks
        } else {
            Risk::Other
        };
    }
    let served = reading.finals.iter().any(|response| response.status < 400);
    match (refused, served) {
        (true, _) => Risk::Unclear,
        // Section 8 is about messages: a recipient behind this server reads the message.
        (false, true) if case.section.starts_with("RFC 9113 8") => Risk::Dangerous,
        _ => Risk::Other,
    }
}
