//! Whether the tree's threads stay on the CPUs that it was given.
//!
//! Affinities are looked at with every sample, since a thread that took another CPU may have ended before the load does.
//! Where the tree has a cgroup of version 1, the kernel's count of CPU time by CPU tells also of those that lived between
//! two samples.

use crate::cgroup::CpuTimes;
use crate::member::{Member, Stat};
use crate::procfs::{self, PathBuffer};
use crate::sample::Depth;
use crate::tree::add_threads_of;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use touchstone_sys::clock::{Nanos, monotonic, seconds, since, thread_cpu};
use touchstone_sys::cpus::CpuSet;

/// How many threads are kept as evidence.
const KEPT: usize = 20;
/// Looking at threads may take at most this share of the time, as 1/N.
const SHARE: u64 = 100;

/// What was seen of the CPUs that the tree used.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Placement {
    /// The CPUs that it was given.
    pub allowed: Vec<usize>,
    /// Threads that went beyond them, ended ones included; the first 20.
    pub beyond: Vec<Beyond>,
    /// CPU seconds used on other CPUs, by the kernel's count for the tree's cgroup; `null` where there is none.
    pub beyond_cpu_s: Option<f64>,
}

/// A thread that went beyond.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Thread {
    /// The process that it belongs to.
    pub pid: i32,
    /// Its thread id.
    pub tid: i32,
    /// Its name.
    pub name: String,
    /// The CPUs on which it might run.
    pub cpus: Vec<usize>,
    /// The CPU on which it was last seen, where that was not one of those given.
    pub ran_on: Option<usize>,
}

/// A thread that went beyond, and when.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Beyond {
    /// Which.
    #[serde(flatten)]
    pub thread: Thread,
    /// When it was first seen so, in the series' clock.
    pub first_t: f64,
    /// When it was last seen so.
    pub last_t: f64,
}

/// Gathers the evidence.
pub struct PlacementLog {
    allowed: Vec<usize>,
    found: Vec<(Thread, Nanos, Nanos)>,
    times: Option<CpuTimes>,
    beyond: Option<Nanos>,
    tids: Vec<i32>,
    listing: Vec<u8>,
    next: Nanos,
}

impl PlacementLog {
    /// For a tree that was given these CPUs; with none, nothing is looked at.
    pub fn new(allowed: &[usize], times: Option<CpuTimes>) -> Self {
        let mut allowed = allowed.to_vec();
        allowed.sort_unstable();
        allowed.dedup();
        Self {
            allowed,
            found: Vec::new(),
            times,
            beyond: None,
            tids: Vec::with_capacity(256),
            listing: vec![0; 16 * 1024],
            next: Nanos::ZERO,
        }
    }

    /// Looks at every thread of the members; a deep look also asks where each has run last.
    pub fn observe(&mut self, members: &[Member], depth: Depth, at: Nanos, buffer: &mut [u8]) {
        if self.allowed.is_empty() || (depth == Depth::Shallow && at < self.next) {
            return;
        }
        let before = thread_cpu();
        for member in members.iter().filter(|member| member.stat.alive()) {
            self.list_threads(member);
            for place in 0..self.tids.len() {
                self.look_at(member, self.tids[place], depth, at, buffer);
            }
        }
        if depth == Depth::Deep {
            let allowed = &self.allowed;
            self.beyond = self
                .times
                .as_ref()
                .and_then(|times| times.since_begin(buffer, |cpu| !allowed.contains(&cpu)))
                .or(self.beyond);
        }
        let took = thread_cpu().saturating_sub(before);
        self.next = monotonic() + took * SHARE;
    }

    fn list_threads(&mut self, member: &Member) {
        self.tids.clear();
        if member.stat.threads <= 1 {
            self.tids.push(member.pid);
            return;
        }
        add_threads_of(member.pid, &mut self.listing, &mut self.tids);
    }

    fn look_at(&mut self, member: &Member, tid: i32, depth: Depth, at: Nanos, buffer: &mut [u8]) {
        let Some(set) = CpuSet::of_thread(tid) else {
            return;
        };
        let may_stray = !set.is_within(&self.allowed);
        let last_ran_on = match depth {
            Depth::Deep => Stat::of_thread(member.pid, tid, buffer).map(|stat| stat.processor),
            Depth::Shallow => (tid == member.pid).then_some(member.stat.processor),
        };
        let ran_on = last_ran_on.filter(|cpu| !self.allowed.contains(cpu));
        if !may_stray && ran_on.is_none() {
            return;
        }
        if let Some((thread, _, last)) = self.found.iter_mut().find(|(t, ..)| t.tid == tid) {
            *last = at;
            thread.ran_on = ran_on.or(thread.ran_on);
        } else if self.found.len() < KEPT {
            let thread = Thread {
                pid: member.pid,
                tid,
                name: procfs::read_once(&PathBuffer::thread(member.pid, tid, "comm"), buffer)
                    .map(|text| String::from_utf8_lossy(text).trim_end().to_owned())
                    .unwrap_or_default(),
                cpus: set.numbers(),
                ran_on,
            };
            self.found.push((thread, at, at));
        }
    }

    /// What was seen, in the clock of the series; `None` where no CPUs were given.
    pub fn report(&self, origin: Nanos) -> Option<Placement> {
        (!self.allowed.is_empty()).then(|| Placement {
            allowed: self.allowed.clone(),
            beyond: self
                .found
                .iter()
                .map(|(thread, first, last)| Beyond {
                    thread: thread.clone(),
                    first_t: since(*first, origin),
                    last_t: since(*last, origin),
                })
                .collect(),
            beyond_cpu_s: self.beyond.map(seconds),
        })
    }
}
