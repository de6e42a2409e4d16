//! What the echo has seen: counts by path, the log of message ids, connections, and how exact its delays were.

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use touchstone_sys::clock::{Nanos, monotonic, seconds};

/// More distinct paths than this are counted together: a scan must not grow the memory without bound.
const PATHS: usize = 1000;
/// The log ends here, and says so.
const LOG: usize = 20_000_000;
/// Lateness is counted in buckets of a microsecond up to this.
const LATENESS_US: usize = 20_000;

/// A worker's own counts; only the control endpoint ever contends for its lock.
#[derive(Debug)]
pub struct WorkerStats {
    pub paths: HashMap<Vec<u8>, u64>,
    pub answered: u64,
    pub lost: u64,
    lateness_us: Vec<u32>,
    latest_us: u64,
}

impl Default for WorkerStats {
    fn default() -> Self {
        Self {
            paths: HashMap::new(),
            answered: 0,
            lost: 0,
            lateness_us: vec![0; LATENESS_US],
            latest_us: 0,
        }
    }
}

impl WorkerStats {
    pub fn count_path(&mut self, path: &[u8]) {
        if let Some(count) = self.paths.get_mut(path) {
            *count += 1;
        } else if self.paths.len() < PATHS {
            self.paths.insert(path.to_vec(), 1);
        } else {
            *self.paths.entry(b"(others)".to_vec()).or_default() += 1;
        }
    }

    pub fn count_answer(&mut self, late: Nanos) {
        self.answered += 1;
        let late_us = late.0 / 1000;
        self.latest_us = self.latest_us.max(late_us);
        self.lateness_us[(late_us as usize).min(LATENESS_US - 1)] += 1;
    }
}

/// Message ids in the order of their arrival.
#[derive(Debug, Default)]
struct Log {
    entries: Vec<(Nanos, Box<str>)>,
    counts: HashMap<Box<str>, u32>,
    dropped: u64,
}

