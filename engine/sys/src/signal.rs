//! SIGINT and SIGTERM: as a flag that is looked at, or as something to wait for.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn raise(_: i32) {
    STOP.store(true, Ordering::Relaxed);
}

/// Has SIGINT and SIGTERM raise the flag that is given. A blocking call is interrupted by them (no `SA_RESTART`).
pub fn flag_on_termination() -> &'static AtomicBool {
    // SAFETY: an all-zero sigaction is valid; the handler only stores to an atomic, which is async-signal-safe.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = raise as extern "C" fn(i32) as usize;
        for signal in [libc::SIGINT, libc::SIGTERM] {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
    &STOP
}

/// SIGINT and SIGTERM, blocked in every thread that is started after [`block_termination`].
pub struct Blocked(libc::sigset_t);

/// Blocks both; to be called before any thread is started.
#[must_use]
pub fn block_termination() -> Blocked {
    // SAFETY: an all-zero set is made empty before use; both calls get valid pointers.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGINT);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        Blocked(set)
    }
}

impl Blocked {
    /// Waits for one of them.
    pub fn wait(&self) {
        let mut signal = 0;
        // SAFETY: valid pointers.
        unsafe { libc::sigwait(&raw const self.0, &raw mut signal) };
    }
}
