//! A sampler on a thread of its own.

use crate::dependencies::Dependencies;
use crate::exit::Exit;
use crate::machine::MachineReading;
use crate::other_processes::OtherProcesses;
use crate::report::{Cost, ExitAt, Point, Report, Snapshot, Watch, Window};
use crate::roster::Roster;
use crate::sample::{Depth, Phase, Sample};
use crate::sampler::Sampler;
use crate::target::{Target, WatchError};
use crate::wall_clock::WallClockLog;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use touchstone_sys::clock::{Nanos, monotonic, seconds, since, thread_cpu, wall_offset_ns};
use touchstone_sys::cpus;

/// Walking page tables may take at most this share of the time, as 1/N: it holds the process's memory map.
const DEEP_SHARE: u64 = 200;

/// How to watch.
#[derive(Debug, Clone)]
pub struct WatcherSettings {
    /// Between samples.
    pub interval: Duration,
    /// Between samples that walk the page tables; stretched where a walk takes more than 1/200 of it.
    pub deep_interval: Duration,
    /// CPUs for the watching thread; empty leaves it where the caller is.
    pub cpus: Vec<usize>,
}

impl Default for WatcherSettings {
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(100),
            deep_interval: Duration::from_secs(1),
            cpus: Vec::new(),
        }
    }
}

/// What the owner asks of the thread.
struct Orders {
    phase: Phase,
    /// Raised with each order; the thread answers with `done`.
    asked: u64,
    done: u64,
    stop: bool,
}

struct Shared {
    orders: Mutex<Orders>,
    wake: Condvar,
    exited: AtomicBool,
    roster: Mutex<Roster>,
    highest_cpu: AtomicU64,
}

impl Shared {
    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn roster(&self) -> MutexGuard<'_, Roster> {
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running watch. Dropping it stops the thread.
pub struct Watcher {
    shared: Arc<Shared>,
    interval: Duration,
    thread: Option<JoinHandle<Log>>,
}

impl Watcher {
    /// Starts watching in [`Phase::Warmup`]. The first sample, a deep one, is taken before this returns.
    ///
    /// # Errors
    /// When the process does not exist, `/proc` cannot be read, or no thread can be started.
    pub fn start(target: &Target, settings: WatcherSettings) -> Result<Self, WatchError> {
        let mut sampler = Sampler::new(target)?;
        let dependencies = Dependencies::open(&target.dependencies)?;
        let first = sampler.sample(Depth::Deep, Phase::Warmup);
        let shared = Arc::new(Shared {
            orders: Mutex::new(Orders {
                phase: Phase::Warmup,
                asked: 0,
                done: 0,
                stop: false,
            }),
            wake: Condvar::new(),
            exited: AtomicBool::new(false),
            roster: Mutex::new(sampler.roster()),
            highest_cpu: AtomicU64::new(0),
        });
        let interval = settings.interval.max(Duration::from_millis(1));
        let log = Log::new(first, dependencies);
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("watch".into())
            .stack_size(256 * 1024)
            .spawn(move || run(sampler, &settings, interval, &theirs, log))?;
        Ok(Self {
            shared,
            interval,
            thread: Some(thread),
        })
    }

    /// Begins a phase: a deep sample is taken at once by the watching thread; the caller does not wait for it.
    pub fn set_phase(&self, phase: Phase) {
        self.order(|orders| orders.phase = phase);
    }

    /// Says what the load is doing, for the samples from here on. Unlike [`Self::set_phase`], this takes none by itself,
    /// and wakes nobody.
    pub fn mark(&self, phase: Phase) {
        self.shared.orders().phase = phase;
    }

    /// CPU time of the tree so far, to the precision of the processes' CPU clocks. Never falls.
    ///
    /// Processes are known from the last sample: what one of them used that began and ended since then comes later.
    #[must_use]
    pub fn cpu(&self) -> Nanos {
        let now = self.shared.roster().cpu();
        let before = self.shared.highest_cpu.fetch_max(now.0, Ordering::Relaxed);
        now.max(Nanos(before))
    }

    /// Whether a process belongs to the tree, as the last sample saw it.
    #[must_use]
    pub fn contains(&self, pid: i32) -> bool {
        let roster = self.shared.roster();
        roster.members.iter().any(|(member, _)| *member == pid)
    }

    /// The processes of the tree, as the last sample saw them.
    #[must_use]
    pub fn pids(&self) -> Vec<i32> {
        let roster = self.shared.roster();
        roster.members.iter().map(|(member, _)| *member).collect()
    }

    /// Whether the root has been seen to have ended.
    #[must_use]
    pub fn exited(&self) -> bool {
        self.shared.exited.load(Ordering::Relaxed)
    }

    /// Takes a last deep sample, stops, and reports; times count from `origin`.
    #[must_use]
    pub fn finish(mut self, origin: Nanos) -> Report {
        self.order(|orders| orders.stop = true);
        let log = self
            .thread
            .take()
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default();
        log.report(self.interval, origin)
    }

    fn order(&self, change: impl FnOnce(&mut Orders)) {
        let mut orders = self.shared.orders();
        change(&mut orders);
        orders.asked += 1;
        self.shared.wake.notify_one();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.order(|orders| orders.stop = true);
            let _ = thread.join();
        }
    }
}

