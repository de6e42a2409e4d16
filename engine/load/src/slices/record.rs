//! A slice's record.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use touchstone_watch::{OtherProcess, Sent};

use super::order::LapPhase;
use super::part::{ProcessTurn, SlicePart};
use crate::clock::{Nanos, seconds};
use crate::error::Error;
use crate::failure::{FirstError, by_class, status_name};
use crate::histogram::Histogram;

/// One turn's record. Times in seconds since the job's origin; what was not measured is absent.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct SliceRecord {
    /// The slice's number in the job.
    pub index: u64,
    /// Its phase of the lap.
    pub lap_phase: LapPhase,
    /// Whose turn it was.
    pub contender: usize,
    /// When its clock started, after settling.
    pub begin: f64,
    /// How long after `begin` the last thread of the `generators` began; absent without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_s: Option<f64>,
    /// When sending ended.
    pub sending_end: f64,
    /// When the last response came or was given up.
    pub end: f64,
    /// Requests sent.
    pub sent: u64,
    /// Whole responses.
    pub completed: u64,
    /// Correct responses.
    pub ok: u64,
    /// Requests that were sent once more; absent if none was.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: u64,
    /// Errors of requests: the classes of a load result that occurred.
    pub errors: BTreeMap<String, u64>,
    /// The same of connections; absent if there was none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub connection_errors: BTreeMap<String, u64>,
    /// Responses by status.
    pub status: BTreeMap<String, u64>,
    /// The part of the slice that has no edges; absent where fewer than two generations ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generations: Option<WholeGenerations>,
    /// Closed loop: responses per second in whole generations, summed over the threads. Open loop: `ok` less
    /// `queued_at_end` over the seconds of sending, because what left the queue afterwards is not a throughput.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Requests that were due after the first generation had ended; in an open loop all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<SliceLatency>,
    /// What only an open loop has.
    #[serde(flatten)]
    pub open: Option<OpenSlice>,
    /// Who used the CPUs meanwhile.
    #[serde(flatten)]
    pub cpu: CpuUse,
    /// What all sockets of the machine sent meanwhile; absent where the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Sent>,
    /// Established at its end.
    pub connections: u64,
    /// Evidence as in a load result; 20 errors of each class in the whole job.
    pub first_errors: Vec<FirstError>,
}

/// Correct responses between the ends of the first and the last whole generation. A slice begins with empty pipelines,
/// which is a burst, and a server that waits 10 ms for each request answers in waves. So requests are counted as they
/// are concluded, per thread: a generation ends when as many have been as the connections times the pipeline.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
pub struct WholeGenerations {
    /// How many.
    pub responses: u64,
    /// What lies between; with several threads `responses` over the sum of their rates.
    pub seconds: f64,
    /// How long the first generation took, of the thread that took longest.
    #[serde(default)]
    pub first_s: f64,
}

/// Latencies of the slice's steady state, in seconds.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct SliceLatency {
    /// Base64 of HdrHistogram V2 with DEFLATE, in nanoseconds; absent where the slice belongs to the warm-up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
    /// Values recorded.
    pub count: u64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Greatest value.
    pub max: f64,
}

/// What only an open loop has.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
pub struct OpenSlice {
    /// Open loop: requests per second that were due.
    pub offered: f64,
    /// Open loop: due, and not sent within the timeout.
    pub unsent: u64,
    /// Open loop: due when sending ended, and waiting for a free connection.
    pub queued_at_end: u64,
    /// Open loop: the most that waited at a time, summed over the threads.
    pub queue_peak: u64,
    /// Open loop: how many waited on average, summed over the threads.
    pub queue_mean: f64,
}

/// Who used the CPUs meanwhile, in seconds of CPU.
#[derive(Debug, Clone, Default, JsonSchema, Serialize, Deserialize)]
pub struct CpuUse {
    /// CPU seconds of the contender's process tree from `begin` to `end` and the gap, by the processes' CPU clocks.
    /// What a process used that began and ended between two samples of the watch is charged to a later slice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
    /// What each other contender used meanwhile; null for itself, and where there is no `watch`.
    pub others_cpu_s: Vec<Option<f64>>,
    /// Seconds in which each contender, this one too, waited for a disk with at least one thread, from looks a few
    /// milliseconds apart; absent if no contender did.
    #[serde(default, skip_serializing_if = "none_waited")]
    pub disk_waits_s: Vec<f64>,
    /// CPU seconds of the contender's load threads while they were sending.
    pub engine_cpu_s: f64,
    /// What they waited for a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine_delayed_s: Option<f64>,
    /// Seconds that the hypervisor took, in ticks of 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_s: Option<f64>,
    /// CPU seconds of neither engine nor contenders nor their dependencies, as in a load result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_cpu_s: Option<f64>,
    /// The share of the contender's own CPUs' time that was not idle, and that no contender used: what others and the host
    /// had there, to a tick of 10 ms. Absent without a `watch`, and where the engine or a dependency may work there too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_here: Option<f64>,
    /// What a fixed piece of work took on the contender's CPUs meanwhile, on average, in seconds: it takes longer where a
    /// core is slower, since its other hyperthread works for somebody else. Absent where there is no `watch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_s: Option<f64>,
    /// The other processes that used most CPU, at most 64, the largest first; absent if none was seen to work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_processes: Vec<OtherProcess>,
    /// What each dependency used that the contender's `watch` names; absent if it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies_cpu_s: Option<BTreeMap<String, f64>>,
}

