//! What threads and processes hand over after a turn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Nanos;
use crate::failure::{ErrorCounts, FirstError};
use crate::histogram::Packed;
use crate::recorder::Steady;
use crate::schedule::TurnQueue;
use crate::usage::Usage;

/// One thread's part of a slice.
#[derive(Debug, Serialize, Deserialize)]
pub struct SlicePart {
    /// When it began to send.
    pub began: Nanos,
    /// Requests sent.
    pub sent: u64,
    /// Complete responses.
    pub completed: u64,
    /// Right responses.
    pub ok: u64,
    /// Requests sent once more.
    pub repeated: u64,
    /// Requests that were due and never sent, because their connection did not come up.
    pub unsent: u64,
    /// Requests that were due when sending ended, and still waited for a free connection.
    pub queued: u64,
    /// Errors by class.
    pub errors: ErrorCounts,
    /// Responses by status.
    pub status: BTreeMap<u16, u64>,
    /// The whole generations of a closed loop.
    pub steady: Option<Steady>,
    /// Latencies of the steady state.
    pub latency: Packed,
    /// What the thread used while it was sending.
    pub usage: Usage,
    /// Connections established at the end.
    pub established: u64,
    /// When the last response came, or was given up.
    pub ended: Nanos,
    /// Evidence of errors.
    pub first_errors: Vec<FirstError>,
}

/// One process's part of a slice.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ProcessTurn {
    /// Its threads' parts.
    pub threads: Vec<SlicePart>,
    /// The queue of an open loop that was loaded.
    pub queue: Option<TurnQueue>,
}

impl ProcessTurn {
    /// When the last of its threads began to send.
    #[must_use]
    pub fn began(&self) -> Nanos {
        self.threads
            .iter()
            .map(|part| part.began)
            .max()
            .unwrap_or_default()
    }

    /// Requests that were due when sending ended and waited for a free connection: all threads look at the same queue.
    #[must_use]
    pub fn queued(&self) -> u64 {
        self.threads
            .iter()
            .map(|part| part.queued)
            .min()
            .unwrap_or(0)
    }

    /// The queues of several processes as one.
    #[must_use]
    pub fn whole_queue(turns: &[Self]) -> Option<TurnQueue> {
        turns
            .iter()
            .filter_map(|turn| turn.queue)
            .reduce(|sum, own| TurnQueue {
                due: sum.due + own.due,
                dropped: sum.dropped + own.dropped,
                peak: sum.peak + own.peak,
                mean: sum.mean + own.mean,
            })
    }
}
