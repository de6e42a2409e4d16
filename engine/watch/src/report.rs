//! The `watch` and `machine` objects of the protocol, made from samples.

use crate::exit::Exit;
use crate::groups::ThrottledGroup;
use crate::machine::Machine;
use crate::placement::Placement;
use crate::sample::{DescriptorUse, Phase, Resources, Sample};
use crate::wall_clock::WallClock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use touchstone_sys::clock::{Nanos, seconds, since};

/// An exit with its time in the series' clock.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ExitAt {
    /// Seconds since the origin.
    pub t: f64,
    /// How.
    #[serde(flatten)]
    pub exit: Exit,
}

/// One element of the series.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Point {
    /// Seconds since the origin.
    pub t: f64,
    /// What the load was doing.
    pub phase: Phase,
    /// CPU seconds of the tree since the series began.
    pub cpu_s: f64,
    /// Resident bytes.
    pub rss: u64,
    /// Resident bytes with shared pages counted once; of several processes read at a lower rate.
    pub footprint: Option<u64>,
    /// Proportional resident bytes; read at a lower rate.
    pub pss: Option<u64>,
    /// Anonymous resident bytes; read at a lower rate.
    pub anon: Option<u64>,
    /// Bytes charged to the cgroup.
    pub cgroup_memory: Option<u64>,
    /// Threads.
    pub threads: u32,
    /// Descriptors.
    pub fds: Option<u32>,
    /// Processes.
    pub processes: u32,
    /// CPU seconds of that process which had used most among those that have gone.
    pub ended_cpu_s: f64,
}

impl Point {
    /// A sample against an origin and the CPU time at the series' begin.
    #[must_use]
    pub fn new(sample: &Sample, origin: Nanos, cpu_base: Nanos) -> Self {
        Self {
            t: since(sample.at, origin),
            phase: sample.phase,
            cpu_s: seconds(sample.cpu.saturating_sub(cpu_base)),
            rss: sample.resources.rss,
            footprint: sample.resources.footprint,
            pss: sample.resources.pss,
            anon: sample.resources.anon,
            cgroup_memory: sample.cgroup.memory,
            threads: sample.resources.threads,
            fds: sample.resources.fds,
            processes: sample.resources.processes,
            ended_cpu_s: seconds(sample.ended),
        }
    }
}

/// All that is known of the tree at one moment. Bytes and counts.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Snapshot {
    /// Seconds since the origin.
    pub t: f64,
    /// What the tree holds.
    #[serde(flatten)]
    pub resources: Resources,
    /// Bytes charged to its cgroup, page cache included.
    pub cgroup_memory: Option<u64>,
    /// The most that was ever charged.
    pub cgroup_memory_peak: Option<u64>,
    /// The cgroup's limit; null also when there is none.
    pub cgroup_memory_limit: Option<u64>,
    /// How often the limit was hit.
    pub cgroup_limit_hits: Option<u64>,
    /// Processes of the cgroup killed for want of memory.
    pub oom_kills: Option<u64>,
}

impl Snapshot {
    /// A sample against an origin.
    #[must_use]
    pub fn new(sample: &Sample, origin: Nanos) -> Self {
        Self {
            t: since(sample.at, origin),
            resources: sample.resources,
            cgroup_memory: sample.cgroup.memory,
            cgroup_memory_peak: sample.cgroup.memory_peak,
            cgroup_memory_limit: sample.cgroup.memory_limit,
            cgroup_limit_hits: sample.cgroup.limit_hits,
            oom_kills: sample.cgroup.oom_kills,
        }
    }
}

