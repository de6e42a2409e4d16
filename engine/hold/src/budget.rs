//! Whether the machine can hold the next level: it is refused before it hurts.

use crate::kernel::{Kernel, open_files};
use crate::result::{Memory, Reading, Refusal};

/// Bytes a connection that are assumed before any level has been read: both ends' sockets in the kernel and a server that
/// keeps large buffers.
const ASSUMED: f64 = 48.0 * 1024.0;
/// Levels below this say too little about the slope.
const TELLING: u64 = 1000;
/// Weighed on the way to a larger first level; no step on the way is smaller.
const TRIAL: u64 = 2000;
/// The part of what is available that a step on the way to a level may take, by what is known so far.
const STEP: f64 = 0.5;
/// A step that leads less far than this part of the way is not worth its time.
const LEAST_STEP: f64 = 0.05;
/// Two sockets of the kernel take no less.
const FLOOR: f64 = 4096.0;
/// The slope may be steeper further up, as hash tables and slabs grow.
const MARGIN: f64 = 1.15;

/// What is to be done about a level.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// The machine can hold it.
    Go,
    /// Open this number first, and judge again: the memory of the first connections in a new process says little about
    /// the others.
    First(u64),
    /// The machine cannot hold it.
    Refused(Refusal),
}

/// What the levels so far say about the next one.
pub struct Budget {
    reserve: u64,
    /// Connections and what they took, level by level.
    seen: Vec<(u64, u64)>,
}

impl Budget {
    /// `reserve` is the share of the machine's memory that must stay available.
    pub fn new(reserve: f64, before: &Kernel) -> Self {
        let total = before.memory_total.unwrap_or(0) as f64;
        Self {
            reserve: (total * reserve) as u64,
            seen: Vec::new(),
        }
    }

    /// More connections than this will be refused whatever the levels below show.
    pub fn ceiling(now: &Kernel, server_capacity: Option<u64>) -> u64 {
        let files = open_files().map_or(u64::MAX, |(_, most)| most / 2);
        let memory = now
            .memory_available
            .map_or(u64::MAX, |bytes| bytes / FLOOR as u64);
        files.min(memory).min(server_capacity.unwrap_or(u64::MAX))
    }

    /// Learns from a level. What server, clients and the kernel's slabs and TCP buffers take is added up: the machine's
    /// available memory would also show whatever else happens on it.
    pub fn learn(&mut self, connections: u64, reading: &Reading) {
        let kernel = reading.kernel.slab.unwrap_or(0) + reading.kernel.tcp_buffers.unwrap_or(0);
        let user = |memory: &Memory| memory.resources.pss.unwrap_or(memory.resources.rss);
        self.seen.push((
            connections,
            kernel + user(&reading.server) + user(&reading.client),
        ));
    }

    /// Whether nothing has been read.
    pub fn knows_nothing(&self) -> bool {
        self.seen.is_empty()
    }

    /// Bytes a connection, both ends and kernel: over all levels, or over the last step where that was steeper. `None`
    /// before the first level that says enough.
    fn slope(&self) -> Option<f64> {
        let (connections, bytes) = *self.seen.last()?;
        let from = |index: usize| {
            let (fewer, less) = *self.seen.get(index)?;
            let more = connections.saturating_sub(fewer);
            (more >= TELLING).then(|| bytes.saturating_sub(less) as f64 / more as f64)
        };
        let last_step = self.seen.len().checked_sub(2).and_then(from).unwrap_or(0.0);
        from(0).map(|overall| overall.max(last_step).max(FLOOR))
    }

    /// Refuses a level that would take memory from the reserve, or that limits of open files do not allow. One that
    /// seems to take too much is approached in steps, for as long as they lead anywhere.
    pub fn judge(
        &self,
        held: u64,
        level: u64,
        now: &Kernel,
        server_capacity: Option<u64>,
    ) -> Judgement {
        let more = level.saturating_sub(held);
        if let Some(refusal) = Self::too_many_files(more, level, server_capacity) {
            return Judgement::Refused(refusal);
        }
        let slope = self.slope();
        let each = slope.map_or(ASSUMED, |slope| slope * MARGIN);
        let predicted = (more as f64 * each) as u64;
        let available = now.memory_available.unwrap_or(u64::MAX);
        let free = available.saturating_sub(self.reserve);
        let fits = more == 0 || (predicted <= free && available >= self.reserve);
        if fits && (slope.is_some() || level <= TRIAL) {
            return Judgement::Go;
        }
        let affordable = (free as f64 * STEP / each) as u64;
        let step = if slope.is_some() {
            affordable
        } else {
            affordable.min(TRIAL)
        };
        let leads_on = slope.is_none() || step as f64 >= more as f64 * LEAST_STEP;
        if step >= TRIAL && step < more && leads_on {
            return Judgement::First(held + step);
        }
        Judgement::Refused(Refusal {
            reason: format!(
                "{more} more connections are predicted to take {} MB; {} MB are available, of which {} MB must stay",
                predicted >> 20,
                available >> 20,
                self.reserve >> 20
            ),
            predicted: Some(predicted),
            bytes_per_connection: slope,
            available: Some(available),
            reserve: Some(self.reserve),
        })
    }

