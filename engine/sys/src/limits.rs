//! The limit of open files.

use std::io;

/// Raises the process's soft limit of open files to the hard one, and gives the new limit.
///
/// # Errors
/// What the kernel answers when the limit cannot be read.
pub fn raise_open_files() -> io::Result<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for all three calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 {
            return Err(io::Error::last_os_error());
        }
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        // A refusal leaves the limit unchanged: the present value counts.
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
    }
    Ok(limit.rlim_cur)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raising_twice_gives_the_same() {
        let raised = raise_open_files().unwrap();
        assert!(raised > 0);
        assert_eq!(raise_open_files().unwrap(), raised);
    }
}
