//! The `watch` and `machine` objects of the protocol, made from samples.

use crate::clock::seconds;
use crate::machine::Machine;
use crate::sample::{Phase, Resources, Sample};
use serde::{Deserialize, Serialize};

/// How the root process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Exit {
    /// Its pid.
    pub pid: i32,
    /// Exit code, where it ended by itself and the status could be read.
    pub code: Option<i32>,
    /// Signal, where one ended it and the status could be read.
    pub signal: Option<i32>,
    /// When this was noticed, on `CLOCK_MONOTONIC`, in nanoseconds; the report has it as `t`.
    #[serde(skip)]
    pub at_ns: u64,
}

impl Exit {
    /// From a wait status (wait(2)).
    #[must_use]
    pub fn from_status(pid: i32, status: i32, at_ns: u64) -> Self {
        Self {
            pid,
            code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
            at_ns,
        }
    }

    /// A root that is seen to be gone: the status comes from waitid(2) without reaping when it is a child of ours, else
    /// from the zombie's `stat`, else it stays unknown.
    #[must_use]
    pub fn observe(pid: i32, zombie_status: Option<i32>, at_ns: u64) -> Self {
        // SAFETY: an all-zero siginfo is a valid value to be overwritten.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: `info` outlives the call.
        let done = unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, &raw mut info, flags) };
        // SAFETY: waitid filled the fields that a SIGCHLD carries.
        let (child, status) = unsafe { (info.si_pid(), info.si_status()) };
        if done == 0 && child == pid {
            let ended = info.si_code == libc::CLD_EXITED;
            return Self {
                pid,
                code: ended.then_some(status),
                signal: (!ended).then_some(status),
                at_ns,
            };
        }
        match zombie_status {
            Some(status) => Self::from_status(pid, status, at_ns),
            None => Self {
                pid,
                code: None,
                signal: None,
                at_ns,
            },
        }
    }
}

/// An exit with its time in the series' clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExitAt {
    /// Seconds since the origin.
    pub t: f64,
    /// How.
    #[serde(flatten)]
    pub exit: Exit,
}

/// One element of the series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Seconds since the origin.
    pub t: f64,
    /// What the load was doing.
    pub phase: Phase,
    /// CPU seconds of the tree since the series began.
    pub cpu_s: f64,
    /// Resident bytes.
    pub rss: u64,
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
    pub fn new(sample: &Sample, origin_ns: u64, cpu_base_ns: u64) -> Self {
        Self {
            t: since(sample.at_ns, origin_ns),
            phase: sample.phase,
            cpu_s: seconds(sample.cpu_ns.saturating_sub(cpu_base_ns)),
            rss: sample.resources.rss,
            pss: sample.resources.pss,
            anon: sample.resources.anon,
            cgroup_memory: sample.cgroup.memory,
            threads: sample.resources.threads,
            fds: sample.resources.fds,
            processes: sample.resources.processes,
            ended_cpu_s: seconds(sample.ended_ns),
        }
    }
}

/// All that is known of the tree at one moment. Bytes and counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // The cgroup's fields are those of `CgroupReading`, documented there.
pub struct Snapshot {
    /// Seconds since the origin.
    pub t: f64,
    /// What the tree holds.
    #[serde(flatten)]
    pub resources: Resources,
    pub cgroup_memory: Option<u64>,
    pub cgroup_memory_peak: Option<u64>,
    pub cgroup_memory_limit: Option<u64>,
    pub cgroup_limit_hits: Option<u64>,
    pub oom_kills: Option<u64>,
}

impl Snapshot {
    /// A sample against an origin.
    #[must_use]
    pub fn new(sample: &Sample, origin_ns: u64) -> Self {
        Self {
            t: since(sample.at_ns, origin_ns),
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
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
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
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// CPU seconds of the cgroup.
    pub cgroup_cpu_s: Option<f64>,
    /// Seconds kept off the CPU by a quota.
    pub throttled_s: Option<f64>,
    /// How often the cgroup's memory limit was hit.
    pub limit_hits: Option<u64>,
}

impl Window {
    /// Over samples in time order; the first and the last bound the window.
    #[must_use]
    pub fn over(samples: &[Sample]) -> Option<Self> {
        let (first, last) = (samples.first()?, samples.last()?);
        let both = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| b.saturating_sub(a));
        Some(Self {
            seconds: since(last.at_ns, first.at_ns),
            cpu_s: seconds(last.cpu_ns.saturating_sub(first.cpu_ns)),
            user_s: seconds(last.user_ns.saturating_sub(first.user_ns)),
            system_s: seconds(last.system_ns.saturating_sub(first.system_ns)),
            rss_peak: samples.iter().map(|s| s.resources.rss).max().unwrap_or(0),
            major_faults: last.major_faults.saturating_sub(first.major_faults),
            cgroup_cpu_s: both(first.cgroup.cpu_ns, last.cgroup.cpu_ns).map(seconds),
            throttled_s: both(first.cgroup.throttled_ns, last.cgroup.throttled_ns).map(seconds),
            limit_hits: both(first.cgroup.limit_hits, last.cgroup.limit_hits),
        })
    }
}

/// What watching itself took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// What watching took.
    pub cost: Cost,
}

/// All that a watcher brings home.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The process tree.
    pub watch: Watch,
    /// The machine, over the measured window.
    pub machine: Option<Machine>,
}

/// Seconds from one stamp to another, negative when it lies before.
#[must_use]
pub fn since(at_ns: u64, origin_ns: u64) -> f64 {
    if at_ns >= origin_ns {
        seconds(at_ns - origin_ns)
    } else {
        -seconds(origin_ns - at_ns)
    }
}