    fn too_many_files(more: u64, level: u64, server_capacity: Option<u64>) -> Option<Refusal> {
        if let Some(capacity) = server_capacity.filter(|capacity| *capacity < level) {
            return Some(Refusal {
                reason: format!(
                    "the server's processes may open {capacity} files by their limits, fewer than {level} connections: \
                     start more processes, or raise their limit"
                ),
                ..Refusal::default()
            });
        }
        let (open, most) = open_files().filter(|(open, most)| open + 2 * more > *most)?;
        Some(Refusal {
            reason: format!(
                "{more} more connections need {} files; {open} of fs.file-max = {most} are open",
                2 * more
            ),
            ..Refusal::default()
        })
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
            bytes_per_connection: self.slope(),
            predicted: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_watch::Resources;

    fn kernel(available: u64) -> Kernel {
        Kernel {
            memory_total: Some(10 << 30),
            memory_available: Some(available),
            ..Kernel::default()
        }
    }

    fn reading(slab: u64, server: u64) -> Reading {
        let kernel = Kernel {
            slab: Some(slab),
            ..kernel(8 << 30)
        };
        Reading {
            server: Memory {
                resources: Resources {
                    rss: server,
                    ..Resources::default()
                },
                ..Memory::default()
            },
            kernel,
            ..Reading::default()
        }
    }

    fn refusal(judgement: Judgement) -> Refusal {
        match judgement {
            Judgement::Refused(refusal) => refusal,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_level_is_refused_by_the_slope_of_those_before() {
        let mut budget = Budget::new(0.15, &kernel(9 << 30));
        budget.learn(0, &reading(0, 0));
        // 10,000 connections took 1 GiB, so 60,000 more would take 6 GiB, and 1.35 GiB must stay.
        budget.learn(10_000, &reading(512 << 20, 512 << 20));
        assert_eq!(
            budget.judge(10_000, 40_000, &kernel(8 << 30), None),
            Judgement::Go
        );
        let refusal = refusal(budget.judge(10_000, 70_000, &kernel(1500 << 20), None));
        assert!(
            refusal.reason.contains("60000 more connections") && refusal.predicted > Some(6 << 30)
        );
    }

    #[test]
    fn what_new_processes_take_once_is_not_taken_for_the_price_of_each_connection() {
        let mut budget = Budget::new(0.15, &kernel(24 << 30));
        budget.learn(0, &reading(0, 0));
        // 600 MB for the first code that runs in fifty processes, and 10 kB a connection.
        let taken = |connections: u64| reading(600_000_000 + connections * 10_000, 0);
        budget.learn(2_000, &taken(2_000));
        let Judgement::First(step) = budget.judge(2_000, 100_000, &kernel(20 << 30), None) else {
            panic!("there is memory for a step on the way");
        };
        assert!((10_000..60_000).contains(&step), "{step}");
        budget.learn(step, &taken(step));
        assert_eq!(
            budget.judge(step, 100_000, &kernel(19 << 30), None),
            Judgement::Go
        );
    }

    #[test]
    fn a_steeper_last_step_counts_and_a_small_level_does_not() {
        let mut budget = Budget::new(0.15, &kernel(9 << 30));
        budget.learn(0, &reading(0, 0));
        budget.learn(10, &reading(1 << 30, 0));
        assert_eq!(budget.slope(), None);
        let mut budget = Budget::new(0.15, &kernel(9 << 30));
        for (connections, bytes) in [(0, 0), (10_000, 100_000_000), (12_000, 200_000_000)] {
            budget.learn(connections, &reading(bytes, 0));
        }
        assert_eq!(budget.slope(), Some(50_000.0));
    }

    #[test]
    fn a_level_beyond_the_servers_file_limit_is_refused() {
        let budget = Budget::new(0.15, &kernel(9 << 30));
        let refusal = refusal(budget.judge(0, 30_000, &kernel(9 << 30), Some(20_000)));
        assert!(refusal.reason.contains("20000 files"));
    }

    #[test]
    fn a_large_first_level_begins_with_a_small_step() {
        let budget = Budget::new(0.15, &kernel(9 << 30));
        assert_eq!(
            budget.judge(0, 500_000, &kernel(9 << 30), None),
            Judgement::First(TRIAL)
        );
        // By what is assumed, not even that would fit.
        assert!(matches!(
            budget.judge(0, 500_000, &kernel(1400 << 20), None),
            Judgement::Refused(_)
        ));
    }
}
