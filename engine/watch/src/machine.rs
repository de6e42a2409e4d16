//! The machine as a whole: stolen time, and CPU time that went to others.

use crate::dependencies::{Dependencies, DependencyTimes};
use crate::procfs;
use crate::strangers::{ProcessTimes, Stranger, Strangers};
use crate::target::Dependency;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use touchstone_sys::clock::Nanos;
use touchstone_sys::{clock, file};

/// Counters of the whole machine at one moment.
#[derive(Debug, Clone, Default)]
pub struct MachineReading {
    /// CPU time spent on anything (user, nice, system, irq, softirq), over all CPUs.
    pub busy: Nanos,
    /// Time in which the hypervisor ran something else.
    pub steal: Nanos,
    /// The engine's own CPU time.
    pub own_cpu: Nanos,
    /// That of every process.
    pub processes: ProcessTimes,
    /// Pages swapped in and out since boot.
    pub swapped_pages: Option<u64>,
    /// CPU time of the dependencies; empty if there are none.
    pub dependencies: DependencyTimes,
}

/// What happened on the machine between two readings.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Machine {
    /// Seconds stolen by the hypervisor, over all CPUs.
    pub steal_s: f64,
    /// CPU seconds of neither the engine nor the watched tree, nor a dependency that the job names: what the kernel counted
    /// in ticks of 10 ms for the whole machine, without theirs; but never less than what other processes used by their own
    /// clocks.
    pub other_cpu_s: f64,
    /// The other processes that used most, the greatest first; absent if none was seen to work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strangers: Vec<Stranger>,
    /// CPU seconds of each dependency that the job names; absent if it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies_cpu_s: Option<BTreeMap<String, f64>>,
    /// Pages swapped in and out.
    pub swapped_pages: Option<u64>,
}

impl MachineReading {
    /// Reads `/proc/stat`, `/proc/vmstat` and the dependencies. `None` where they cannot be read.
    #[must_use]
    pub fn now(dependencies: &mut Dependencies) -> Option<Self> {
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
            processes: ProcessTimes::now(),
            swapped_pages: swapped_pages(),
            dependencies: dependencies.read(),
        })
    }

    /// Who else used the CPUs until a later reading, which is just over; `watched` says who belongs to a watched tree.
    #[must_use]
    pub fn strangers(
        &self,
        later: &Self,
        dependencies: &Dependencies,
        watched: impl Fn(i32) -> bool,
    ) -> Strangers {
        self.processes.strangers(&later.processes, |pid| {
            watched(pid) || dependencies.contain(pid)
        })
    }

    /// What happened from this reading to a later one, in which the watched tree used `watched_cpu`; of the
    /// dependencies, those are told that `counts` says.
    #[must_use]
    pub fn until(
        &self,
        later: &Self,
        watched_cpu: Nanos,
        strangers: Strangers,
        dependencies: &Dependencies,
        counts: impl Fn(&Dependency) -> bool,
    ) -> Machine {
        let times = self.dependencies.iter().zip(&later.dependencies);
        let theirs: Nanos = times
            .map(|(before, after)| after.saturating_sub(*before))
            .sum();
        let engine = later.own_cpu.saturating_sub(self.own_cpu) + strangers.engine;
        let busy = later.busy.saturating_sub(self.busy);
        let other = busy.saturating_sub(engine + watched_cpu + theirs);
        Machine {
            steal_s: clock::seconds(later.steal.saturating_sub(self.steal)),
            other_cpu_s: clock::seconds(other.max(strangers.cpu)),
            strangers: strangers.most,
            dependencies_cpu_s: dependencies.between(
                &self.dependencies,
                &later.dependencies,
                counts,
            ),
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

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_sys::clock::nanos;

    #[test]
    fn a_dependency_is_no_stranger() {
        let pid = std::process::id() as i32;
        let database = Dependency {
            name: "database".to_owned(),
            pid,
        };
        let dependencies = Dependencies::open([&database, &database]).unwrap();
        let reading = |busy, own, database| MachineReading {
            busy: nanos(busy),
            own_cpu: nanos(own),
            dependencies: vec![nanos(database)],
            ..MachineReading::default()
        };
        let (before, after) = (reading(10.0, 1.0, 4.0), reading(20.0, 2.0, 7.0));
        let until = |strangers, counts: bool| {
            before.until(&after, nanos(2.0), strangers, &dependencies, |_| counts)
        };
        let machine = until(Strangers::default(), true);
        assert!((machine.other_cpu_s - 4.0).abs() < 1e-9, "{machine:?}");
        let told = machine.dependencies_cpu_s.unwrap();
        assert!((told["database"] - 3.0).abs() < 1e-9, "{told:?}");
        // Another contender's own: still no stranger, and told to nobody else.
        let machine = until(Strangers::default(), false);
        assert!((machine.other_cpu_s - 4.0).abs() < 1e-9 && machine.dependencies_cpu_s.is_none());
        // The engine's other processes are no strangers; and what strangers used by their own clocks, ticks cannot hide.
        let seen = |engine, cpu| Strangers {
            engine: nanos(engine),
            cpu: nanos(cpu),
            ..Strangers::default()
        };
        assert!((until(seen(1.5, 1.0), true).other_cpu_s - 2.5).abs() < 1e-9);
        assert!((until(seen(1.5, 3.0), true).other_cpu_s - 3.0).abs() < 1e-9);
    }
}
