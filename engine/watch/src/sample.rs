//! One reading of a process tree.

use crate::groups::Restraint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use touchstone_sys::clock::Nanos;

/// What the load was doing when a sample was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before the measured window.
    #[default]
    Warmup,
    /// The measured window.
    Load,
    /// Between the turns of a load that comes in slices: another contender is loaded.
    Off,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema, Serialize, Deserialize)]
pub struct Resources {
    /// Resident set size; pages shared within the tree count in each process. A deep sample walks the page tables for it;
    /// otherwise it is the kernel's counters, which lag behind by up to some hundred pages.
    pub rss: u64,
    /// What the tree holds with shared pages counted once: the RSS of a single process, the sum of PSS of several. It
    /// includes at least the file pages that one process maps, though processes outside the tree may map them too.
    pub footprint: Option<u64>,
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
    /// Threads; a process that has ended and that its parent has not waited for, a zombie, counts as one.
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
            // Several trees are several processes, which may share pages as those of one tree do.
            footprint: match living().count() {
                0 => None,
                1 => living().find_map(|tree| tree.footprint),
                _ => all(|tree| tree.pss),
            },
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

/// Open descriptors of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorUse {
    /// How many it has open.
    pub open: u32,
    /// How many it may have open (`RLIMIT_NOFILE`, soft).
    pub limit: u64,
}

impl DescriptorUse {
    /// That of two which is nearer to its limit.
    #[must_use]
    pub fn nearer(self, other: Self) -> Self {
        let share = |used: Self| u128::from(used.open) * u128::from(u64::MAX / used.limit.max(1));
        if share(other) > share(self) {
            other
        } else {
            self
        }
    }
}

/// Sums over the processes of the tree at one moment. Bytes and times; `None` is "not read".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// When, on `CLOCK_MONOTONIC`.
    pub at: Nanos,
    /// What the load was doing.
    pub phase: Phase,
    /// CPU time of the tree since its root began: live processes, those reaped and those that vanished. Never falls.
    pub cpu: Nanos,
    /// The user part, in the kernel's ticks of 10 ms.
    pub user: Nanos,
    /// The system part, in the kernel's ticks of 10 ms.
    pub system: Nanos,
    /// What the tree holds.
    pub resources: Resources,
    /// Page faults that needed I/O, reaped children's included.
    pub major_faults: u64,
    /// CPU time of that process which had used most among those that have gone.
    pub ended: Nanos,
    /// That process of the tree which was nearest to its limit of open files.
    pub fullest: Option<DescriptorUse>,
    /// What the cgroup files say.
    pub cgroup: crate::cgroup::CgroupReading,
    /// What the quotas and limits of the groups did in which the processes really are; as of the last deep sample.
    pub restraint: Restraint,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_nearest_to_its_limit_counts_and_not_the_one_with_most_files() {
        let (wide, narrow) = (
            DescriptorUse {
                open: 5_000,
                limit: 1_000_000,
            },
            DescriptorUse {
                open: 1_000,
                limit: 1_024,
            },
        );
        assert_eq!(wide.nearer(narrow), narrow);
        assert_eq!(narrow.nearer(wide), narrow);
    }

    #[test]
    fn several_trees_together_count_shared_pages_once() {
        let tree = |rss, pss| Resources {
            rss,
            pss: Some(pss),
            footprint: Some(rss),
            processes: 1,
            ..Resources::default()
        };
        assert_eq!(Resources::sum(&[tree(30, 20)]).footprint, Some(30));
        assert_eq!(
            Resources::sum(&[tree(30, 20), Resources::default()]).footprint,
            Some(30)
        );
        assert_eq!(
            Resources::sum(&[tree(30, 20), tree(30, 20)]).footprint,
            Some(40)
        );
        assert_eq!(Resources::sum(&[]).footprint, None);
    }
}
