//! The machine as a whole: stolen time, and CPU time that went to others.

use crate::dependencies::{Dependencies, DependencyTimes};
use crate::network::Sent;
use crate::other_processes::{OtherProcess, OtherProcesses, ProcessTimes};
use crate::procfs;
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
    /// What all sockets have sent.
    pub sent: Option<Sent>,
    /// CPU time of the dependencies; empty if there are none.
    pub dependencies: DependencyTimes,
    /// When it was read.
    pub at: Nanos,
    /// How long each CPU has done nothing, by its number; `None` for one that is off.
    pub idle: Vec<Option<Nanos>>,
}

/// Room for the lines of some six hundred CPUs, which the file begins with; those beyond are not known.
const STAT: usize = 64 << 10;

/// What happened on the machine between two readings.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Machine {
    /// Seconds stolen by the hypervisor, over all CPUs.
    pub steal_s: f64,
    /// CPU seconds of neither the engine nor the watched tree, nor a dependency that the job names: what the kernel counted
    /// in ticks of 10 ms for the whole machine, without theirs; but never less than what other processes used by their own
    /// clocks.
    pub other_cpu_s: f64,
    /// The other processes that used most CPU, at most 64, the largest first; absent if none was seen to work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_processes: Vec<OtherProcess>,
    /// CPU seconds of each dependency that the job names; absent if it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies_cpu_s: Option<BTreeMap<String, f64>>,
    /// Pages swapped in and out.
    pub swapped_pages: Option<u64>,
    /// What all sockets of the machine sent; absent where the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Sent>,
}

impl MachineReading {
    /// Reads `/proc/stat`, `/proc/vmstat` and the dependencies. `None` where they cannot be read.
    #[must_use]
    pub fn now(dependencies: &mut Dependencies) -> Option<Self> {
        let mut buffer = vec![0; STAT];
        let source = file::open(c"/proc/stat")?;
        let text = file::read(&source, &mut buffer)?;
        let at = clock::monotonic();
        let mut lines = text.split(|b| *b == b'\n');
        let [user, nice, system, _idle, _iowait, irq, softirq, steal] =
            ticks(lines.next()?.strip_prefix(b"cpu ")?)?;
        let tick = clock::tick();
        Some(Self {
            busy: tick * (user + nice + system + irq + softirq),
            steal: tick * steal,
            own_cpu: clock::own_cpu(),
            processes: ProcessTimes::now(),
            swapped_pages: swapped_pages(),
            sent: Sent::now(),
            dependencies: dependencies.read(),
            at,
            idle: idle_times(lines),
        })
    }

    /// Which share of some CPUs' time until a later reading was neither idle nor `own`: what others had there, and the host.
    /// `None` where there are none, or one of them is not known.
    ///
    /// Idle time is the only one that the kernel counts exactly; the others it takes from what runs at each of its ticks.
    #[must_use]
    pub fn taken(&self, later: &Self, cpus: &[usize], own: Nanos) -> Option<f64> {
        let idle = |reading: &Self| {
            cpus.iter()
                .map(|cpu| reading.idle.get(*cpu).copied().flatten())
                .sum::<Option<Nanos>>()
        };
        let rested = idle(later)?.saturating_sub(idle(self)?);
        let elapsed: Nanos = cpus.iter().map(|_| later.at.saturating_sub(self.at)).sum();
        let taken = clock::seconds(elapsed.saturating_sub(rested + own));
        (elapsed > Nanos::ZERO).then(|| taken / clock::seconds(elapsed))
    }

    /// Who else used the CPUs until a later reading, which is just over; `watched` says who belongs to a watched tree.
    #[must_use]
    pub fn other_processes(
        &self,
        later: &Self,
        dependencies: &Dependencies,
        watched: impl Fn(i32) -> bool,
    ) -> OtherProcesses {
        self.processes.other_processes(&later.processes, |pid| {
            watched(pid) || dependencies.contain(pid)
        })
    }

    /// What happened from this reading to a later one, in which the watched tree used `watched_cpu`; of the
    /// dependencies, those that `counts` selects are reported.
    #[must_use]
    pub fn until(
        &self,
        later: &Self,
        watched_cpu: Nanos,
        others: OtherProcesses,
        dependencies: &Dependencies,
        counts: impl Fn(&Dependency) -> bool,
    ) -> Machine {
        let times = self.dependencies.iter().zip(&later.dependencies);
        let theirs: Nanos = times
            .map(|(before, after)| after.saturating_sub(*before))
            .sum();
        let engine = later.own_cpu.saturating_sub(self.own_cpu) + others.engine;
        let busy = later.busy.saturating_sub(self.busy);
        let other = busy.saturating_sub(engine + watched_cpu + theirs);
        Machine {
            steal_s: clock::seconds(later.steal.saturating_sub(self.steal)),
            other_cpu_s: clock::seconds(other.max(others.cpu)),
            other_processes: others.listed,
            dependencies_cpu_s: dependencies.between(
                &self.dependencies,
                &later.dependencies,
                counts,
            ),
            swapped_pages: later
                .swapped_pages
                .zip(self.swapped_pages)
                .map(|(b, a)| b.saturating_sub(a)),
            sent: self.sent.zip(later.sent).map(|(a, b)| a.until(b)),
        }
    }
}

