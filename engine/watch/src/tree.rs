//! Which processes belong to the tree.
//!
//! A process belongs when its parent does, when it shares the root's process group or session and the root leads
//! that (so that a daemon which forked twice is still seen), when it was re-parented to the given subreaper, or when a
//! watched cgroup lists it. A process that once belonged keeps belonging, wherever it moves.

use crate::member::Stat;
use crate::procfs::{self, PathBuffer};
use std::os::fd::OwnedFd;
use touchstone_sys::file;

/// What decides on membership.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub root: i32,
    /// The root's process group, when the root leads it.
    pub group: Option<i32>,
    /// The root's session, when the root leads it.
    pub session: Option<i32>,
    /// A process whose new children are the tree's orphans.
    pub subreaper: Option<i32>,
    /// When the root started, in the kernel's ticks since boot: an orphan of the tree cannot be older.
    pub since: u64,
}

impl Bounds {
    /// Whether a process belongs, given the members known so far (sorted by pid).
    pub fn contain(&self, pid: i32, stat: &Stat, is_member: impl Fn(i32) -> bool) -> bool {
        pid == self.root
            || self.group == Some(stat.group)
            || self.session == Some(stat.session)
            || (stat.parent > 1 && is_member(stat.parent))
            || (self.subreaper == Some(stat.parent) && stat.started >= self.since)
    }
}

/// Lists `/proc` into a buffer that is kept.
pub struct ProcessList {
    directory: OwnedFd,
    buffer: Vec<u8>,
    pids: Vec<i32>,
}

impl ProcessList {
    pub fn open() -> Option<Self> {
        let directory = file::open_directory(c"/proc")?;
        Some(Self {
            directory,
            buffer: vec![0; 32 * 1024],
            pids: Vec::with_capacity(1024),
        })
    }

    /// All pids, ascending.
    pub fn read(&mut self) -> &[i32] {
        self.pids.clear();
        numbers_in(&self.directory, &mut self.buffer, &mut self.pids);
        self.pids.sort_unstable();
        &self.pids
    }
}

/// Adds the threads of a process, in no order; none if it has ended.
pub fn add_threads_of(pid: i32, buffer: &mut [u8], tids: &mut Vec<i32>) {
    if let Some(directory) = file::open_directory(PathBuffer::process(pid, "task").as_c_str()) {
        numbers_in(&directory, buffer, tids);
    }
}

/// Adds the names in a directory that are numbers, in no order.
fn numbers_in(directory: &OwnedFd, buffer: &mut [u8], numbers: &mut Vec<i32>) {
    file::entries(directory, buffer, |name| {
        if name.first().is_some_and(u8::is_ascii_digit) {
            numbers.extend(procfs::number(name).and_then(|n| i32::try_from(n).ok()));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_holds_this_process_and_its_parent() {
        let mut list = ProcessList::open().unwrap();
        for _ in 0..2 {
            let pids = list.read();
            assert!(pids.is_sorted());
            assert!(pids.contains(&(std::process::id() as i32)));
            assert!(pids.contains(&(std::os::unix::process::parent_id() as i32)));
        }
    }
}
