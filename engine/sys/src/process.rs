//! Processes: starting, ending, reaping, and settings of this process in the kernel.

use crate::{done, own};
use std::io;
use std::os::fd::OwnedFd;

pub use crate::spawn::{Program, Started, spawn};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl Ending {
    /// From a wait status (wait(2)); `None` for a process that has only stopped or gone on.
    #[must_use]
    pub fn from_status(status: i32) -> Option<Self> {
        if libc::WIFEXITED(status) {
            Some(Self::Code(libc::WEXITSTATUS(status)))
        } else if libc::WIFSIGNALED(status) {
            Some(Self::Signal(libc::WTERMSIG(status)))
        } else {
            None
        }
    }

    /// The exit code, if it ended by itself.
    #[must_use]
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) => None,
        }
    }

    /// The signal, if one ended it.
    #[must_use]
    pub fn signal(self) -> Option<i32> {
        match self {
            Self::Signal(signal) => Some(signal),
            Self::Code(_) => None,
        }
    }
}

/// Signals that end processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: as Ctrl-C does.
    Interrupt,
    /// SIGTERM: asks it to end.
    Terminate,
    /// SIGKILL: ends it.
    Kill,
}

impl Signal {
    fn number(self) -> i32 {
        match self {
            Self::Interrupt => libc::SIGINT,
            Self::Terminate => libc::SIGTERM,
            Self::Kill => libc::SIGKILL,
        }
    }
}

/// Sends a signal to a process.
///
/// # Errors
/// When it is not there, or not ours to end.
pub fn signal(pid: i32, signal: Signal) -> io::Result<()> {
    // SAFETY: no pointers.
    done(unsafe { libc::kill(pid, signal.number()) })
}

/// Sends a signal to a process group. Its id cannot be reused while it has members.
///
/// # Errors
/// When it has no members any more.
pub fn signal_group(leader: i32, sent: Signal) -> io::Result<()> {
    signal(-leader, sent)
}

/// The process group of a process; `None` when it has gone.
#[must_use]
pub fn group_of(pid: i32) -> Option<i32> {
    // SAFETY: no pointers.
    let group = unsafe { libc::getpgid(pid) };
    (group >= 0).then_some(group)
}

/// Reaps a child of ours if it has ended, and says how it did. `None` for one that lives or is not a child of ours.
#[must_use]
pub fn reap(pid: i32) -> Option<Ending> {
    let mut status = 0;
    // SAFETY: `status` is valid; a pid that is not a child of ours gives ECHILD.
    let reaped = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) };
    if reaped == pid {
        Ending::from_status(status)
    } else {
        None
    }
}

/// How a child of ours has ended, which stays to be reaped. `None` for one that lives or is not a child of ours.
#[must_use]
pub fn peek(pid: i32) -> Option<Ending> {
    // SAFETY: an all-zero siginfo is a valid value to be overwritten.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    let id = libc::id_t::try_from(pid).ok()?;
    // SAFETY: `info` outlives the call.
    done(unsafe { libc::waitid(libc::P_PID, id, &raw mut info, flags) }).ok()?;
    // SAFETY: waitid filled the fields that a SIGCHLD carries; for one that lives they are 0.
    let (child, status) = unsafe { (info.si_pid(), info.si_status()) };
    (child == pid).then_some(if info.si_code == libc::CLD_EXITED {
        Ending::Code(status)
    } else {
        Ending::Signal(status)
    })
}

/// A descriptor that becomes readable when the process ends (pidfd_open(2), Linux 5.3). `None` when it has gone, or the
/// kernel is older.
#[must_use]
pub fn pidfd(pid: i32) -> Option<OwnedFd> {
    // SAFETY: no pointers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    own(i32::try_from(fd).ok()?).ok()
}

/// From here on, orphans among the descendants of this process fall to it, and not to init.
pub fn adopt_orphans() {
    // SAFETY: no pointers.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

/// Timers of the calling thread fire when they are due, and not up to 50 microseconds later (the default slack).
pub fn exact_timers() {
    // SAFETY: no pointers.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// Gives the calling thread a table of open files of its own, with nothing in it but the standard streams. In a table that
/// threads share, every system call on a socket counts the users of its file up and down; in one's own, the kernel need not.
/// Where the kernel has no `close_range` (before 5.11), the table stays shared.
///
/// # Safety
/// The thread finds every file closed that was opened before. It must use none of them: no value that it holds, or that is
/// handed to it later, may own or borrow such a file, since its number may by then be that of another.
pub unsafe fn own_files() {
    let flags = libc::CLOSE_RANGE_UNSHARE;
    // SAFETY: no pointers; the descriptors that it closes are this thread's copies, which the caller does not use.
    unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, flags) };
}

/// Length of a page of memory, in bytes.
#[must_use]
pub fn page_bytes() -> u64 {
    // SAFETY: sysconf only reads a number.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    #[expect(
        clippy::zombie_processes,
        reason = "`reap` waits for it, which is what is tested"
    )]
    fn an_ending_is_seen_without_being_reaped_and_then_reaped() {
        let child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let ended = pidfd(pid).is_none_or(|fd| {
            use std::os::fd::AsFd;
            crate::poll::ready(
                fd.as_fd(),
                crate::poll::Side::Read,
                std::time::Duration::from_secs(10),
            )
        });
        assert!(ended);
        assert_eq!(peek(pid), Some(Ending::Code(7)));
        assert_eq!(peek(pid), Some(Ending::Code(7)));
        assert_eq!(reap(pid), Some(Ending::Code(7)));
        assert_eq!((reap(pid), peek(pid)), (None, None));
    }

    #[test]
    fn a_signal_is_told_from_a_code() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert_eq!((reap(pid), peek(pid)), (None, None), "it lives");
        assert!(group_of(pid).is_some());
        signal(pid, Signal::Kill).unwrap();
        child.wait().unwrap();
        assert_eq!(Ending::from_status(9), Some(Ending::Signal(9)));
        assert_eq!(Ending::from_status(7 << 8), Some(Ending::Code(7)));
        assert_eq!(Ending::from_status(0x137f), None, "stopped");
        assert!(signal(pid, Signal::Terminate).is_err());
    }

    #[test]
    fn a_thread_with_files_of_its_own_leaves_the_others_theirs() {
        let (mut ours, mut theirs) = io::pipe().unwrap();
        let (before, after) = std::thread::spawn(|| {
            let open = || std::fs::read_dir("/proc/thread-self/fd").unwrap().count();
            let before = open();
            // SAFETY: the thread uses no file that was opened before.
            unsafe { own_files() };
            (before, open())
        })
        .join()
        .unwrap();
        // The standard streams, and the directory that is being listed.
        assert!(before > 4 && after <= 4, "{before} {after}");
        std::io::Write::write_all(&mut theirs, b"x").unwrap();
        std::io::Read::read_exact(&mut ours, &mut [0]).unwrap();
    }
}
