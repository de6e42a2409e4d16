//! The thread that looks.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use super::report::Timeline;
use super::sockets::Sockets;
use super::threads::Threads;
use super::{Flights, TimelineSettings};
use crate::member::Stat;
use crate::procfs::{self, BUFFER};
use crate::sampler::Sampler;
use crate::target::{Target, WatchError};
use touchstone_sys::clock::{self, Nanos, monotonic, seconds, thread_cpu};
use touchstone_sys::{cpus, file};

/// Between two searches for new threads, processes and connections.
const REFRESH: Nanos = Nanos::from_millis(200);

/// How far a sampler has come.
#[derive(Debug, Default)]
struct Progress {
    looks: AtomicU64,
    searches: AtomicU64,
}

/// A running sampler. Dropping it stops the thread.
pub struct TimelineSampler {
    stop: Arc<AtomicBool>,
    progress: Arc<Progress>,
    thread: Option<JoinHandle<Timeline>>,
}

impl TimelineSampler {
    /// Begins to look.
    ///
    /// # Errors
    /// When a process does not exist, or no thread can be started.
    pub fn start(
        settings: TimelineSettings,
        flights: Vec<Arc<Flights>>,
    ) -> Result<Self, WatchError> {
        let mut looker = Looker::new(&settings, flights)?;
        let progress = Arc::clone(&looker.progress);
        let stop = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("timeline".into())
            .stack_size(256 * 1024)
            .spawn(move || {
                if !settings.cpus.is_empty() {
                    let _ = cpus::bind(&settings.cpus);
                }
                touchstone_sys::process::exact_timers();
                while !theirs.load(Ordering::Relaxed) {
                    looker.look();
                    let spent = monotonic().saturating_sub(looker.before);
                    std::thread::sleep(settings.interval.saturating_sub(spent.into()));
                }
                looker.timeline.cost_s = seconds(thread_cpu());
                looker.timeline
            })?;
        Ok(Self {
            stop,
            progress,
            thread: Some(thread),
        })
    }

    /// Looks so far.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.progress.looks.load(Ordering::Acquire)
    }

    /// Searches so far for new threads, processes and connections.
    #[must_use]
    pub fn searches(&self) -> u64 {
        self.progress.searches.load(Ordering::Acquire)
    }

    /// Stops, and gives what was seen from `begin` on, in times since `origin`.
    #[must_use]
    pub fn finish(mut self, origin: Nanos, begin: Nanos) -> Timeline {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().and_then(|thread| thread.join().ok());
        thread.unwrap_or_default().settled(origin, begin)
    }
}

impl Drop for TimelineSampler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// All that is looked at.
struct Looker {
    /// The server's tree, and those of its dependencies.
    trees: Vec<Sampler>,
    pids: Vec<Vec<i32>>,
    threads: Vec<Threads>,
    sockets: Option<Sockets>,
    throttling: Option<OwnedFd>,
    throttled: u64,
    faults: u64,
    before: Nanos,
    refreshed: Nanos,
    buffer: Box<[u8; BUFFER]>,
    timeline: Timeline,
    progress: Arc<Progress>,
}

impl Looker {
    fn new(settings: &TimelineSettings, flights: Vec<Arc<Flights>>) -> Result<Self, WatchError> {
        let tree = |pid: i32| {
            Sampler::new(&Target {
                pid,
                ..Target::default()
            })
        };
        let mut trees = vec![tree(settings.pid)?];
        for dependency in &settings.dependencies {
            trees.push(tree(dependency.pid)?);
        }
        let mut timeline = Timeline {
            interval_s: settings.interval.as_secs_f64(),
            ..Timeline::default()
        };
        let sockets = Sockets::new(settings.server, flights, settings.addresses.clone());
        if let Err(error) = &sockets {
            let what = format!("the server's sockets: the kernel does not answer: {error}");
            timeline.unseen.push(what);
        }
        let throttling = throttling_file(&settings.cgroup_paths);
        if throttling.is_none() {
            let what = "throttling by a CPU quota: there is no cgroup of its own".to_owned();
            timeline.unseen.push(what);
        }
        let mut threads = vec![Threads::of(0, ""), Threads::of(1, settings.generators)];
        threads.extend((2..=trees.len() as u32).map(|role| Threads::of(role, "")));
        let mut looker = Self {
            pids: vec![Vec::new(); trees.len()],
            trees,
            threads,
            sockets: sockets.ok(),
            throttling,
            throttled: 0,
            faults: 0,
            before: monotonic(),
            refreshed: Nanos::ZERO,
            buffer: Box::new([0; BUFFER]),
            timeline,
            progress: Arc::default(),
        };
        looker.throttled = looker.throttled_now();
        Ok(looker)
    }

