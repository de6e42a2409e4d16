//! Processes that are neither the engine nor watched, and the CPU time that each of them used.
//!
//! The kernel's sums for the whole machine count ticks: who runs when the tick comes has had all of it. Work in short
//! bursts falls between them, or in step with them, so a difference of such sums can hide a process altogether.
//! A process's own clock counts nanoseconds.

use crate::member::Stat;
use crate::procfs::{self, BUFFER, PathBuffer};
use crate::tree::ProcessList;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use touchstone_sys::clock::{self, Nanos};

/// A process that used less is not looked at: the look costs a tenth of it.
const LEAST: Nanos = Nanos(100_000);
/// Number of processes listed. Helpers are found in these lists, next to whatever else a busy machine does; on two CPUs
/// a process that is left out has used less than 3 % of one.
const LISTED: usize = 64;
/// The parent of all kernel threads.
const KTHREADD: i32 = 2;

/// CPU time of every process at one moment, by ascending pid.
#[derive(Debug, Clone, Default)]
pub struct ProcessTimes(Vec<(i32, Nanos)>);

/// A process that is neither the engine nor watched.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct OtherProcess {
    /// Its pid.
    pub pid: i32,
    /// The kernel's name for it, at most 15 bytes.
    pub name: String,
    /// CPU seconds that it used.
    pub cpu_s: f64,
}

/// What processes used between two moments, by their own clocks. A process that ended in between is not among them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OtherProcesses {
    /// CPU time of all other processes, without kernel threads, which work for others.
    pub cpu: Nanos,
    /// CPU time of the engine's other processes.
    pub engine: Nanos,
    /// The other processes that used most, at most [`LISTED`], the largest first.
    pub listed: Vec<OtherProcess>,
}

impl ProcessTimes {
    /// Reads the clocks of all processes that there are. Empty where `/proc` cannot be read.
    #[must_use]
    pub fn now() -> Self {
        let Some(mut list) = ProcessList::open() else {
            return Self::default();
        };
        let times = list.read().iter();
        Self(
            times
                .filter_map(|pid| Some((*pid, clock::process_cpu(*pid)?)))
                .collect(),
        )
    }

    /// The processes that used CPU between this moment and a later one, which is just over: names are read now.
    #[must_use]
    pub fn other_processes(&self, later: &Self, watched: impl Fn(i32) -> bool) -> OtherProcesses {
        let engine = i32::try_from(std::process::id()).unwrap_or_default();
        let mut buffer = [0; BUFFER];
        let mut others = OtherProcesses::default();
        for &(pid, time) in &later.0 {
            let used = time.saturating_sub(self.of(pid));
            if used < LEAST || pid == engine || watched(pid) {
                continue;
            }
            let Some(stat) = Stat::of(pid, &mut buffer) else {
                continue;
            };
            if stat.parent == engine {
                others.engine += used;
            } else if stat.parent != KTHREADD && !watched(stat.parent) {
                others.cpu += used;
                others.listed.push(OtherProcess {
                    pid,
                    name: String::new(),
                    cpu_s: clock::seconds(used),
                });
            }
        }
        others
            .listed
            .sort_by(|left, right| right.cpu_s.total_cmp(&left.cpu_s));
        others.listed.truncate(LISTED);
        for other in &mut others.listed {
            other.name = name(other.pid, &mut buffer);
        }
        others
    }

    /// What a process had used by then; nothing if it was not there yet.
    fn of(&self, pid: i32) -> Nanos {
        let place = self.0.binary_search_by_key(&pid, |(known, _)| *known);
        place.map_or(Nanos::ZERO, |place| self.0[place].1)
    }
}

fn name(pid: i32, buffer: &mut [u8]) -> String {
    let text = procfs::read_once(&PathBuffer::process(pid, "comm"), buffer).unwrap_or_default();
    String::from_utf8_lossy(text.trim_ascii_end()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    const WORK: &str = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; echo $$; read line";

    /// A process that has worked, and stays until its input ends.
    struct Worker {
        child: Child,
        pid: i32,
    }

    impl Worker {
        fn run(script: &str) -> Self {
            let mut child = Command::new("sh")
                .args(["-c", script])
                .env("WORK", WORK)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap())
                .read_line(&mut line)
                .unwrap();
            let pid = line.trim().parse().unwrap();
            Self { child, pid }
        }
    }

    impl Drop for Worker {
        fn drop(&mut self) {
            drop(self.child.stdin.take());
            let _ = self.child.wait();
        }
    }

    #[test]
    fn a_child_of_the_engine_is_not_listed() {
        let before = ProcessTimes::now();
        let worker = Worker::run(WORK);
        let after = ProcessTimes::now();
        let found = before.other_processes(&after, |_| false);
        assert!(found.engine >= LEAST, "{found:?}");
        assert!(found.engine >= after.of(worker.pid));
        assert!(found.listed.iter().all(|one| one.pid != worker.pid));
    }

    #[test]
    fn a_process_is_listed_next_to_several_that_used_more() {
        let before = ProcessTimes::now();
        let script = |more: &str| format!("sh -c \"{more}$WORK\"; :");
        let busy = "j=0; while [ \\$j -lt 50000 ]; do j=\\$((j+1)); done; ";
        let workers: Vec<_> = (0..5).map(|_| Worker::run(&script(busy))).collect();
        let helper = Worker::run(&script(""));
        let after = ProcessTimes::now();
        let found = before.other_processes(&after, |_| false);
        let place = |pid| found.listed.iter().position(|one| one.pid == pid);
        let last = place(helper.pid).unwrap();
        assert!(
            workers.iter().all(|one| place(one.pid).unwrap() < last),
            "{found:?}"
        );
        assert!(found.listed.len() <= LISTED);
    }

    #[test]
    fn another_process_is_listed_unless_it_or_its_parent_is_watched() {
        let before = ProcessTimes::now();
        // Its parent is a shell, which is the engine's child and itself no part of it.
        let worker = Worker::run("sh -c \"$WORK\"; :");
        let parent = i32::try_from(worker.child.id()).unwrap();
        assert_ne!(worker.pid, parent);
        let after = ProcessTimes::now();
        let others = |pid| pid != worker.pid && pid != parent;
        let found = before.other_processes(&after, others);
        let [other] = found.listed.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!((other.pid, other.name.as_str()), (worker.pid, "sh"));
        assert_eq!(found.cpu, after.of(worker.pid));
        assert_eq!(
            before.other_processes(&after, |_| true),
            OtherProcesses::default()
        );
        let found = before.other_processes(&after, |pid| pid == parent);
        assert!(
            found.listed.iter().all(|one| one.pid != worker.pid),
            "{found:?}"
        );
    }
}
