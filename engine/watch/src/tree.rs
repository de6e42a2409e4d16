//! Which processes belong to the tree.
//!
//! A process belongs when its parent does, when it shares the root's process group or session and the root leads
//! that (so that a daemon which forked twice is still seen), when it was re-parented to the given subreaper, or when a
//! watched cgroup lists it. Whoever once belonged keeps belonging, wherever it moves.

use crate::member::Stat;
use crate::procfs;
use std::os::fd::{AsRawFd, OwnedFd};

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
        let directory = procfs::open_c(c"/proc", libc::O_RDONLY | libc::O_DIRECTORY)?;
        Some(Self {
            directory,
            buffer: vec![0; 32 * 1024],
            pids: Vec::with_capacity(1024),
        })
    }

    /// All pids, ascending.
    pub fn read(&mut self) -> &[i32] {
        self.pids.clear();
        let fd = self.directory.as_raw_fd();
        // SAFETY: the descriptor is an open directory.
        unsafe { libc::lseek(fd, 0, libc::SEEK_SET) };
        loop {
            // SAFETY: the buffer is valid for its length.
            let n = unsafe {
                libc::syscall(
                    libc::SYS_getdents64,
                    fd,
                    self.buffer.as_mut_ptr(),
                    self.buffer.len(),
                )
            };
            let Some(n) = usize::try_from(n).ok().filter(|n| *n > 0) else {
                break;
            };
            collect(&self.buffer[..n], &mut self.pids);
        }
        self.pids.sort_unstable();
        &self.pids
    }
}

/// Takes the numeric names out of a run of `struct linux_dirent64` (getdents64(2)): inode 8 bytes, offset 8,
/// record length 2, type 1, then the name up to a NUL.
fn collect(mut records: &[u8], pids: &mut Vec<i32>) {
    const NAME: usize = 19;
    while records.len() > NAME {
        let length = usize::from(u16::from_ne_bytes([records[16], records[17]]));
        let Some(record) = records.get(..length).filter(|_| length > NAME) else {
            break;
        };
        let name = record[NAME..].split(|b| *b == 0).next().unwrap_or_default();
        let is_pid = name.first().is_some_and(u8::is_ascii_digit);
        if let Some(pid) = procfs::number(name)
            .filter(|_| is_pid)
            .and_then(|n| n.try_into().ok())
        {
            pids.push(pid);
        }
        records = &records[length..];
    }
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
