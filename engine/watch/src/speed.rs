//! How fast CPUs are from moment to moment: a fixed piece of work, done again and again on each of them.
//!
//! A core is not always as fast. Its other hyperthread works for somebody else, who may sit in another virtual machine
//! where no counter of ours shows it, and the same request then costs half as much again. A loop of arithmetic on a
//! table that fits into the first cache takes a few microseconds, depends on nothing that a service does, and slows
//! down with it. It is done every two milliseconds, which is 0.2 % of a CPU.

use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use touchstone_sys::clock::{Nanos, monotonic};
use touchstone_sys::cpus;

/// Between two turns of the work.
const EVERY: Duration = Duration::from_millis(2);
/// Eight bytes each: 16 KiB, which every first cache holds.
const TABLE: usize = 2048;
const PASSES: usize = 16;
/// What ran on the core before has its caches and predictors: this number of passes is made before the clock starts.
const SETTLING: usize = 4;
/// A pass that takes this many times the quickest was interrupted, and says nothing about the core.
const INTERRUPTED: u64 = 4;
/// The highest number of CPUs that are watched, spread evenly over a wider set.
const MOST: usize = 8;

/// The work done on some CPUs, each by a thread of its own, until it is dropped.
#[derive(Debug, Default)]
pub struct SpeedWatch {
    cores: Vec<Core>,
}

#[derive(Debug)]
struct Core {
    cpu: usize,
    done: Arc<Done>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Done {
    /// How often, and how long in all.
    turns: Mutex<(u64, Nanos)>,
    stop: AtomicBool,
}

impl Done {
    fn with<T>(&self, change: impl FnOnce(&mut (u64, Nanos)) -> T) -> T {
        change(&mut self.turns.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How often the work was done on each CPU so far, and how long it took in all.
#[derive(Debug, Clone, Default)]
pub struct SpeedReading(Vec<(usize, u64, Nanos)>);

/// The CPUs of a set that stand for all of it.
#[must_use]
pub fn some_of(cpus: &[usize]) -> Vec<usize> {
    let step = cpus.len().div_ceil(MOST).max(1);
    cpus.iter().copied().step_by(step).collect()
}

impl SpeedWatch {
    /// Begins on these CPUs. One that cannot be had gives no readings.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(cpus: impl IntoIterator<Item = usize>) -> io::Result<Self> {
        let mut watch = Self::default();
        for cpu in cpus {
            if watch.cores.iter().all(|core| core.cpu != cpu) {
                watch.cores.push(Core::start(cpu)?);
            }
        }
        Ok(watch)
    }

    /// What was done so far.
    #[must_use]
    pub fn read(&self) -> SpeedReading {
        let read = |core: &Core| {
            let (turns, took) = core.done.with(|done| *done);
            (core.cpu, turns, took)
        };
        SpeedReading(self.cores.iter().map(read).collect())
    }
}

impl SpeedReading {
    /// How long the work took on average until a later reading, over these CPUs; `None` if none of them did it.
    #[must_use]
    pub fn until(&self, later: &Self, cpus: &[usize]) -> Option<Nanos> {
        let means: Vec<u64> = self
            .0
            .iter()
            .zip(&later.0)
            .filter(|((cpu, ..), _)| cpus.contains(cpu))
            .filter_map(|((_, turns, took), (_, turns_later, took_later))| {
                (took_later.0 - took.0).checked_div(turns_later - turns)
            })
            .collect();
        let sum: u64 = means.iter().sum();
        sum.checked_div(means.len() as u64).map(Nanos)
    }
}

impl Core {
    fn start(cpu: usize) -> io::Result<Self> {
        let done = Arc::new(Done::default());
        let theirs = Arc::clone(&done);
        let thread = std::thread::Builder::new()
            .name(format!("speed-{cpu}"))
            .spawn(move || {
                if cpus::bind(&[cpu]).is_ok() {
                    work(&theirs);
                }
            })?;
        Ok(Self {
            cpu,
            done,
            thread: Some(thread),
        })
    }
}

impl Drop for SpeedWatch {
    fn drop(&mut self) {
        for core in &self.cores {
            core.done.stop.store(true, Ordering::Relaxed);
        }
        for thread in self.cores.iter_mut().filter_map(|core| core.thread.take()) {
            // It does nothing that could panic.
            let _ = thread.join();
        }
    }
}

fn work(done: &Done) {
    let mut table = vec![0u64; TABLE];
    for (index, word) in table.iter_mut().enumerate() {
        *word = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    let mut quickest = u64::MAX;
    while !done.stop.load(Ordering::Relaxed) {
        std::thread::sleep(EVERY);
        sum(&table, SETTLING);
        let begun = monotonic();
        sum(&table, PASSES);
        let took = (monotonic() - begun).0;
        quickest = quickest.min(took);
        if took < quickest.saturating_mul(INTERRUPTED) {
            done.with(|(turns, sum)| {
                *turns += 1;
                *sum += Nanos(took);
            });
        }
    }
}

/// Each step waits for the one before, so that it is always the same work.
fn sum(table: &[u64], passes: usize) {
    let mut sum = 0u64;
    for _ in 0..passes {
        for line in black_box(table).chunks_exact(8) {
            sum = sum.wrapping_add(line[0] ^ line[1]) ^ line[2];
        }
    }
    black_box(sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_done_on_each_cpu_and_its_time_is_told() {
        let own = cpus::CpuSet::of_thread(0).unwrap().numbers();
        let watch = SpeedWatch::start(own.iter().copied().chain([own[0], 1_000_000])).unwrap();
        let before = watch.read();
        let mut after = watch.read();
        for _ in 0..1000 {
            if own
                .iter()
                .all(|cpu| before.until(&after, &[*cpu]).is_some())
            {
                break;
            }
            std::thread::sleep(EVERY);
            after = watch.read();
        }
        for cpu in &own {
            // 4,096 additions and as many XORs, one after the other: no core does that within 0.2 microseconds.
            assert!(before.until(&after, &[*cpu]).unwrap() > Nanos(200));
        }
        assert!(before.until(&after, &[1_000_000]).is_none());
        assert!(before.until(&after, &[]).is_none());
    }

    #[test]
    fn several_cpus_count_alike() {
        let reading = |turns, took| SpeedReading(vec![(0, turns, Nanos(took)), (1, 1, Nanos(9))]);
        let (before, after) = (reading(10, 100), reading(20, 400));
        assert_eq!(before.until(&after, &[0, 1]), Some(Nanos(30)));
        let mut both = after.clone();
        both.0[1] = (1, 2, Nanos(29));
        assert_eq!(before.until(&both, &[0, 1]), Some(Nanos(25)));
    }

    #[test]
    fn of_many_cpus_some_are_watched() {
        assert_eq!(some_of(&[0, 1, 2]), [0, 1, 2]);
        let many: Vec<usize> = (0..100).collect();
        assert_eq!(some_of(&many), [0, 13, 26, 39, 52, 65, 78, 91]);
        assert!(some_of(&[]).is_empty());
    }
}