    fn look(&mut self) {
        let now = monotonic();
        if now.saturating_sub(self.refreshed) >= REFRESH {
            self.refresh(now);
        }
        let mut look = vec![now.0 as i64];
        look.extend(self.pids.iter().map(|pids| {
            let used = pids.iter().filter_map(|pid| clock::process_cpu(*pid));
            (used.sum::<Nanos>().0 / 1000) as i64
        }));
        self.timeline.looks.push(look);
        for threads in &mut self.threads {
            threads.look(self.before, now, &mut self.timeline);
        }
        let throttled = self.throttled_now();
        if throttled > self.throttled {
            // The kernel adds the time when the group may run again.
            let begin = now.0.saturating_sub(throttled - self.throttled);
            self.timeline.throttled.push((begin as i64, now.0 as i64));
            self.throttled = throttled;
        }
        if let Some(sockets) = &mut self.sockets {
            sockets.look(self.before, now, &mut self.timeline);
        }
        self.before = now;
        self.progress.looks.fetch_add(1, Ordering::Release);
    }

    fn refresh(&mut self, now: Nanos) {
        let buffer = self.buffer.as_mut_slice();
        for (tree, pids) in self.trees.iter_mut().zip(&mut self.pids) {
            tree.cpu();
            *pids = tree.pids().collect();
        }
        let own = [i32::try_from(std::process::id()).unwrap_or_default()];
        for (role, threads) in self.threads.iter_mut().enumerate() {
            let pids = match role {
                0 => &self.pids[0][..],
                1 => &own[..],
                _ => &self.pids[role - 1][..],
            };
            threads.refresh(pids, buffer, &mut self.timeline);
        }
        let faults = self.pids[0].iter().filter_map(|pid| Stat::of(*pid, buffer));
        let faults = faults.map(|stat| stat.major_faults).sum::<u64>();
        if faults > self.faults && self.refreshed > Nanos::ZERO {
            let look = (now.0 as i64, (faults - self.faults) as i64);
            self.timeline.major_faults.push(look);
        }
        self.faults = faults;
        if let Some(sockets) = &mut self.sockets {
            sockets.refresh();
        }
        self.refreshed = now;
        self.progress.searches.fetch_add(1, Ordering::Release);
    }

    /// Nanoseconds for which the quota has kept the group off the CPU.
    fn throttled_now(&mut self) -> u64 {
        let Some(file) = &self.throttling else {
            return 0;
        };
        let Some(text) = file::read(file, self.buffer.as_mut_slice()) else {
            return 0;
        };
        let micros = procfs::field(text, b"throttled_usec").map(|micros| micros * 1000);
        micros
            .or_else(|| procfs::field(text, b"throttled_time"))
            .unwrap_or(0)
    }
}

/// The file that says for how long a quota kept the group off the CPU, of either version.
fn throttling_file(folders: &[PathBuf]) -> Option<OwnedFd> {
    let mut buffer = [0; 1024];
    folders.iter().find_map(|folder| {
        let path = folder.join("cpu.stat").into_os_string();
        let file = file::open(&CString::new(path.into_encoded_bytes()).ok()?)?;
        let text = file::read(&file, &mut buffer)?;
        let says = |key| procfs::field(text, key).is_some();
        (says(b"throttled_usec".as_slice()) || says(b"throttled_time".as_slice())).then_some(file)
    })
}
