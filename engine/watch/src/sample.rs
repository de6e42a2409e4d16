//! One reading of a process tree.

use serde::{Deserialize, Serialize};

/// What the load was doing when a sample was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before the measured window.
    #[default]
    Warmup,
    /// The measured window.
    Load,
    /// After it, without load.
    Idle,
}

/// How much is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// `stat`, CPU clock, descriptor count and cgroup files: some 10 microseconds a process.
    Shallow,
    /// And `smaps_rollup` and `status`, which walk the page tables of the process: up to milliseconds for large ones,
    /// with the process's memory map locked for reading.
    Deep,
}

/// What a process tree holds at one moment, summed over its processes. Bytes and counts; `None` is "not read".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Resources {
    /// Resident set size (the kernel's counters; pages shared within the tree count in each process).
    pub rss: u64,
    /// Proportional set size.
    pub pss: Option<u64>,
    /// Anonymous resident memory.
    pub anon: Option<u64>,
    /// Swapped-out anonymous memory.
    pub swap: Option<u64>,
    /// Peak virtual size (sum of each process's own peak).
    pub vm_peak: Option<u64>,
    /// Peak resident set size (sum of each process's own peak).
    pub vm_hwm: Option<u64>,
    /// Threads.
    pub threads: u32,
    /// Open descriptors.
    pub fds: Option<u32>,
    /// Live processes (zombies are not).
    pub processes: u32,
}

impl Resources {
    /// What several trees hold together. What one of them lacks, the sum lacks; a tree that has ended holds nothing.
    #[must_use]
    pub fn sum(trees: &[Self]) -> Self {
        let living = || trees.iter().filter(|tree| tree.processes > 0);
        let all = |part: fn(&Self) -> Option<u64>| living().map(part).sum::<Option<u64>>();
        Self {
            rss: trees.iter().map(|tree| tree.rss).sum(),
            pss: all(|tree| tree.pss),
            anon: all(|tree| tree.anon),
            swap: all(|tree| tree.swap),
            vm_peak: all(|tree| tree.vm_peak),
            vm_hwm: all(|tree| tree.vm_hwm),
            threads: trees.iter().map(|tree| tree.threads).sum(),
            fds: living().map(|tree| tree.fds).sum(),
            processes: trees.iter().map(|tree| tree.processes).sum(),
        }
    }
}

/// Sums over the processes of the tree at one moment. Bytes and nanoseconds; `None` is "not read".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// When, on `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// What the load was doing.
    pub phase: Phase,
    /// CPU time of the tree since its root began: live processes, those reaped and those that vanished. Never falls.
    pub cpu_ns: u64,
    /// The user part, in the kernel's ticks of 10 ms.
    pub user_ns: u64,
    /// The system part, in the kernel's ticks of 10 ms.
    pub system_ns: u64,
    /// What the tree holds.
    pub resources: Resources,
    /// Page faults that needed I/O, reaped children's included.
    pub major_faults: u64,
    /// CPU time of that process which had used most among those that have gone.
    pub ended_ns: u64,
    /// What the cgroup files say.
    pub cgroup: crate::cgroup::CgroupReading,
}