/// Use over the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Default, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "WatchedWindow")]
pub struct Window {
    /// Seconds between the samples that bound it.
    pub seconds: f64,
    /// CPU seconds, by the processes' CPU clocks.
    pub cpu_s: f64,
    /// The user part (kernel's ticks of 10 ms).
    pub user_s: f64,
    /// The system part (kernel's ticks of 10 ms).
    pub system_s: f64,
    /// Highest resident bytes of any sample.
    pub rss_peak: u64,
    /// The most that the tree held with shared pages counted once.
    pub footprint_peak: Option<u64>,
    /// The most open descriptors of that process which came nearest to its limit.
    pub fds_peak: Option<u32>,
    /// How many it may have open.
    pub fd_limit: Option<u64>,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// CPU seconds of the cgroup.
    pub cgroup_cpu_s: Option<f64>,
    /// Seconds kept off the CPU by the quotas of the processes' own cgroups and those above, summed over CPUs.
    pub throttled_s: Option<f64>,
    /// Periods of these quotas, while there was something to run.
    pub periods: Option<u64>,
    /// How many of them were cut short.
    pub throttled_periods: Option<u64>,
    /// How often the memory limits of the processes' cgroups were hit.
    pub limit_hits: Option<u64>,
    /// Processes of these cgroups killed for want of memory.
    pub oom_kills: Option<u64>,
}

impl Window {
    /// Over samples in time order; the first and the last bound the window.
    #[must_use]
    pub fn over(samples: &[Sample]) -> Option<Self> {
        let (first, last) = (samples.first()?, samples.last()?);
        let both = first.cgroup.cpu.zip(last.cgroup.cpu);
        // A group that was found within the window counts from when it was found.
        let grown = |a: Option<u64>, b: Option<u64>| b.map(|b| b.saturating_sub(a.unwrap_or(0)));
        let (then, now) = (&first.restraint, &last.restraint);
        let fullest = samples
            .iter()
            .filter_map(|s| s.fullest)
            .reduce(DescriptorUse::nearer);
        Some(Self {
            seconds: since(last.at, first.at),
            cpu_s: seconds(last.cpu.saturating_sub(first.cpu)),
            user_s: seconds(last.user.saturating_sub(first.user)),
            system_s: seconds(last.system.saturating_sub(first.system)),
            rss_peak: samples.iter().map(|s| s.resources.rss).max().unwrap_or(0),
            footprint_peak: samples.iter().filter_map(|s| s.resources.footprint).max(),
            fds_peak: fullest.map(|used| used.open),
            fd_limit: fullest.map(|used| used.limit),
            major_faults: last.major_faults.saturating_sub(first.major_faults),
            cgroup_cpu_s: both.map(|(first, last)| seconds(last.saturating_sub(first))),
            throttled_s: now
                .throttled
                .map(|now| seconds(now.saturating_sub(then.throttled.unwrap_or_default()))),
            periods: grown(then.periods, now.periods),
            throttled_periods: grown(then.throttled_periods, now.throttled_periods),
            limit_hits: grown(then.limit_hits, now.limit_hits),
            oom_kills: grown(then.oom_kills, now.oom_kills),
        })
    }
}

/// What watching itself took.
#[derive(Debug, Clone, Copy, PartialEq, Default, JsonSchema, Serialize, Deserialize)]
pub struct Cost {
    /// Samples taken.
    pub samples: u64,
    /// How many of them walked the page tables.
    pub deep_samples: u64,
    /// CPU seconds of the watching thread.
    pub cpu_s: f64,
    /// Longest walk over the page tables, in seconds.
    pub deepest_s: f64,
}

/// The `watch` object.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Watched")]
pub struct Watch {
    /// Seconds between samples.
    pub interval_s: f64,
    /// All samples.
    pub series: Vec<Point>,
    /// The measured window; `null` when there was none.
    pub window: Option<Window>,
    /// Before the first request.
    pub at_start: Option<Snapshot>,
    /// When the load ended.
    pub at_load_end: Option<Snapshot>,
    /// When watching ended.
    pub at_idle_end: Option<Snapshot>,
    /// How the root ended, if it did.
    pub exited: Option<ExitAt>,
    /// Whether its threads kept to the CPUs that it was given; `null` where these were not said.
    pub placement: Option<Placement>,
    /// Cgroups of its processes, or above them, whose quota cut periods short.
    pub throttled: Vec<ThrottledGroup>,
    /// The machine's wall clock meanwhile; `null` where it could not be read.
    pub wall_clock: Option<WallClock>,
    /// What watching took.
    pub cost: Cost,
}

/// All that a watcher brings home.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Report {
    /// The process tree.
    pub watch: Watch,
    /// The machine, over the measured window.
    pub machine: Option<Machine>,
}
