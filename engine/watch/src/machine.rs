//! The machine as a whole: stolen time, and CPU time that went to others.

use crate::procfs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use touchstone_sys::clock::Nanos;
use touchstone_sys::{clock, file};

/// Counters of the whole machine at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct MachineReading {
    /// CPU time spent on anything (user, nice, system, irq, softirq), over all CPUs.
    pub busy: Nanos,
    /// Time in which the hypervisor ran something else.
    pub steal: Nanos,
    /// The engine's own CPU time.
    pub own_cpu: Nanos,
    /// Pages swapped in and out since boot.
    pub swapped_pages: Option<u64>,
}

/// What happened on the machine between two readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Machine {
    /// Seconds stolen by the hypervisor, over all CPUs.
    pub steal_s: f64,
    /// CPU seconds of processes that are neither the engine nor the watched tree (kernel's ticks of 10 ms).
    pub other_cpu_s: f64,
    /// Pages swapped in and out.
    pub swapped_pages: Option<u64>,
}

impl MachineReading {
    /// Reads `/proc/stat` and `/proc/vmstat`. `None` where they cannot be read.
    #[must_use]
    pub fn now() -> Option<Self> {
        let mut buffer = [0; 512];
        let source = file::open(c"/proc/stat")?;
        let text = file::read(&source, &mut buffer)?;
        let line = text.split(|b| *b == b'\n').next()?.strip_prefix(b"cpu ")?;
        let mut ticks = [0u64; 8];
        let words = line.split(|b| *b == b' ').filter(|w| !w.is_empty());
        for (slot, word) in ticks.iter_mut().zip(words) {
            *slot = procfs::number(word)?;
        }
        let [user, nice, system, _idle, _iowait, irq, softirq, steal] = ticks;
        let tick = clock::tick();
        Some(Self {
            busy: tick * (user + nice + system + irq + softirq),
            steal: tick * steal,
            own_cpu: clock::own_cpu(),
            swapped_pages: swapped_pages(),
        })
    }

    /// What happened from this reading to a later one, in which the watched tree used `watched_cpu`.
    #[must_use]
    pub fn until(&self, later: &Self, watched_cpu: Nanos) -> Machine {
        let ours = later.own_cpu.saturating_sub(self.own_cpu) + watched_cpu;
        Machine {
            steal_s: clock::seconds(later.steal.saturating_sub(self.steal)),
            other_cpu_s: clock::seconds(later.busy.saturating_sub(self.busy).saturating_sub(ours)),
            swapped_pages: later
                .swapped_pages
                .zip(self.swapped_pages)
                .map(|(b, a)| b.saturating_sub(a)),
        }
    }
}

fn swapped_pages() -> Option<u64> {
    let mut buffer = [0; procfs::BUFFER];
    let source = file::open(c"/proc/vmstat")?;
    let text = file::read(&source, &mut buffer)?;
    Some(procfs::field(text, b"pswpin")? + procfs::field(text, b"pswpout")?)
}
