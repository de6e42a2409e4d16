//! Counts of what the consumer has done, for GET /stats.

use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub struct Stats(Mutex<Snapshot>);

#[derive(Clone, Default, Serialize)]
pub struct Snapshot {
    processed: u64,
    skipped: u64,
    partitions: BTreeMap<i32, u64>,
}

impl Stats {
    pub fn done(&self, partition: i32) {
        let mut counts = self.lock();
        counts.processed += 1;
        *counts.partitions.entry(partition).or_default() += 1;
    }

    pub fn skip(&self) {
        self.lock().skipped += 1;
    }

    pub fn snapshot(&self) -> Snapshot {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Snapshot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
