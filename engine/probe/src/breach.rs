//! What a wrong answer does to others.
//!
//! Not every breach weighs alike. A server that takes a message which it has to refuse lets a proxy in
//! front of it and itself read the same octets in two ways; one that refuses it by closing without a
//! response is safe, and only hard to debug. The risk is read off the difference between what was seen
//! and what is allowed, unless the requirement states it.

use crate::case::Case;
use crate::h2;
use crate::matching::Baseline;
use crate::observation::{Ending, Observation};
use crate::outcome::{End, Item, Outcome, Status};
use crate::response::Tail;
use crate::risk::Risk;

/// The risk of a wrong case.
pub fn risk(case: &Case, seen: &Observation, baseline: &Baseline) -> Risk {
    if let Some(risk) = case.requirement.risk {
        return risk;
    }
    let allowed: Vec<&Outcome> = case
        .right
        .iter()
        .chain(&case.tolerated)
        .filter(|outcome| !(outcome.only_without_post && baseline.takes_body))
        .collect();
    if case.http2 {
        return h2::risk::risk(case, seen, &allowed);
    }
    compare(case, seen, baseline, &allowed)
}

fn compare(case: &Case, seen: &Observation, baseline: &Baseline, allowed: &[&Outcome]) -> Risk {
    let finals = &seen.reading.finals;
    let mut candidates = allowed.to_vec();
    for (at, response) in finals.iter().enumerate() {
        let fitting: Vec<&Outcome> = candidates
            .iter()
            .copied()
            .filter(|outcome| match place(outcome, at) {
                Place::Statuses(statuses) => statuses
                    .iter()
                    .any(|status| fits(*status, response.status, baseline)),
                Place::Anything => true,
                Place::Nothing => false,
            })
            .collect();
        if fitting.is_empty() {
            let wanted = Wanted::at(&candidates, at, baseline);
            return unfit(case, at, response.status, wanted);
        }
        candidates = fitting;
    }
    let ended: Vec<&Outcome> = candidates
        .iter()
        .copied()
        .filter(|outcome| !matches!(place(outcome, finals.len()), Place::Statuses(_)))
        .collect();
    if ended.is_empty() {
        // A response is missing. Where it could have been a refusal, silence and a close are refusals too.
        let wanted = Wanted::at(&candidates, finals.len(), baseline);
        return if !wanted.refusal || seen.reading.tail == Tail::Partial {
            Risk::Breaks
        } else {
            Risk::Unclear
        };
    }
    match seen.reading.tail {
        Tail::Nothing => {}
        // Octets beyond the responses, to a request with content: the content was taken for a request.
        Tail::Garbled(_) if case.has_content() => return Risk::Dangerous,
        Tail::Garbled(_) | Tail::Partial => return Risk::Breaks,
    }
    let refused = finals.last().is_some_and(|last| last.status >= 400);
    let must_close = ended.iter().all(|outcome| outcome.end == Some(End::Closed));
    if refused && must_close && seen.ending == Ending::Open {
        // What follows a message of unknown length is about to be read as a request.
        return Risk::Dangerous;
    }
    Risk::Other
}

/// What was wanted where something else came.
#[derive(Clone, Copy, Default)]
struct Wanted {
    success: bool,
    refusal: bool,
}

impl Wanted {
    fn at(candidates: &[&Outcome], at: usize, baseline: &Baseline) -> Wanted {
        let mut wanted = Wanted::default();
        for outcome in candidates {
            match place(outcome, at) {
                Place::Statuses(statuses) => {
                    for status in statuses {
                        wanted.success |= (200..400).any(|code| fits(*status, code, baseline));
                        wanted.refusal |= (400..600).any(|code| fits(*status, code, baseline));
                    }
                }
                Place::Anything => {
                    wanted = Wanted {
                        success: true,
                        refusal: true,
                    }
                }
                Place::Nothing => {}
            }
        }
        wanted
    }
}

