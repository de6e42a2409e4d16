//! How long watched processes wait for a disk, looked at again and again.
//!
//! A thread that syncs a file sleeps uninterruptibly and uses hardly any CPU. The kernel counts these waits only where
//! `kernel.task_delayacct` is on, and the disk's work per cgroup only where the cgroup has the controller for it. The
//! state of a thread is always there.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use touchstone_sys::clock::{Nanos, monotonic, thread_cpu};

use crate::member::Stat;
use crate::procfs::BUFFER;
use crate::tree::add_threads_of;

/// Looks may take at most this share of the time, as 1/N.
const SHARE: u64 = 400;
/// The shortest time between two looks.
const EVERY: Nanos = Nanos::from_millis(5);
/// The longest time between two looks, also where they then take more than that share.
const MOST: Nanos = Nanos::from_millis(200);

/// Looks at some process trees until it is dropped.
#[derive(Debug)]
pub struct DiskWatch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    trees: Mutex<Vec<Tree>>,
    stop: AtomicBool,
}

/// One process tree, and how long at least one of its threads has waited.
#[derive(Debug, Clone, Default)]
struct Tree {
    pids: Vec<i32>,
    waited: Nanos,
}

impl DiskWatch {
    /// Begins, with no tree to look at.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start() -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("disk".to_owned())
            .spawn(move || theirs.work())?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// How long each tree has waited so far. From now on the trees have these processes.
    #[must_use]
    pub fn read(&self, trees: impl IntoIterator<Item = Vec<i32>>) -> Vec<Nanos> {
        self.shared.with(|known| {
            let mut waited = Vec::new();
            for (place, pids) in trees.into_iter().enumerate() {
                if place == known.len() {
                    known.push(Tree::default());
                }
                known[place].pids = pids;
                waited.push(known[place].waited);
            }
            waited
        })
    }
}

impl Drop for DiskWatch {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It does nothing that could panic.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn with<T>(&self, change: impl FnOnce(&mut Vec<Tree>) -> T) -> T {
        change(&mut self.trees.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn work(&self) {
        let mut buffer = [0; BUFFER];
        let mut before = monotonic();
        while !self.stop.load(Ordering::Relaxed) {
            let begun = thread_cpu();
            let trees: Vec<Vec<i32>> =
                self.with(|trees| trees.iter().map(|tree| tree.pids.clone()).collect());
            let waits: Vec<bool> = trees
                .iter()
                .map(|pids| pids.iter().any(|pid| waits_for_disk(*pid, &mut buffer)))
                .collect();
            let now = monotonic();
            let passed = now.saturating_sub(before);
            before = now;
            self.with(|trees| {
                for (tree, _) in trees.iter_mut().zip(waits).filter(|(_, waits)| *waits) {
                    tree.waited += passed;
                }
            });
            let pause = (thread_cpu().saturating_sub(begun) * SHARE).clamp(EVERY, MOST);
            std::thread::park_timeout(Duration::from(pause));
        }
    }
}

/// Whether a thread of a process sleeps uninterruptibly.
fn waits_for_disk(pid: i32, buffer: &mut [u8]) -> bool {
    let mut threads = Vec::new();
    add_threads_of(pid, buffer, &mut threads);
    threads
        .iter()
        .any(|tid| Stat::of_thread(pid, *tid, buffer).is_some_and(|stat| stat.state == b'D'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// Reads until one of the trees has waited this long, or 20 seconds are over: an interpreter starts meanwhile.
    fn waited(watch: &DiskWatch, pids: &[i32], least: Nanos) -> Vec<Nanos> {
        let end = monotonic() + Nanos::from_millis(20_000);
        loop {
            let found = watch.read(pids.iter().map(|pid| vec![*pid]));
            if found.iter().any(|one| *one >= least) || monotonic() > end {
                return found;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn an_uninterruptible_wait_is_seen_and_an_ordinary_sleep_is_not() {
        // A parent of vfork sleeps uninterruptibly until its child ends: no test needs a slow disk.
        let script = "import ctypes; ctypes.CDLL(None).vfork() or ctypes.CDLL(None).sleep(10)";
        let mut waiter = Command::new("python3")
            .args(["-c", script])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
        let pids = [waiter.id() as i32, sleeper.id() as i32];
        let watch = DiskWatch::start().unwrap();
        let found = waited(&watch, &pids, Nanos::from_millis(50));
        for child in [&mut waiter, &mut sleeper] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(found[0] >= Nanos::from_millis(50), "{found:?}");
        assert_eq!(found[1], Nanos::ZERO);
    }
}
