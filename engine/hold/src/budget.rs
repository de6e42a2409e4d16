//! Whether the machine can hold the next level: it is refused before it hurts.

use crate::kernel::{Kernel, open_files};
use crate::result::Refusal;

/// Bytes a connection that are assumed before any level has been read: both ends' sockets in the kernel and a server that
/// keeps large buffers.
const ASSUMED: f64 = 48.0 * 1024.0;
/// Levels below this say too little about the slope.
const TELLING: u64 = 1000;
/// The slope may be steeper further up, as hash tables and slabs grow.
const MARGIN: f64 = 1.15;

/// What the levels so far say about the next one.
pub struct Budget {
    reserve: u64,
    first_available: Option<u64>,
    slope: Option<f64>,
}

impl Budget {
    /// `reserve` is the share of the machine's memory that must stay available.
    pub fn new(reserve: f64, before: &Kernel) -> Self {
        let total = before.memory_total.unwrap_or(0) as f64;
        Self {
            reserve: (total * reserve) as u64,
            first_available: before.memory_available,
            slope: None,
        }
    }

    /// Learns from a level: how much less memory is available than before the first connection.
    pub fn learn(&mut self, connections: u64, kernel: &Kernel) {
        if let (true, Some(first), Some(now)) = (
            connections >= TELLING,
            self.first_available,
            kernel.memory_available,
        ) {
            let slope = first.saturating_sub(now) as f64 / connections as f64;
            // The steepest counts. Nothing is below the kernel's own two sockets of some 2 KiB.
            self.slope = Some(self.slope.unwrap_or(4096.0).max(slope));
        }
    }

    /// Refuses a level that would take memory from the reserve, or that limits of open files do not allow.
    pub fn judge(
        &self,
        held: u64,
        level: u64,
        now: &Kernel,
        server_capacity: Option<u64>,
    ) -> Result<(), Refusal> {
        let more = level.saturating_sub(held);
        if let Some(capacity) = server_capacity.filter(|capacity| *capacity < level) {
            return Err(Refusal {
                reason: format!(
                    "the server's processes may open {capacity} files by their limits, fewer than {level} connections: \
                     start more processes, or raise their limit"
                ),
                ..Refusal::default()
            });
        }
        if let Some((open, most)) = open_files().filter(|(open, most)| open + 2 * more > *most) {
            return Err(Refusal {
                reason: format!(
                    "{more} more connections need {} files; {open} of fs.file-max = {most} are open",
                    2 * more
                ),
                ..Refusal::default()
            });
        }
        let slope = self.slope.map_or(ASSUMED, |slope| slope * MARGIN);
        let predicted = (more as f64 * slope) as u64;
        let available = now.memory_available.unwrap_or(u64::MAX);
        if available.saturating_sub(predicted) < self.reserve && more > 0 {
            return Err(Refusal {
                reason: format!(
                    "{more} more connections are predicted to take {} MB; {} MB are available, of which {} MB must stay",
                    predicted >> 20,
                    available >> 20,
                    self.reserve >> 20
                ),
                predicted: Some(predicted),
                bytes_per_connection: self.slope,
                available: Some(available),
                reserve: Some(self.reserve),
            });
        }
        Ok(())
    }

    /// Whether so little is left that opening must stop at once.
    pub fn exhausted(&self) -> Option<Refusal> {
        let available = Kernel::now().memory_available?;
        (available < self.reserve).then(|| Refusal {
            reason: format!(
                "only {} MB were still available while connections were opened, {} MB must stay: opening was stopped",
                available >> 20,
                self.reserve >> 20
            ),
            available: Some(available),
            reserve: Some(self.reserve),
            bytes_per_connection: self.slope,
            predicted: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(available: u64) -> Kernel {
        Kernel {
            memory_total: Some(10 << 30),
            memory_available: Some(available),
            ..Kernel::default()
        }
    }

    #[test]
    fn a_level_is_refused_by_the_slope_of_those_before() {
        let mut budget = Budget::new(0.15, &kernel(9 << 30));
        assert!(budget.judge(0, 10_000, &kernel(9 << 30), None).is_ok());
        // 10,000 connections took 1 GiB, so 60,000 more would take 6 GiB of the 8 left, and 1.5 GiB must stay.
        budget.learn(10_000, &kernel(8 << 30));
        assert!(budget.judge(10_000, 40_000, &kernel(8 << 30), None).is_ok());
        let refusal = budget
            .judge(10_000, 70_000, &kernel(8 << 30), None)
            .unwrap_err();
        assert!(
            refusal.reason.contains("60000 more connections") && refusal.predicted > Some(6 << 30)
        );
    }

    #[test]
    fn a_level_beyond_the_servers_file_limit_is_refused() {
        let budget = Budget::new(0.15, &kernel(9 << 30));
        assert!(
            budget
                .judge(0, 30_000, &kernel(9 << 30), Some(20_000))
                .unwrap_err()
                .reason
                .contains("20000 files")
        );
    }

    #[test]
    fn the_first_level_is_judged_by_an_assumption() {
        let budget = Budget::new(0.15, &kernel(9 << 30));
        assert!(budget.judge(0, 500_000, &kernel(9 << 30), None).is_err());
    }
}
