//! What a crew and its processes say to each other.

use crate::job::Job;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use touchstone_exchange::closes::ClosedByServer;

/// From the crew to a process, before all orders.
#[derive(Debug, Serialize, Deserialize)]
pub struct Work {
    pub job: Box<Job>,
    /// Number of its first connection among all that its machine may open.
    pub first: u64,
    /// How many connections may be under way at once.
    pub at_once: u64,
    /// The CPU that it is pinned to.
    pub cpu: Option<usize>,
}

/// From a process.
#[derive(Debug, Serialize, Deserialize)]
pub enum Said {
    /// What has come of its order.
    Answer(Box<Answer>),
    /// It cannot do its part, or it is lost.
    Failed(String),
}

/// From the crew.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    /// Open connections until this many are held, at most `rate` a second.
    Open { total: u64, rate: f64 },
    /// Open no more; what is under way may end.
    Stop,
    /// Send requests over the held connections.
    Traffic { rate: f64, seconds: f64 },
    /// Say what has happened.
    Report,
    /// Reset all connections.
    Close,
}

/// From a process, once for each order but `Stop`, and now and then while it follows one: sums since its start, and
/// figures of the order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Whether the order has been carried out; otherwise what has happened so far.
    pub done: bool,
    /// Connections held now.
    pub held: u64,
    /// Connections that were established.
    pub established: u64,
    /// Those on which the first request was answered as expected.
    pub answered: u64,
    /// Connections that could not be opened, or were not answered as expected, by reason.
    pub failed: BTreeMap<String, u64>,
    /// Held connections that ended, by reason; without those of `closed`.
    pub lost: BTreeMap<String, u64>,
    /// Held connections that the server closed as it may.
    #[serde(default)]
    pub closed: ClosedByServer,
    /// The first thing that went wrong.
    pub evidence: Option<String>,
    /// How long the order took.
    pub seconds: f64,
    /// Slowest connection or response of the order.
    pub slowest_s: f64,
    /// Requests of a traffic order.
    pub requests: u64,
    /// Those answered as expected.
    pub ok: u64,
    /// Different connections that carried one.
    pub used: u64,
}

impl Answer {
    /// What all processes say together.
    pub fn sum<'a>(answers: impl Iterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        for answer in answers {
            sum.merge(answer);
        }
        sum
    }

    /// Held connections that ended, for whatever reason.
    pub fn lost(&self) -> u64 {
        self.lost.values().sum::<u64>() + self.closed.count()
    }

    fn merge(&mut self, other: &Self) {
        self.held += other.held;
        self.established += other.established;
        self.answered += other.answered;
        for (mine, theirs) in [
            (&mut self.failed, &other.failed),
            (&mut self.lost, &other.lost),
        ] {
            for (reason, count) in theirs {
                *mine.entry(reason.clone()).or_default() += count;
            }
        }
        self.closed.add(&other.closed);
        self.evidence = self.evidence.take().or_else(|| other.evidence.clone());
        self.seconds = self.seconds.max(other.seconds);
        self.slowest_s = self.slowest_s.max(other.slowest_s);
        self.requests += other.requests;
        self.ok += other.ok;
        self.used += other.used;
    }
}