/// Everything that is counted, over all workers.
#[derive(Debug)]
pub struct Stats {
    pub workers: Vec<Mutex<WorkerStats>>,
    log: Mutex<Log>,
    opened: AtomicU64,
    open: AtomicI64,
    peak: AtomicI64,
    in_flight: AtomicI64,
    in_flight_peak: AtomicI64,
    since: AtomicU64,
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stats {
    pub fn new(workers: usize) -> Self {
        Self {
            workers: (0..workers).map(|_| Mutex::default()).collect(),
            log: Mutex::default(),
            opened: AtomicU64::new(0),
            open: AtomicI64::new(0),
            peak: AtomicI64::new(0),
            in_flight: AtomicI64::new(0),
            in_flight_peak: AtomicI64::new(0),
            since: AtomicU64::new(monotonic().0),
        }
    }

    pub fn opened(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
        let now = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }

    pub fn closed(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    pub fn began(&self) {
        let now = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.in_flight_peak.fetch_max(now, Ordering::Relaxed);
    }

    pub fn ended(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// Enters a message id; the place in the log is the order of arrival over all workers.
    pub fn arrived(&self, at: Nanos, id: &[u8]) {
        let id: Box<str> = String::from_utf8_lossy(id).into();
        let mut log = lock(&self.log);
        if log.entries.len() >= LOG {
            log.dropped += 1;
            return;
        }
        *log.counts.entry(id.clone()).or_default() += 1;
        log.entries.push((at, id));
    }

    /// Sets every count to zero. Open connections and requests in flight stay and start the new peaks.
    pub fn reset(&self) {
        for worker in &self.workers {
            *lock(worker) = WorkerStats::default();
        }
        *lock(&self.log) = Log::default();
        self.opened.store(0, Ordering::Relaxed);
        self.peak
            .store(self.open.load(Ordering::Relaxed), Ordering::Relaxed);
        self.in_flight_peak
            .store(self.in_flight.load(Ordering::Relaxed), Ordering::Relaxed);
        self.since.store(monotonic().0, Ordering::Relaxed);
    }

    /// All counts.
    pub fn describe(&self) -> Value {
        let mut paths: BTreeMap<String, u64> = BTreeMap::new();
        let (mut answered, mut lost, mut latest_us) = (0, 0, 0);
        let mut lateness = vec![0u64; LATENESS_US];
        for worker in &self.workers {
            let worker = lock(worker);
            for (path, count) in &worker.paths {
                *paths
                    .entry(String::from_utf8_lossy(path).into_owned())
                    .or_default() += count;
            }
            answered += worker.answered;
            lost += worker.lost;
            latest_us = worker.latest_us.max(latest_us);
            lateness
                .iter_mut()
                .zip(&worker.lateness_us)
                .for_each(|(sum, n)| *sum += u64::from(*n));
        }
        let log = lock(&self.log);
        let duplicates: u64 = log.counts.values().map(|n| u64::from(*n) - 1).sum();
        json!({
            "since_s": seconds(monotonic() - Nanos(self.since.load(Ordering::Relaxed))),
            "requests": paths.values().sum::<u64>(),
            "paths": paths,
            "answered": answered,
            "lost": lost,
            "in_flight": {
                "now": self.in_flight.load(Ordering::Relaxed),
                "peak": self.in_flight_peak.load(Ordering::Relaxed),
            },
            "connections": {
                "opened": self.opened.load(Ordering::Relaxed),
                "open": self.open.load(Ordering::Relaxed),
                "peak": self.peak.load(Ordering::Relaxed),
            },
            "ids": {
                "received": log.entries.len() as u64 + log.dropped,
                "distinct": log.counts.len(),
                "duplicates": duplicates,
                "not_logged": log.dropped,
            },
            "late_s": {
                "p50": percentile(&lateness, 0.5),
                "p99": percentile(&lateness, 0.99),
                "p99_9": percentile(&lateness, 0.999),
                "max": (answered > 0).then_some(latest_us as f64 / 1e6),
            },
        })
    }

    /// The log from a place on, at most `limit` entries: `[[place, monotonic nanoseconds, id], ...]`.
    pub fn log(&self, from: usize, limit: usize) -> Value {
        let log = lock(&self.log);
        let total = log.entries.len();
        let start = from.min(total);
        let end = start.saturating_add(limit).min(total);
        let entries: Vec<Value> = (start..end)
            .map(|at| json!([at, log.entries[at].0, log.entries[at].1]))
            .collect();
        json!({"total": total, "next": end, "not_logged": log.dropped, "entries": entries})
    }
}

/// Seconds, from buckets of a microsecond; `None` of nothing.
fn percentile(buckets: &[u64], share: f64) -> Option<f64> {
    let total: u64 = buckets.iter().sum();
    let rank = ((total as f64 * share).ceil() as u64).max(1);
    let mut seen = 0;
    buckets
        .iter()
        .position(|n| {
            seen += n;
            seen >= rank && total > 0
        })
        .map(|us| us as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kept_in_order_with_their_duplicates() {
        let stats = Stats::new(1);
        for id in ["7", "3", "7"] {
            stats.arrived(Nanos(1), id.as_bytes());
        }
        let log = stats.log(1, 10);
        assert_eq!(
            (log["total"].as_u64(), log["next"].as_u64()),
            (Some(3), Some(3))
        );
        assert_eq!(log["entries"], json!([[1, 1, "3"], [2, 1, "7"]]));
        assert_eq!(stats.describe()["ids"]["duplicates"], 1);
        stats.reset();
        assert_eq!(stats.describe()["ids"]["received"], 0);
    }

    #[test]
    fn lateness_percentiles_come_from_the_buckets_and_are_null_of_nothing() {
        let stats = Stats::new(1);
        assert!(stats.describe()["late_s"]["p50"].is_null());
        for late_us in 1..=100 {
            lock(&stats.workers[0]).count_answer(Nanos::from_micros(late_us));
        }
        let late = &stats.describe()["late_s"];
        assert_eq!(
            (late["p50"].as_f64(), late["max"].as_f64()),
            (Some(50e-6), Some(100e-6))
        );
    }
}
