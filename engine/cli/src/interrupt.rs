//! SIGINT and SIGTERM as a flag that the measuring loops look at.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn raise(_signal: i32) {
    STOP.store(true, Ordering::Relaxed);
}

/// Installs the handlers and gives the flag. A blocking call is interrupted (no `SA_RESTART`).
pub fn flag() -> &'static AtomicBool {
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