/// A turn's time on the engine's clock, and its purpose.
#[derive(Debug, Clone, Copy)]
pub struct Taken {
    /// The slice's number in the job.
    pub index: u64,
    /// Whose turn it was.
    pub contender: usize,
    /// Its phase of the lap.
    pub phase: LapPhase,
    /// The job's origin.
    pub origin: Nanos,
    /// When it began.
    pub begin: Nanos,
    /// When sending ended.
    pub sending_end: Nanos,
    /// Whether other machines put the load on.
    pub apart: bool,
}

impl SliceRecord {
    /// The record of a turn from what its processes hand over; who used the CPUs is added later.
    ///
    /// # Errors
    /// [`Error::Worker`] if a histogram does not hold together.
    pub fn of(taken: Taken, turns: &[ProcessTurn]) -> Result<Self, Error> {
        let parts: &[&SlicePart] = &turns
            .iter()
            .flat_map(|turn| &turn.threads)
            .collect::<Vec<_>>();
        let sum = |field: fn(&SlicePart) -> u64| parts.iter().map(|part| field(part)).sum::<u64>();
        let length = seconds(taken.sending_end - taken.begin);
        let end = parts.iter().map(|part| part.ended).max();
        let ok = sum(|part| part.ok);
        let generations = generations(parts);
        let queued = turns.iter().map(ProcessTurn::queued).sum();
        let began = turns
            .iter()
            .map(ProcessTurn::began)
            .max()
            .unwrap_or_default();
        let open = ProcessTurn::whole_queue(turns).map(|queue| OpenSlice {
            offered: over(queue.due, length),
            unsent: queue.dropped + sum(|part| part.unsent),
            queued_at_end: queued,
            queue_peak: queue.peak,
            queue_mean: queue.mean,
        });
        let rate = match open {
            // What left the queue only after sending had stopped is not a throughput of the slice.
            Some(open) => {
                (length > 0.0).then(|| over(ok.saturating_sub(open.queued_at_end), length))
            }
            None => generations.map(|whole| whole.responses as f64 / whole.seconds),
        };
        let (errors, connection_errors) =
            by_class(|class| parts.iter().map(|part| part.errors[class as usize]).sum());
        let mut first_errors: Vec<FirstError> = parts
            .iter()
            .flat_map(|part| part.first_errors.iter().cloned())
            .collect();
        first_errors.sort_by(|left, right| left.t.total_cmp(&right.t));
        Ok(Self {
            index: taken.index,
            lap_phase: taken.phase,
            contender: taken.contender,
            begin: seconds(taken.begin - taken.origin),
            began_s: (taken.apart && length > 0.0)
                .then(|| seconds(began.saturating_sub(taken.begin))),
            sending_end: seconds(taken.sending_end - taken.origin),
            end: seconds(end.unwrap_or(taken.sending_end).max(taken.sending_end) - taken.origin),
            sent: sum(|part| part.sent),
            completed: sum(|part| part.completed),
            ok,
            repeated: sum(|part| part.repeated),
            errors: that_occurred(errors),
            connection_errors: that_occurred(connection_errors),
            status: status(parts),
            generations,
            rate,
            latency: latency(parts)?,
            open,
            cpu: CpuUse {
                engine_cpu_s: parts
                    .iter()
                    .map(|part| part.usage.user_s + part.usage.system_s)
                    .sum(),
                engine_delayed_s: parts.iter().map(|part| part.usage.delayed_s).sum(),
                ..CpuUse::default()
            },
            network: None,
            connections: sum(|part| part.established),
            first_errors,
        })
    }

    /// Seconds in which requests were sent.
    #[must_use]
    pub fn length_s(&self) -> f64 {
        self.sending_end - self.begin
    }
}

fn over(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

/// The rates of several threads add up; their seconds are then those in which all responses come at that rate.
fn generations(parts: &[&SlicePart]) -> Option<WholeGenerations> {
    let whole: Vec<_> = parts
        .iter()
        .map(|part| part.steady)
        .collect::<Option<_>>()?;
    let responses: u64 = whole.iter().map(|steady| steady.responses).sum();
    let rate: f64 = whole
        .iter()
        .map(|steady| over(steady.responses, seconds(steady.took)))
        .sum();
    let longest = whole
        .iter()
        .map(|steady| seconds(steady.took))
        .reduce(f64::max)?;
    Some(WholeGenerations {
        responses,
        seconds: if responses > 0 {
            responses as f64 / rate
        } else {
            longest
        },
        first_s: seconds(whole.iter().map(|steady| steady.first).max()?),
    })
}

fn that_occurred(mut counts: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    counts.retain(|_, count| *count > 0);
    counts
}

fn none_waited(seconds: &[f64]) -> bool {
    seconds.iter().all(|waited| *waited == 0.0)
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn status(parts: &[&SlicePart]) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (code, count) in parts.iter().flat_map(|part| &part.status) {
        *sums.entry(status_name(*code)).or_insert(0) += count;
    }
    sums
}

fn latency(parts: &[&SlicePart]) -> Result<Option<SliceLatency>, Error> {
    let mut sum = Histogram::default();
    sum.add_packed(parts.iter().map(|part| &part.latency))?;
    if sum.is_empty() {
        return Ok(None);
    }
    let at = sum.at(&[0.5, 0.99]);
    Ok(Some(SliceLatency {
        histogram: Some(sum.encode()),
        count: sum.len(),
        p50: seconds(at[0]),
        p99: seconds(at[1]),
        max: seconds(sum.max()),
    }))
}
