//! Kept connections that the server closed: when, after how many responses, and after what rest.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use touchstone_sys::clock::{Nanos, seconds};

/// Connections that the load would have kept and the server closed, over the whole job; a kind that did not occur is absent.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ClosedByServer {
    /// At rest, before a first request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unused: Option<Closes>,
    /// At rest, after responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Closes>,
    /// At rest, with a notice: a response with an error status, such as 408, to no request. A 408 that crosses a request
    /// on a connection that had rested is one as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notified: Option<Closes>,
    /// With a correct response that announced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announced: Option<Closes>,
    /// Under requests of which not a byte was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_request: Option<Closes>,
}

/// Closes of one kind.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Closes {
    /// How many.
    pub count: u64,
    /// The fewest responses that one of these connections had given.
    pub responses_least: u64,
    /// The most.
    pub responses_most: u64,
    /// Seconds that one of these connections had rested, at least: since its last response, or since it was opened. In
    /// slices a close is seen when the contender's next turn begins.
    pub rested_least_s: f64,
    /// At most.
    pub rested_most_s: f64,
    /// Notices by status.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub status: BTreeMap<String, u64>,
}

/// A kind of close; as the fields of [`ClosedByServer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// At rest, before a first request or after responses.
    AtRest,
    /// At rest, with a notice of this status.
    Notified(u16),
    /// With a response that announced it.
    Announced,
    /// Under requests of which not a byte was answered.
    UnderRequest,
}

impl ClosedByServer {
    /// Notes a close of a connection, with the responses that it had given and its rest before the close.
    pub fn note(&mut self, close: Close, responses: u32, rested: Nanos) {
        let place = match close {
            Close::AtRest if responses == 0 => &mut self.unused,
            Close::AtRest => &mut self.idle,
            Close::Notified(_) => &mut self.notified,
            Close::Announced => &mut self.announced,
            Close::UnderRequest => &mut self.under_request,
        };
        let (responses, rested) = (u64::from(responses), seconds(rested));
        let mut one = Closes {
            count: 1,
            responses_least: responses,
            responses_most: responses,
            rested_least_s: rested,
            rested_most_s: rested,
            status: BTreeMap::new(),
        };
        if let Close::Notified(status) = close {
            one.status.insert(status.to_string(), 1);
        }
        add(place, Some(&one));
    }

    /// How many of all kinds.
    #[must_use]
    pub fn count(&self) -> u64 {
        let kinds = [
            &self.unused,
            &self.idle,
            &self.notified,
            &self.announced,
            &self.under_request,
        ];
        kinds.into_iter().flatten().map(|one| one.count).sum()
    }

    /// Whether none occurred.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Adds those of another thread or process.
    pub fn add(&mut self, other: &Self) {
        add(&mut self.unused, other.unused.as_ref());
        add(&mut self.idle, other.idle.as_ref());
        add(&mut self.notified, other.notified.as_ref());
        add(&mut self.announced, other.announced.as_ref());
        add(&mut self.under_request, other.under_request.as_ref());
    }
}

fn add(sum: &mut Option<Closes>, other: Option<&Closes>) {
    let Some(other) = other else { return };
    let Some(own) = sum else {
        *sum = Some(other.clone());
        return;
    };
    own.count += other.count;
    own.responses_least = own.responses_least.min(other.responses_least);
    own.responses_most = own.responses_most.max(other.responses_most);
    own.rested_least_s = own.rested_least_s.min(other.rested_least_s);
    own.rested_most_s = own.rested_most_s.max(other.rested_most_s);
    for (status, count) in &other.status {
        *own.status.entry(status.clone()).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closes_of_several_threads_are_those_of_one() {
        let seen = [
            (Close::AtRest, 0, 2_000),
            (Close::AtRest, 7, 1_000),
            (Close::AtRest, 3, 1_500),
            (Close::Notified(408), 0, 2_000),
            (Close::Notified(503), 2, 10),
            (Close::Announced, 100, 0),
            (Close::UnderRequest, 9, 1_000),
        ];
        let mut whole = ClosedByServer::default();
        let mut parts = [ClosedByServer::default(), ClosedByServer::default()];
        for (number, (close, responses, rested)) in seen.into_iter().enumerate() {
            whole.note(close, responses, Nanos::from_millis(rested));
            parts[number % 2].note(close, responses, Nanos::from_millis(rested));
        }
        let mut sum = ClosedByServer::default();
        parts.iter().for_each(|part| sum.add(part));
        assert_eq!(sum, whole);
        let idle = whole.idle.unwrap();
        assert_eq!(
            (idle.count, idle.responses_least, idle.responses_most),
            (2, 3, 7)
        );
        assert_eq!((idle.rested_least_s, idle.rested_most_s), (1.0, 1.5));
        assert_eq!(whole.unused.unwrap().count, 1);
        assert_eq!(
            whole.notified.unwrap().status,
            BTreeMap::from([("408".to_owned(), 1), ("503".to_owned(), 1)])
        );
    }
}