/// What the thread gathers.
#[derive(Default)]
struct Log {
    samples: Vec<Sample>,
    /// The machine's counters when the measured window began and ended.
    machine: [Option<MachineReading>; 2],
    /// Who else worked in between.
    others: OtherProcesses,
    dependencies: Dependencies,
    exit: Option<Exit>,
    wall_clock: WallClockLog,
    /// The sampler when it has taken its last sample: it holds the evidence of threads and cgroups.
    sampler: Option<Sampler>,
    cost: Cost,
}

impl Log {
    fn new(first: Sample, dependencies: Dependencies) -> Self {
        let mut samples = Vec::with_capacity(4096);
        samples.push(first);
        Self {
            samples,
            dependencies,
            ..Self::default()
        }
    }

    /// Reads the machine at the window's end, while the processes that worked in it can still be asked for their names.
    fn end_window(&mut self, sampler: &Sampler) {
        self.machine[1] = MachineReading::now(&mut self.dependencies);
        if let [Some(before), Some(after)] = &self.machine {
            self.others = before.other_processes(after, &self.dependencies, |pid| {
                sampler.known_pids().any(|member| member == pid)
            });
        }
    }

    fn report(self, interval: Duration, origin: Nanos) -> Report {
        let base = self.samples.first().map_or(Nanos::ZERO, |s| s.cpu);
        let first_of = |phase| self.samples.iter().position(|s| s.phase == phase);
        let idle = first_of(Phase::Idle);
        let end = idle.map_or(self.samples.len(), |i| i + 1);
        let window =
            first_of(Phase::Load).and_then(|begin| Window::over(&self.samples[begin..end]));
        let snapshot = |sample: &Sample| Snapshot::new(sample, origin);
        let cpu = window.map_or(Nanos::ZERO, |_| {
            let begin = first_of(Phase::Load).map_or(Nanos::ZERO, |i| self.samples[i].cpu);
            self.samples[end - 1].cpu.saturating_sub(begin)
        });
        let [before, after] = self.machine;
        Report {
            watch: Watch {
                interval_s: interval.as_secs_f64(),
                series: self
                    .samples
                    .iter()
                    .map(|s| Point::new(s, origin, base))
                    .collect(),
                window,
                at_start: self.samples.first().map(snapshot),
                at_load_end: idle.map(|i| snapshot(&self.samples[i])),
                at_idle_end: self.samples.last().map(snapshot),
                exited: self.exit.map(|exit| ExitAt {
                    t: since(exit.at, origin),
                    exit,
                }),
                placement: self.sampler.as_ref().and_then(|s| s.placement(origin)),
                throttled: self
                    .sampler
                    .as_ref()
                    .map_or_else(Vec::new, Sampler::throttled),
                wall_clock: self.wall_clock.report(origin),
                cost: self.cost,
            },
            machine: before.zip(after).map(|(before, after)| {
                before.until(&after, cpu, self.others, &self.dependencies, |_| true)
            }),
        }
    }
}

fn run(
    mut sampler: Sampler,
    settings: &WatcherSettings,
    interval: Duration,
    shared: &Shared,
    mut log: Log,
) -> Log {
    if !settings.cpus.is_empty() {
        // Where the machine has none of them, sampling goes on where the scheduler puts it.
        let _ = cpus::bind(&settings.cpus);
    }
    let interval = Nanos::from(interval);
    let deep = Nanos::from(settings.deep_interval);
    let mut next = log.samples.last().map_or_else(monotonic, |s| s.at) + interval;
    let mut next_deep = next - interval + deep;
    loop {
        let (phase, ordered, stop) = wait(shared, next);
        let now = monotonic();
        let depth = if ordered || now >= next_deep {
            Depth::Deep
        } else {
            Depth::Shallow
        };
        let before = log.samples.last().map(|s| s.phase);
        let sample = sampler.sample(depth, phase);
        *shared.roster() = sampler.roster();
        if before != Some(phase) && phase == Phase::Load {
            log.machine[0] = MachineReading::now(&mut log.dependencies);
        }
        if before == Some(Phase::Load) && (stop || phase != Phase::Load) {
            log.end_window(&sampler);
        }
        if depth == Depth::Deep {
            let took = monotonic() - sample.at;
            next_deep = now + deep.max(took * DEEP_SHARE);
            log.cost.deep_samples += 1;
            log.cost.deepest_s = log.cost.deepest_s.max(seconds(took));
        }
        if let Some(offset_ns) = wall_offset_ns() {
            log.wall_clock.observe(offset_ns, sample.at);
        }
        log.samples.push(sample);
        log.exit = sampler.exited();
        shared.exited.store(log.exit.is_some(), Ordering::Relaxed);
        if stop {
            log.cost.samples = log.samples.len() as u64;
            log.cost.cpu_s = seconds(thread_cpu());
            log.sampler = Some(sampler);
            return log;
        }
        // Missed slots are left out, not made up for.
        while next <= monotonic() {
            next += interval;
        }
    }
}

/// Waits for the next slot or an order; says the phase, whether there was an order, and whether to stop.
fn wait(shared: &Shared, until: Nanos) -> (Phase, bool, bool) {
    let mut orders = shared.orders();
    loop {
        let now = monotonic();
        if orders.asked != orders.done {
            orders.done = orders.asked;
            return (orders.phase, true, orders.stop);
        }
        if now >= until {
            return (orders.phase, false, false);
        }
        let left = Duration::from(until - now);
        orders = match shared.wake.wait_timeout(orders, left) {
            Ok((guard, _)) => guard,
            Err(poisoned) => poisoned.into_inner().0,
        };
    }
}
