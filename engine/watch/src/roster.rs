//! The tree's CPU time between samples, from the processes' own clocks.

use crate::clock;
use touchstone_sys::clock::Nanos;

/// Who belongs to the tree, as the last sample saw it.
#[derive(Debug, Clone, Default)]
pub struct Roster {
    /// The living members: pid, and own CPU time at the sample.
    pub members: Vec<(i32, Nanos)>,
    /// What the members had inherited from their children, and those who have gone took with them.
    pub rest: Nanos,
}

impl Roster {
    /// CPU time of the tree now. A member that has gone since counts as it was.
    pub fn cpu(&self) -> Nanos {
        let own = self
            .members
            .iter()
            .map(|(pid, then)| clock::process_cpu(*pid).unwrap_or_default().max(*then));
        self.rest + own.sum::<Nanos>()
    }
}
