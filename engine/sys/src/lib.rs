//! The engine's system calls (Linux), behind safe functions and types. What is `unsafe` in the engine stands here, but for
//! io_uring's rings in the load generator.
//!
//! | module | what |
//! |---|---|
//! | [`clock`] | clocks: monotonic, wall, CPU time of threads and of other processes |
//! | [`cpus`] | on which CPUs threads may run |
//! | [`diag`] | TCP sockets of other processes |
//! | [`file`] | small kernel files read without allocating, directories, pages in the page cache |
//! | [`limits`] | the limit of open files |
//! | [`memory`] | whole pages of memory |
//! | [`poll`] | waiting for descriptors: poll, epoll, and a bell that wakes it |
//! | [`process`] | starting, ending and reaping processes |
//! | [`signal`] | SIGINT and SIGTERM |
//! | [`socket`] | TCP sockets that do not block |

pub mod clock;
pub mod cpus;
pub mod diag;
pub mod file;
pub mod limits;
pub mod memory;
mod nanos;
pub mod poll;
pub mod process;
pub mod signal;
pub mod socket;
mod spawn;

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Takes the descriptor that a system call has just opened, or its error.
fn own(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor has just been opened and belongs to no one else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The error of a call that returns 0 when it has done its work.
fn done(code: i32) -> io::Result<()> {
    if code == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The count that a call returns, or its error.
#[inline]
fn count(n: isize) -> io::Result<usize> {
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}
