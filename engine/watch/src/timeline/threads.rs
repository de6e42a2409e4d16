//! The threads of one process tree, by `/proc/PID/task/TID/schedstat` and `wchan`.

use std::os::fd::OwnedFd;

use super::report::Timeline;
use crate::procfs::{self, BUFFER, PathBuffer};
use crate::tree::add_threads_of;
use touchstone_sys::clock::Nanos;
use touchstone_sys::file;

/// A shorter wait for a CPU is the scheduler's ordinary work.
const LEAST_WAIT: u64 = 100_000;
/// Places of the kernel in which a thread waits for work, a lock or a time, which say nothing by themselves.
const ORDINARY: [&str; 14] = [
    "futex",
    "poll",
    "nanosleep",
    "accept",
    "wait_woken",
    "recv",
    "sigtimedwait",
    "sigsuspend",
    "do_wait",
    "do_select",
    "cqring",
    "schedule_timeout",
    "unix_stream_read",
    "pipe_read",
];

/// What follows a place in which a thread sleeps because of a page fault.
const FAULT: &str = " in a page fault";

/// One thread. The files stay open.
struct Thread {
    tid: i32,
    pid: i32,
    file: OwnedFd,
    kind: u32,
    cpu: u64,
    wait: u64,
    asleep_since: u64,
    /// Where it sleeps, once it has been looked up; `None` if that says nothing.
    place: Option<u32>,
    looked: bool,
}

/// The threads of one process tree.
#[derive(Default)]
pub struct Threads {
    /// Its number in the timeline.
    role: u32,
    /// What the names of the threads begin with that are looked at; empty for all.
    named: &'static str,
    known: Vec<Thread>,
}

impl Threads {
    /// Threads of a process with this number in the timeline, whose names begin so.
    pub fn of(role: u32, named: &'static str) -> Self {
        Self {
            role,
            named,
            known: Vec::new(),
        }
    }

    /// Finds the threads that are there now.
    pub fn refresh(&mut self, pids: &[i32], buffer: &mut [u8], timeline: &mut Timeline) {
        let mut there = Vec::new();
        for &pid in pids {
            let mut tids = Vec::new();
            add_threads_of(pid, buffer, &mut tids);
            there.extend(tids.into_iter().map(|tid| (pid, tid)));
        }
        self.known
            .retain(|thread| there.contains(&(thread.pid, thread.tid)));
        for (pid, tid) in there {
            if self.known.iter().any(|thread| thread.tid == tid) {
                continue;
            }
            if let Some(thread) = open(pid, tid, self.named, buffer, timeline) {
                self.known.push(thread);
            }
        }
    }

    /// Looks at each thread. `before` is the last look's time.
    pub fn look(&mut self, before: Nanos, now: Nanos, timeline: &mut Timeline) {
        let mut buffer = [0_u8; 128];
        for thread in &mut self.known {
            let Some((cpu, wait)) = times(&thread.file, &mut buffer) else {
                continue;
            };
            let (ran, waited) = (
                cpu.saturating_sub(thread.cpu),
                wait.saturating_sub(thread.wait),
            );
            if ran == 0 && waited == 0 {
                if !thread.looked {
                    thread.look_up(before, timeline);
                }
                continue;
            }
            (thread.cpu, thread.wait) = (cpu, wait);
            if let Some(place) = thread.place.take() {
                timeline
                    .sleeps
                    .push((thread.asleep_since as i64, now.0 as i64, self.role, place));
            }
            thread.looked = false;
            if waited >= LEAST_WAIT {
                // The kernel adds a wait when it is over: the thread has run since, as far as it is known to.
                let end = now.0.saturating_sub(ran.min(now.0 - before.0));
                let span = (end.saturating_sub(waited) as i64, end as i64, self.role);
                timeline.cpu_waits.push(span);
            }
            if self.role == 0 && ran > 0 {
                let micros = (ran / 1000) as i64;
                timeline.runs.push((now.0 as i64, thread.kind, micros));
            }
        }
    }
}

impl Thread {
    /// Asks in which of the kernel's functions it sleeps. One that runs, or could, is asked again.
    fn look_up(&mut self, before: Nanos, timeline: &mut Timeline) {
        let mut buffer = [0_u8; 128];
        let path = PathBuffer::thread(self.pid, self.tid, "wchan");
        let Some(place) = procfs::read_once(&path, &mut buffer) else {
            self.looked = true;
            return;
        };
        if place == b"0" {
            return;
        }
        self.looked = true;
        let place = String::from_utf8_lossy(place);
        if ORDINARY.iter().any(|word| place.contains(word)) {
            return;
        }
        let fault = self.in_page_fault().then(|| format!("{place}{FAULT}"));
        self.asleep_since = before.0;
        self.place = Some(index(&mut timeline.places, &fault.unwrap_or(place.into())));
    }

    /// Whether it sleeps outside any system call (proc_pid_syscall(5)). Not known, and so no, without the right to trace it.
    fn in_page_fault(&self) -> bool {
        let mut buffer = [0_u8; 256];
        let path = PathBuffer::thread(self.pid, self.tid, "syscall");
        procfs::read_once(&path, &mut buffer).is_some_and(|call| call.starts_with(b"-1 "))
    }
}

/// CPU time and time of waiting for a CPU, in nanoseconds (Documentation/scheduler/sched-stats.rst).
fn times(file: &OwnedFd, buffer: &mut [u8]) -> Option<(u64, u64)> {
    let mut numbers = procfs::numbers(file::read(file, buffer)?);
    Some((numbers.next()?, numbers.next()?))
}

fn open(
    pid: i32,
    tid: i32,
    named: &str,
    buffer: &mut [u8],
    timeline: &mut Timeline,
) -> Option<Thread> {
    let name = procfs::read_once(&PathBuffer::thread(pid, tid, "comm"), buffer)?;
    let name = String::from_utf8_lossy(name).trim_end().to_owned();
    if !name.starts_with(named) {
        return None;
    }
    let file = PathBuffer::thread(pid, tid, "schedstat").open()?;
    let (cpu, wait) = times(&file, buffer)?;
    let kind = name.trim_end_matches(|c: char| c.is_ascii_digit() || "#-_ .:/".contains(c));
    Some(Thread {
        tid,
        pid,
        file,
        kind: index(&mut timeline.kinds, kind),
        cpu,
        wait,
        asleep_since: 0,
        place: None,
        looked: false,
    })
}

/// The place of a name in a list, at whose end it is put if it is new.
fn index(names: &mut Vec<String>, name: &str) -> u32 {
    let found = names.iter().position(|known| known == name);
    let place = found.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    place as u32
}

const _: () = assert!(BUFFER >= 128);