/// A response came whose status is not allowed at its place.
fn unfit(case: &Case, at: usize, status: u16, wanted: Wanted) -> Risk {
    if !wanted.success && !wanted.refusal {
        // One response more than there were requests.
        return Risk::Dangerous;
    }
    if status < 400 {
        return if wanted.success {
            Risk::Other
        } else {
            Risk::Dangerous
        };
    }
    if wanted.refusal {
        Risk::Unclear
    } else if at > 0 && case.has_content() {
        // The request behind a message with content was refused: its content was taken for a request.
        Risk::Dangerous
    } else {
        Risk::Breaks
    }
}

/// What an outcome has at one place of the sequence of final responses.
enum Place<'a> {
    Statuses(&'a [Status]),
    Anything,
    Nothing,
}

fn place(outcome: &Outcome, at: usize) -> Place<'_> {
    let mut index = 0;
    for item in &outcome.items {
        match item {
            Item::Final(statuses, _) if index == at => return Place::Statuses(statuses),
            Item::Final(..) => index += 1,
            Item::Rest => return Place::Anything,
            Item::Interim(_) | Item::Raw => {}
        }
    }
    Place::Nothing
}

fn fits(status: Status, code: u16, baseline: &Baseline) -> bool {
    match status {
        Status::Ok => code == baseline.status,
        Status::Any => code >= 200,
        Status::Exact(exact) => code == exact,
        Status::Class(class) => code / 100 == class,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::response;
    use touchstone_tls::Protocol;

    fn baseline() -> Baseline {
        Baseline {
            status: 200,
            body: None,
            length: None,
            takes_body: true,
            closes: false,
        }
    }

    fn risk(id: &str, received: &str, ending: Ending) -> Risk {
        let cases = catalogue::embedded(Protocol::H1).unwrap();
        let case = cases.iter().find(|case| case.id == id).unwrap();
        let observation = Observation {
            sent: Vec::new(),
            received: received.into(),
            reading: response::read(received.as_bytes(), &case.methods, ending != Ending::Open),
            ending,
            seconds: 0.0,
            cut: None,
            in_one_piece: None,
        };
        super::risk(case, &observation, &baseline())
    }

    const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    const BAD: &str = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    const TEAPOT: &str = "HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0\r\n\r\n";

    #[test]
    fn accepting_what_must_be_refused_is_dangerous() {
        assert_eq!(risk("host-missing", OK, Ending::Open), Risk::Dangerous);
        assert_eq!(
            risk(
                "framing-length-minus",
                &format!("{BAD}{BAD}"),
                Ending::Closed
            ),
            Risk::Dangerous,
            "the content was read as a request"
        );
        assert_eq!(
            risk("framing-length-minus", BAD, Ending::Open),
            Risk::Dangerous,
            "the content is about to be"
        );
        assert_eq!(
            risk("framing-body-read", &format!("{OK}{BAD}"), Ending::Closed),
            Risk::Dangerous
        );
    }

    #[test]
    fn octets_after_the_response_to_content_are_dangerous() {
        let received = format!("{OK}<h1>Bad request</h1>");
        assert_eq!(
            risk("smuggling-chunked-0-get", &received, Ending::Closed),
            Risk::Dangerous
        );
    }

    #[test]
    fn refusing_without_the_right_status_is_only_unclear() {
        for ending in [Ending::Open, Ending::Closed, Ending::Reset] {
            assert_eq!(risk("host-missing", "", ending), Risk::Unclear);
        }
        assert_eq!(risk("host-missing", TEAPOT, Ending::Closed), Risk::Unclear);
    }

    #[test]
    fn refusing_what_must_work_breaks_clients() {
        assert_eq!(risk("target-absolute", BAD, Ending::Closed), Risk::Breaks);
        assert_eq!(risk("target-absolute", "", Ending::Closed), Risk::Breaks);
        assert_eq!(
            risk("method-head", &format!("{OK}stray"), Ending::Open),
            Risk::Breaks
        );
    }

    #[test]
    fn a_missing_date_is_another_rule() {
        assert_eq!(risk("response-date", OK, Ending::Open), Risk::Other);
    }

    #[test]
    fn a_requirement_may_state_its_risk() {
        assert_eq!(risk("connection-close", OK, Ending::Open), Risk::Breaks);
        assert_eq!(risk("coding-and-length", OK, Ending::Open), Risk::Dangerous);
    }
}
