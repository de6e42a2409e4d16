//! The slices result, and what a contender's load result says when its load came in slices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::order::LapPhase;
use super::record::SliceRecord;
use crate::error::Error;
use crate::job::Job;
use crate::merge::{Reports, combine, conclude};
use crate::mix::Mix;
use crate::result::{LoadResult, Queue, Rate, SeriesPoint, Totals, Window};

/// The result's schema and version.
pub const SCHEMA: &str = "touchstone.slices/2";

/// What a slices job leaves.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct SlicesResult {
    /// `touchstone.slices/2`.
    pub schema: String,
    /// What measured.
    pub engine: EngineVersion,
    /// Whether a signal ended the job.
    pub interrupted: bool,
    /// The origin of all times, on the wall clock.
    pub origin_unix_s: f64,
    /// A load result for each contender, in the job's order. Counts, bytes and distributions cover the slices of phase
    /// `load`, their histograms added without loss; `totals` cover every request since the connections were opened.
    /// `rate.achieved` is the sum of `generations.responses` over that of `generations.seconds`; in an open loop the
    /// slices' rates, weighted by their lengths. `window` holds sums of the slices' lengths of sending. `series` has
    /// one point for each slice, at its `end`. `watch.series` says `load` and `warmup` within the contender's own
    /// turns, `off` between them and `idle` at the end; `watch.window` reaches from the first sample in a measured
    /// slice to the end of the load, the others' turns included.
    pub contenders: Vec<LoadResult>,
    /// All turns, in order.
    pub slices: Vec<SliceRecord>,
}

/// The engine that measured.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct EngineVersion {
    /// Its version.
    pub version: String,
}

/// The load result of one contender, from its threads' reports and the records of its slices.
///
/// # Errors
/// [`Error::Worker`] if a report does not hold together.
pub fn of_contender(
    job: &Job,
    mix: &Mix,
    reports: Reports,
    interrupted: bool,
    slices: &[&SliceRecord],
) -> Result<LoadResult, Error> {
    let start_unix_s = reports.start_unix_s;
    let measured: Vec<&SliceRecord> = slices
        .iter()
        .copied()
        .filter(|slice| slice.lap_phase == LapPhase::Load)
        .collect();
    let all_s: f64 = slices.iter().map(|slice| slice.length_s()).sum();
    let measured_s: f64 = measured.iter().map(|slice| slice.length_s()).sum();
    let mut result = combine(job, mix, reports)?;
    result.interrupted = interrupted;
    result.window = Window {
        start_unix_s,
        warmup_s: all_s - measured_s,
        measured_s,
        drain_s: measured
            .iter()
            .map(|slice| slice.end - slice.sending_end)
            .sum(),
    };
    // The job as it would have been without slices.
    (result.job.warmup_s, result.job.duration_s) = (result.window.warmup_s, measured_s);
    let sum = |field: fn(&SliceRecord) -> u64| slices.iter().map(|slice| field(slice)).sum();
    result.totals = Totals {
        sent: sum(|slice| slice.sent),
        completed: sum(|slice| slice.completed),
        ok: sum(|slice| slice.ok),
    };
    result.counts.unsent = measured
        .iter()
        .filter_map(|slice| slice.open.map(|open| open.unsent))
        .sum();
    result.rate = rate(job, &measured, measured_s);
    let rows = result.requests.iter_mut().map(|row| &mut row.events);
    rows.chain([&mut result.events])
        .flatten()
        .for_each(|events| events.over(measured_s));
    result.queue = job.is_open().then(|| queue(&measured));
    result.series = slices.iter().map(|slice| point(slice)).collect();
    // Each slice has its own share of the machine; a span that holds the others' turns would say nothing.
    result.machine = None;
    conclude(&mut result);
    Ok(result)
}

fn rate(job: &Job, measured: &[&SliceRecord], measured_s: f64) -> Rate {
    let over = |count: f64, seconds: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    if job.is_open() {
        let weighted = |part: fn(&SliceRecord) -> f64| {
            let sum = measured
                .iter()
                .map(|slice| part(slice) * slice.length_s())
                .sum();
            over(sum, measured_s)
        };
        return Rate {
            offered: Some(weighted(|slice| {
                slice.open.map_or(0.0, |open| open.offered)
            })),
            achieved: weighted(|slice| slice.rate.unwrap_or(0.0)),
        };
    }
    let whole = || measured.iter().filter_map(|slice| slice.generations);
    Rate {
        offered: None,
        achieved: over(
            whole()
                .map(|generations| generations.responses as f64)
                .sum(),
            whole().map(|generations| generations.seconds).sum(),
        ),
    }
}

fn queue(measured: &[&SliceRecord]) -> Queue {
    let open = || measured.iter().filter_map(|slice| slice.open);
    let lengths: f64 = measured.iter().map(|slice| slice.end - slice.begin).sum();
    let area: f64 = measured
        .iter()
        .filter_map(|slice| Some(slice.open?.queue_mean * (slice.end - slice.begin)))
        .sum();
    Queue {
        peak: open().map(|open| open.queue_peak).max().unwrap_or(0),
        mean: if lengths > 0.0 { area / lengths } else { 0.0 },
    }
}

fn point(slice: &SliceRecord) -> SeriesPoint {
    let latency = slice.latency.as_ref();
    SeriesPoint {
        t: slice.end,
        phase: slice.lap_phase.name().to_owned(),
        sent: slice.sent,
        ok: slice.ok,
        errors: slice.errors.values().sum(),
        p50: latency.map(|latency| latency.p50),
        p99: latency.map(|latency| latency.p99),
        max: latency.map(|latency| latency.max),
        connections: slice.connections,
        queue: slice.open.map_or(0, |open| open.queued_at_end),
    }
}