/// User, nice, system, idle, iowait, irq, softirq and steal of a line of `/proc/stat`, without its name.
fn ticks(line: &[u8]) -> Option<[u64; 8]> {
    let mut ticks = [0u64; 8];
    let words = line.split(|b| *b == b' ').filter(|w| !w.is_empty());
    for (slot, word) in ticks.iter_mut().zip(words) {
        *slot = procfs::number(word)?;
    }
    Some(ticks)
}

/// By the CPU's number, from the lines `cpuN`. A CPU that waits for a disk is idle as well.
fn idle_times<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Vec<Option<Nanos>> {
    let tick = clock::tick();
    let mut idle = Vec::new();
    for line in lines.map_while(|line| line.strip_prefix(b"cpu")) {
        let mut parts = line.splitn(2, |b| *b == b' ');
        let (Some(number), Some(rest)) = (parts.next().and_then(procfs::number), parts.next())
        else {
            continue;
        };
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        // The last line may be cut off where the room ends.
        let Some([_, _, _, rested, waited, ..]) = ticks(rest) else {
            continue;
        };
        if number < STAT {
            idle.resize(idle.len().max(number + 1), None);
            idle[number] = Some(tick * (rested + waited));
        }
    }
    idle
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
    fn what_others_had_of_some_cpus_is_neither_idle_nor_own() {
        let stat: [&[u8]; 4] = [
            b"cpu0 5 0 5 100 20 0 0 0 0 0",
            b"cpu2 1 2 3 400 0 0 0 7 0 0",
            b"intr 27685148 0 0",
            b"cpu3 1 1 1 1 1 1 1 1",
        ];
        let idle = idle_times(stat.into_iter());
        let tick = clock::tick();
        assert_eq!(idle, [Some(tick * 120), None, Some(tick * 400)]);
        let reading = |at, idle: [f64; 2]| MachineReading {
            at: nanos(at),
            idle: vec![Some(nanos(idle[0])), None, Some(nanos(idle[1]))],
            ..MachineReading::default()
        };
        let (before, after) = (reading(1.0, [0.5, 0.1]), reading(3.0, [1.0, 0.1]));
        // Two seconds of each: CPU 0 rested for half a second, CPU 2 not at all.
        for (cpus, own, share) in [
            (&[0][..], 1.2, Some(0.15)),
            (&[0, 2], 3.0, Some(0.125)),
            (&[0], 9.0, Some(0.0)),
            (&[0, 1], 0.0, None),
            (&[0, 7], 0.0, None),
            (&[], 0.0, None),
        ] {
            let taken = before.taken(&after, cpus, nanos(own));
            let right = taken.zip(share).map(|(a, b)| (a - b).abs() < 1e-9);
            assert!(right.unwrap_or(taken == share), "{cpus:?}: {taken:?}");
        }
    }

    #[test]
    fn this_machine_tells_of_each_cpu_that_it_lets_us_use() {
        let mut none = Dependencies::default();
        let cpus = touchstone_sys::cpus::CpuSet::of_thread(0)
            .unwrap()
            .numbers();
        let (before, after) = (
            MachineReading::now(&mut none).unwrap(),
            MachineReading::now(&mut none).unwrap(),
        );
        assert!(before.taken(&after, &cpus, Nanos::ZERO).is_some());
    }

    #[test]
    fn a_dependency_is_not_another_process() {
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
        let until = |others, counts: bool| {
            before.until(&after, nanos(2.0), others, &dependencies, |_| counts)
        };
        let machine = until(OtherProcesses::default(), true);
        assert!((machine.other_cpu_s - 4.0).abs() < 1e-9, "{machine:?}");
        let told = machine.dependencies_cpu_s.unwrap();
        assert!((told["database"] - 3.0).abs() < 1e-9, "{told:?}");
        // Another contender's dependency: not counted as another process, and not reported here.
        let machine = until(OtherProcesses::default(), false);
        assert!((machine.other_cpu_s - 4.0).abs() < 1e-9 && machine.dependencies_cpu_s.is_none());
        // The engine's own processes are not counted; CPU time by the processes' own clocks counts even where ticks miss it.
        let seen = |engine, cpu| OtherProcesses {
            engine: nanos(engine),
            cpu: nanos(cpu),
            ..OtherProcesses::default()
        };
        assert!((until(seen(1.5, 1.0), true).other_cpu_s - 2.5).abs() < 1e-9);
        assert!((until(seen(1.5, 3.0), true).other_cpu_s - 3.0).abs() < 1e-9);
    }
}
