//! What one thread hands over after its turn.

use std::collections::BTreeMap;

use crate::histogram::Packed;
use crate::recorder::{ErrorCounts, FirstError, Steady};
use crate::usage::Usage;
use crate::worker::Worker;

/// One thread's part of a slice.
#[derive(Debug)]
pub struct SlicePart {
    /// Requests sent.
    pub sent: u64,
    /// Complete responses.
    pub completed: u64,
    /// Right responses.
    pub ok: u64,
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
    pub ended: u64,
    /// Evidence of errors.
    pub first_errors: Vec<FirstError>,
}

impl SlicePart {
    /// What a worker did in its turn, which has just ended.
    #[must_use]
    pub fn of(worker: &Worker, ended: u64) -> Self {
        let recorder = &worker.recorder;
        Self {
            sent: recorder.sent,
            completed: recorder.completed,
            ok: recorder.ok,
            unsent: worker.unsent,
            queued: worker.queued,
            errors: recorder.errors,
            status: recorder.statuses(),
            steady: recorder.steady(),
            latency: recorder.turn_latency(),
            usage: worker.usage,
            established: u64::from(worker.established),
            ended,
            first_errors: recorder.first_errors.clone(),
        }
    }
}
