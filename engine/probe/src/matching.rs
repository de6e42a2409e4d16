//! Whether an observation is an allowed outcome.

use crate::h2::signal;
use crate::observation::{Ending, Observation};
use crate::outcome::{Condition, End, Item, Outcome, Status};
use crate::response::{Response, Tail, list_has};

/// What a plain GET of the probed resource gets: the yardstick for `ok`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// Its status.
    pub status: u16,
    /// Its body; `None` when two requests got different ones, so that only the status compares.
    pub body: Option<Vec<u8>>,
    /// Its Content-Length.
    pub length: Option<String>,
    /// Whether there is a resource that takes a body.
    pub takes_body: bool,
    /// Whether the server closes the connection after a plain GET. It may (RFC 9112 9.3), and then its
    /// closing says nothing about the case at hand.
    pub closes: bool,
}

/// Whether what was seen is this outcome. `methods` are the requests' methods in order.
pub fn matches(
    outcome: &Outcome,
    seen: &Observation,
    methods: &[String],
    baseline: &Baseline,
) -> bool {
    let end_fits = match (outcome.end, seen.ending) {
        (None, _) | (_, Ending::Abandoned) => true,
        (Some(End::Open), ending) => ending == Ending::Open || baseline.closes,
        (Some(End::Closed), ending) => matches!(ending, Ending::Closed | Ending::Reset),
    };
    let raw_allowed = outcome.items.contains(&Item::Raw);
    let tail_fits = match &seen.reading.tail {
        Tail::Nothing => !raw_allowed,
        // An HTTP/2 preface or a bare HTTP/0.9 body: octets that are not a response.
        Tail::Garbled(_) => raw_allowed,
        // A response that the server broke off by closing is a fault; one still arriving is none yet,
        // and none may be missing at the end either way.
        Tail::Partial => false,
    };
    let interim_fits = !outcome.no_interim || seen.reading.interim.is_empty();
    let applies = !(outcome.only_without_post && baseline.takes_body);
    let walk = Walk {
        seen,
        methods,
        baseline,
        prefix: false,
    };
    applies
        && end_fits
        && tail_fits
        && interim_fits
        && signals_fit(outcome, seen, false)
        && walk.sequence(&outcome.items, 0)
}

/// Whether an open connection may still bring this outcome about: what came in so far is its
/// beginning.
pub fn reachable(
    outcome: &Outcome,
    seen: &Observation,
    methods: &[String],
    baseline: &Baseline,
) -> bool {
    let applies = !(outcome.only_without_post && baseline.takes_body);
    let interim_fits = !outcome.no_interim || seen.reading.interim.is_empty();
    let tail_fits =
        !matches!(seen.reading.tail, Tail::Garbled(_)) || outcome.items.contains(&Item::Raw);
    let walk = Walk {
        seen,
        methods,
        baseline,
        prefix: true,
    };
    seen.ending == Ending::Open
        && applies
        && interim_fits
        && tail_fits
        && signals_fit(outcome, seen, true)
        && walk.sequence(&outcome.items, 0)
}

/// Whether a server that closes after every response got as far with this outcome as it goes: what
/// came in is its beginning, one response or more, and then the end.
pub fn cut_short(
    outcome: &Outcome,
    seen: &Observation,
    methods: &[String],
    baseline: &Baseline,
) -> bool {
    let walk = Walk {
        seen,
        methods,
        baseline,
        prefix: true,
    };
    let interim_fits = !outcome.no_interim || seen.reading.interim.is_empty();
    baseline.closes
        && matches!(seen.ending, Ending::Closed | Ending::Reset)
        && !seen.reading.finals.is_empty()
        && seen.reading.tail == Tail::Nothing
        && interim_fits
        && walk.sequence(&outcome.items, 0)
}

fn signals_fit(outcome: &Outcome, seen: &Observation, prefix: bool) -> bool {
    let closed = outcome.end == Some(End::Closed);
    signal::fit(&outcome.signals, &seen.reading.signals, closed, prefix)
}

/// One comparison of an outcome's items with the responses.
struct Walk<'a> {
    seen: &'a Observation,
    methods: &'a [String],
    baseline: &'a Baseline,
    /// Whether the responses may end before the items do.
    prefix: bool,
}

impl Walk<'_> {
    fn sequence(&self, items: &[Item], at: usize) -> bool {
        let finals = &self.seen.reading.finals;
        match items.split_first() {
            None => at == finals.len(),
            Some((Item::Raw, rest)) => self.sequence(rest, at),
            Some((Item::Rest, rest)) => (at..=finals.len()).any(|next| self.sequence(rest, next)),
            Some((Item::Interim(code), rest)) => {
                let mut interim = self.seen.reading.interim.iter();
                let there =
                    interim.any(|(before, response)| *before == at && response.status == *code);
                (there || (self.prefix && at == finals.len())) && self.sequence(rest, at)
            }
            Some((Item::Final(statuses, conditions), rest)) => match finals.get(at) {
                None => self.prefix,
                Some(response) => {
                    let head = self.methods.get(at).is_some_and(|method| method == "HEAD");
                    statuses
                        .iter()
                        .any(|status| status_fits(*status, response, head, self.baseline))
                        && conditions
                            .iter()
                            .all(|condition| holds(condition, response, self.baseline))
                        && self.sequence(rest, at + 1)
                }
            },
        }
    }
}

fn status_fits(status: Status, response: &Response, head: bool, baseline: &Baseline) -> bool {
    match status {
        Status::Any => response.status >= 200,
        Status::Exact(code) => response.status == code,
        Status::Class(class) => response.status / 100 == class,
        Status::Ok => {
            let same_body = baseline
                .body
                .as_ref()
                .is_none_or(|body| *body == response.body);
            response.status == baseline.status && (head || same_body)
        }
    }
}

fn holds(condition: &Condition, response: &Response, baseline: &Baseline) -> bool {
    match condition {
        Condition::Present(name) => response.values(name).next().is_some(),
        Condition::Absent(name) => response.values(name).next().is_none(),
        Condition::Token(name, token) => list_has(response.values(name), token),
        Condition::Date => {
            let dates: Vec<&str> = response.values("date").collect();
            matches!(dates.as_slice(), [date] if crate::date::is_current(date))
        }
        Condition::LengthOfGet => response
            .values("content-length")
            .all(|length| Some(length) == baseline.length.as_deref()),
        Condition::Body(some) => response.body.is_empty() != *some,
        Condition::BodyIs(text) => response.body == text.as_bytes(),
        Condition::BodyHolds(text, wanted) => {
            let held = response
                .body
                .windows(text.len().max(1))
                .any(|part| part == text.as_bytes());
            held == *wanted
        }
        Condition::Version(version) => response.version == *version,
        Condition::SelfFramed => {
            response.self_framed && !response.faults.iter().any(|fault| fault.contains("beside"))
        }
        Condition::ValidFields => response.faults.is_empty(),
    }
}
