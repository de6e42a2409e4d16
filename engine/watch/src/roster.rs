//! The tree's CPU time between samples, from the processes' own clocks.

use crate::clock;

/// Who belongs to the tree, as the last sample saw it.
#[derive(Debug, Clone, Default)]
pub struct Roster {
    /// The living members: pid, and own CPU time at the sample.
    pub members: Vec<(i32, u64)>,
    /// What the members had inherited from their children, and those who have gone took with them.
    pub rest_ns: u64,
}

impl Roster {
    /// CPU time of the tree now, in nanoseconds. A member that has gone since counts as it was.
    pub fn cpu_ns(&self) -> u64 {
        let own = self
            .members
            .iter()
            .map(|(pid, then)| clock::process_cpu_ns(*pid).unwrap_or(0).max(*then));
        self.rest_ns + own.sum::<u64>()
    }
}
